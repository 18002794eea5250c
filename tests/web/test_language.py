from __future__ import annotations

import pytest
from builders import a_user
from django.test import Client
from django.utils.translation import get_language
from scenes import html_of

pytestmark = pytest.mark.django_db

CHINESE = {"accept-language": "zh-CN,zh;q=0.9,en;q=0.5"}


def spoken(client: Client, headers: dict[str, str] | None = None) -> str:
    """The language that the sign-in page says it is in."""
    html = client.get("/accounts/login/", headers=headers or {}).content.decode()
    return html.split('<html lang="')[1].split('"')[0]


def test_the_browser_decides_at_first(client: Client) -> None:
    assert spoken(client) == "en"
    assert spoken(client, CHINESE) == "zh-hans"
    assert spoken(client, {"accept-language": "ja"}) == "en"


def test_what_a_person_chose_outweighs_the_browser_for_a_year(client: Client) -> None:
    response = client.post("/language/", {"language": "en"})
    cookie = response.cookies["django_language"]
    assert (cookie["max-age"], cookie["samesite"], cookie["httponly"]) == (31_536_000, "Lax", True)
    assert spoken(client, CHINESE) == "en"
    client.post("/language/", {"language": "zh-hans"})
    assert spoken(client) == "zh-hans"


def test_the_form_leads_back_to_its_page_and_never_to_a_foreign_one(client: Client) -> None:
    for page, there in (("http://testserver/memory/", "/memory/"), ("https://evil.test/", "/")):
        response = client.post("/language/", {"language": "zh-hans"}, headers={"referer": page})
        assert response["Location"].endswith(there) and "evil" not in response["Location"]


def test_an_unknown_language_changes_nothing(client: Client) -> None:
    client.post("/language/", {"language": "<b>"})
    assert spoken(client) == "en"


def test_the_page_offers_the_other_language_by_its_own_name(client: Client) -> None:
    assert 'lang="zh-hans" type="submit">简体中文<' in html_of(client, "/accounts/login/")
    client.post("/language/", {"language": "zh-hans"})
    assert 'lang="en" type="submit">English<' in html_of(client, "/accounts/login/")


def test_scripts_get_the_words_of_the_chosen_language_once_it_is_not_english(
    client: Client,
) -> None:
    assert "/words.js" not in html_of(client, "/accounts/login/")
    client.post("/language/", {"language": "zh-hans"})
    assert '<script defer src="/words.js?zh-hans"' in html_of(client, "/accounts/login/")
    answer = client.get("/words.js")
    assert answer["Content-Type"].startswith("text/javascript")
    unchanged = client.get("/words.js", headers={"if-modified-since": answer["Last-Modified"]})
    assert unchanged.status_code == 304


def test_the_api_speaks_english_to_everyone(client: Client) -> None:
    client.force_login(a_user("ada"))
    client.post("/language/", {"language": "zh-hans"})
    refused = client.get("/api/v1/sessions/none/", headers=CHINESE)
    assert refused["Content-Language"] == "en"


def test_what_a_thread_does_after_a_page_is_in_english(client: Client) -> None:
    assert spoken(client, CHINESE) == "zh-hans"
    assert get_language() == "en"
