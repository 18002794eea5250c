"""The language of the pages, chosen in their frame."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Browser, Page, expect

PAGE = "/sessions/new/?predecessor="


def to_the_other(page: Page, name: str) -> None:
    """By keys alone, from the end of the choice of a theme."""
    page.locator("#theme-auto").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name=name)).to_be_focused()
    page.keyboard.press("Enter")


def test_it_is_chosen_by_keys_on_the_same_page_and_held_over_a_reload(watched: Any) -> None:
    page = watched.page
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(watched.house.url + PAGE)
    to_the_other(page, "简体中文")
    expect(page.locator("h1")).to_have_text("新建会话")
    assert page.url == watched.house.url + PAGE
    page.reload()
    expect(page.locator("html")).to_have_attribute("lang", "zh-hans")
    expect(page.locator(".keys")).to_contain_text("所有按键")
    to_the_other(page, "English")
    expect(page.locator("h1")).to_have_text("New session")
    expect(page.locator(".keys")).to_contain_text("all keys")


def test_without_a_script_it_is_chosen_too(
    watched: Any, browser: Browser, signed_in: dict[str, Any]
) -> None:
    plain = browser.new_context(storage_state=signed_in, java_script_enabled=False)
    page = plain.new_page()
    page.goto(watched.house.url + PAGE)
    page.get_by_role("button", name="简体中文").click()
    expect(page.locator("h1")).to_have_text("新建会话")
    plain.close()


def test_a_browser_in_chinese_is_spoken_to_in_chinese(
    watched: Any, browser: Browser, signed_in: dict[str, Any]
) -> None:
    context = browser.new_context(storage_state=signed_in, locale="zh-CN")
    page = context.new_page()
    page.goto(watched.house.url)
    expect(page).to_have_title(re.compile("会话"))
    context.close()
