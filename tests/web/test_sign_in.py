from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from hermesweb import sign_in
from hermesweb.models import SignInLink, UserToken
from hermesweb.views.sign_in import TRIES

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_tries_yet() -> None:
    cache.clear()


@pytest.fixture
def owner() -> User:
    return sign_in.local_owner()


def test_the_local_owner_is_made_once(owner: User) -> None:
    assert owner.is_staff and not owner.has_usable_password()
    assert sign_in.local_owner() == owner


def test_a_link_signs_in_once(client: Client, owner: User) -> None:
    token = sign_in.make_link(owner)

    first = client.get(f"/sign-in/{token}/")
    assert first.status_code == 302 and first.url == "/"
    assert client.session["_auth_user_id"] == str(owner.pk)

    second = Client().get(f"/sign-in/{token}/", follow=True)
    assert second.redirect_chain == [("/accounts/login/", 302)]
    assert "_auth_user_id" not in second.client.session
    assert [str(message) for message in second.context["messages"]] == [
        "This sign-in link was used or has ended. Run ./run again: it prints a new one."
    ]


def test_a_link_ends(client: Client, owner: User) -> None:
    token = sign_in.make_link(owner)
    SignInLink.objects.update(ends_at=timezone.now() - timedelta(seconds=1))

    assert client.get(f"/sign-in/{token}/").url == "/accounts/login/"


def test_a_link_of_a_disabled_user_does_not_sign_in(client: Client, owner: User) -> None:
    token = sign_in.make_link(owner)
    User.objects.update(is_active=False)

    assert client.get(f"/sign-in/{token}/").url == "/accounts/login/"


def test_ended_links_are_cleared_away(owner: User) -> None:
    sign_in.make_link(owner)
    SignInLink.objects.update(ends_at=timezone.now() - timedelta(seconds=1))
    sign_in.make_link(owner)

    assert SignInLink.objects.count() == 1


def test_no_token_is_stored(owner: User, tmp_path: Path) -> None:
    link = sign_in.make_link(owner)
    token = sign_in.api_token(owner, tmp_path / "api_token")

    assert SignInLink.objects.get().sha256 != link
    assert UserToken.objects.get().sha256 != token


def test_the_api_token_stays_until_its_file_is_lost(owner: User, tmp_path: Path) -> None:
    kept_in = tmp_path / "api_token"
    token = sign_in.api_token(owner, kept_in)
    assert sign_in.api_token(owner, kept_in) == token
    assert sign_in.user_of_token(token) == owner

    kept_in.unlink()
    other = sign_in.api_token(owner, kept_in)
    assert sign_in.user_of_token(other) == owner
    assert sign_in.user_of_token(token) is None


def test_a_password_signs_in(client: Client) -> None:
    User.objects.create_user("ada", password="engine")
    answer = client.post("/accounts/login/", {"username": "ada", "password": "engine"})

    assert answer.status_code == 302 and answer.url == "/"


def test_failed_tries_have_to_wait(client: Client) -> None:
    User.objects.create_user("ada", password="engine")
    for _ in range(TRIES):
        wrong = client.post("/accounts/login/", {"username": "ada", "password": "wrong"})
        assert wrong.status_code == 200

    right = client.post("/accounts/login/", {"username": "ada", "password": "engine"})
    assert right.status_code == 429
    assert right["Retry-After"] == "60"


def test_guessed_links_have_to_wait(client: Client, owner: User) -> None:
    for _ in range(TRIES):
        client.get("/sign-in/guess/")

    assert client.get(f"/sign-in/{sign_in.make_link(owner)}/").status_code == 429


def test_links_are_only_for_get(client: Client, owner: User) -> None:
    assert client.post(f"/sign-in/{sign_in.make_link(owner)}/").status_code == 405


def test_the_page_is_never_cached(client: Client) -> None:
    assert "no-store" in client.get("/accounts/login/")["Cache-Control"]
