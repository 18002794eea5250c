"""The administration in a browser: nothing refused by the policy, a profile changed by hand."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

PAGES = (
    *("", "hermesweb/profile/", "hermesweb/profile/add/", "hermesweb/modelendpoint/add/"),
    *("hermesweb/agentsession/", "hermesweb/auditentry/", "auth/user/", "auth/user/add/"),
)


def test_every_page_of_the_administration_keeps_the_policy(watched: Any) -> None:
    for language in ("en", "zh-hans"):
        watched.speak(language)
        for page in PAGES:
            watched.page.goto(f"{watched.house.url}/admin/{page}")
            expect(watched.page.locator("#content")).to_be_visible()


def test_a_profile_is_changed_after_its_warning_was_read(watched: Any) -> None:
    page = watched.page
    page.goto(f"{watched.house.url}/admin/hermesweb/profile/")
    page.get_by_role("link", name="nanohermes").click()
    page.fill("[name=budget]", "119000")
    page.get_by_role("button", name="Save and continue editing").click()
    expect(page.locator(".errorlist").last).to_contain_text("compacts every turn")
    page.get_by_label("Save in spite of the warnings").check()
    page.get_by_role("button", name="Save and continue editing").click()
    expect(page.locator(".messagelist")).to_contain_text("changed successfully")
    expect(page.locator("#versions-group")).to_contain_text("budget: 120000 → 119000")
