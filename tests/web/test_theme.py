from __future__ import annotations

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


def test_the_choice_is_kept_and_rendered_as_checked(client: Client) -> None:
    client.post("/theme/", {"theme": "dark"})
    html = client.get("/accounts/login/").content.decode()
    assert 'value="dark" id="theme-dark" checked' in html
    assert html.count(" checked>") == 1


def test_without_a_choice_the_system_decides(client: Client) -> None:
    assert 'id="theme-auto" checked' in client.get("/accounts/login/").content.decode()


def test_the_form_leads_back_to_its_page(client: Client) -> None:
    response = client.post(
        "/theme/", {"theme": "light"}, headers={"referer": "http://testserver/x/"}
    )
    assert (response.status_code, response["Location"]) == (302, "http://testserver/x/")


def test_it_never_leads_to_a_foreign_page(client: Client) -> None:
    response = client.post("/theme/", {"theme": "light"}, headers={"referer": "https://evil.test/"})
    assert response["Location"] == "/"


def test_htmx_gets_the_cookie_and_no_page(client: Client) -> None:
    response = client.post("/theme/", {"theme": "light"}, headers={"HX-Request": "true"})
    assert response.status_code == 204
    assert response.cookies["theme"].value == "light"


def test_an_unknown_theme_is_refused(client: Client) -> None:
    response = client.post("/theme/", {"theme": "<b>"})
    assert response.status_code == 400
    assert "theme" not in response.cookies


def test_it_rejects_get(client: Client) -> None:
    assert client.get("/theme/").status_code == 405
