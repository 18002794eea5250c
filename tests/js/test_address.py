from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

Show = Callable[..., Page]
ROW = '<div class="entry" id="message-7"><a class="row__text" href="#x">open</a></div>'
BODY = '<details class="body" open><summary>Message 7</summary>text</details>'


def test_the_address_names_the_opened_message_until_it_is_closed(show: Show) -> None:
    page = show(ROW + BODY, "address")
    page.get_by_role("link").click()
    assert "message=7" in page.url
    page.get_by_text("Message 7").click()
    page.wait_for_url(lambda url: "message" not in url)
