from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.test import Client

pytestmark = pytest.mark.django_db


def test_every_page_has_a_strict_policy_whose_nonce_its_scripts_carry(client: Client) -> None:
    response = client.get("/accounts/login/")
    policy = response["Content-Security-Policy"]
    nonce = re.search(r"'nonce-([^']+)'", policy)
    assert nonce
    assert "unsafe" not in policy
    scripts = re.findall(r"<script[^>]*>", response.content.decode())
    assert scripts
    assert all(f'nonce="{nonce[1]}"' in script for script in scripts)


def test_no_page_has_inline_styles_or_handlers(client: Client) -> None:
    html = client.get("/accounts/login/").content.decode()
    assert not re.search(r"\sstyle=|\son\w+=|hx-on", html)


def test_htmx_takes_the_csrf_token_from_the_body(client: Client) -> None:
    html = client.get("/accounts/login/").content.decode()
    assert re.search(r"""hx-headers:inherited='\{"X-CSRFToken": "\w{64}"\}'""", html)


def test_a_failed_sign_in_says_so_beside_the_form(client: Client) -> None:
    wrong = {"username": "ada", "password": "wrong"}
    html = client.post("/accounts/login/", wrong).content.decode()
    assert 'role="alert"' in html
    assert "correct username and password" in html


def test_a_missing_page_answers_in_the_frame_of_all_pages(client: Client) -> None:
    client.force_login(User.objects.create_user("ada"))
    response = client.get("/nowhere/")
    assert response.status_code == 404
    assert "You are signed in as ada" in response.content.decode()


def test_the_header_leads_staff_and_nobody_else_to_the_admin(client: Client) -> None:
    client.force_login(User.objects.create_user("ada"))
    assert 'href="/admin/"' not in client.get("/").content.decode()
    client.force_login(User.objects.create_user("eve", is_staff=True))
    assert 'href="/admin/"' in client.get("/").content.decode()


def test_a_form_without_its_token_is_told_to_be_sent_again() -> None:
    client = Client(enforce_csrf_checks=True)
    response = client.post("/theme/", {"theme": "dark"})
    assert response.status_code == 403
    assert "reload the page and send it again" in response.content.decode()


def test_what_is_too_large_is_told_its_bound(client: Client) -> None:
    client.force_login(User.objects.create_user("ada"))
    response = client.post("/sessions/new/", {"instruction": "x" * 3_000_000})
    assert response.status_code == 400
    assert "at most 1 MB" in response.content.decode()


def test_the_page_of_a_failure_needs_nothing_that_may_have_failed() -> None:
    assert "doctor" in render_to_string("500.html")


def test_an_icon_is_found_where_an_answer_names_none(client: Client) -> None:
    """Nothing is asked of who asks: the answer of a stranger's page has an icon too."""
    assert client.get("/favicon.ico")["Location"] == "/static/wing.svg"


def test_the_page_of_a_host_that_is_not_the_servers_names_an_icon_by_itself(client: Client) -> None:
    """Of such a host the static files alone are served."""
    response = client.get("/", headers={"host": "elsewhere.example"})
    assert response.status_code == 400
    assert '<link rel="icon" type="image/svg+xml" href="/static/' in response.content.decode()
