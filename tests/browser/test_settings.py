"""The settings of a session, by keyboard on a narrow screen, and without a script."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from watching import at_rest

pytestmark = pytest.mark.browser


def tab_to(page: Page, name: str) -> None:
    """By the Tab key alone, to the field or button of this name."""
    wanted = (
        page.get_by_role("main")
        .get_by_label(name)
        .or_(page.get_by_role("main").get_by_role("button", name=name))
    )
    for _ in range(40):
        page.keyboard.press("Tab")
        if wanted.first.evaluate("(one) => one === document.activeElement"):
            return
    raise AssertionError(f"Tab does not lead to {name}")


def test_settings_are_changed_by_keyboard_at_360_px_in_both_themes(watched: Any) -> None:
    session = at_rest(watched)
    page = watched.page
    page.set_viewport_size({"width": 360, "height": 800})
    page.locator("#head").get_by_role("link", name="Settings", exact=True).press("Enter")
    page.wait_for_url("**/settings/")
    for theme in ("dark", "light"):
        watched.theme(theme)
        assert watched.findings() == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert watched.in_chinese() == []
    page.reload()
    tab_to(page, "Title")
    page.keyboard.press("Control+a")
    page.keyboard.type("Where it compacts")
    tab_to(page, "Profile")
    page.keyboard.type("small")
    tab_to(page, "Mode")
    page.keyboard.type("plan")
    tab_to(page, "Save")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/sessions/{session}/")
    expect(page.get_by_text("The settings are saved.")).to_be_visible()
    expect(page.locator("#head")).to_contain_text("Where it compacts")
    expect(page.locator("#head")).to_contain_text("plan mode")
    expect(page.locator("#head")).to_contain_text("profile small")


def test_a_session_is_archived_and_deleted_without_a_script(
    watched: Any, browser: Browser, signed_in: dict[str, Any]
) -> None:
    address = f"{watched.house.url}/sessions/{at_rest(watched)}/"
    context = browser.new_context(java_script_enabled=False, storage_state=signed_in)
    page = context.new_page()
    page.goto(f"{address}settings/")
    page.get_by_role("button", name="Archive").click()
    expect(page.locator("#head .status")).to_contain_text("archived")
    page.get_by_role("link", name="Settings", exact=True).click()
    page.get_by_role("button", name="Bring back").click()
    expect(page.locator("#head .status")).to_contain_text("idle")
    page.get_by_role("link", name="Settings", exact=True).click()
    # The page that shows it live would ask for the parts of what is gone.
    watched.page.goto(watched.house.url)
    page.get_by_text("Delete this session").click()
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_text("The session is deleted.")).to_be_visible()
    answer = page.goto(address)
    assert answer and answer.status == 404
    context.close()
