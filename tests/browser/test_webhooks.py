"""Webhooks in a real installation: set on their page, told by the worker, shown there."""

from __future__ import annotations

from typing import Any

import pytest
from house import wait_for
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
# Reserved for such uses: no name server knows it, so nothing is ever sent.
URL = "https://receiver.invalid/in"


def run(watched: Any) -> None:
    """A run of the explorer that ends."""
    headers = {"Authorization": f"Bearer {watched.house.api_token}"}
    made = watched.house.data_dir / "workspaces" / "told"
    made.mkdir(parents=True, exist_ok=True)
    body = {"workspace": str(made), "model": "explorer", "profile": "small"}
    address = f"{watched.house.url}/api/v1/sessions"
    answer = watched.page.request.post(
        address, headers=headers, data={**body, "title": "told", "instruction": "Look around."}
    )
    assert answer.ok, answer.text()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_webhook_is_added_by_keyboard_told_and_deleted(watched: Any, theme: str) -> None:
    page = watched.page
    page.goto(f"{watched.house.url}/webhooks/")
    watched.theme(theme)
    page.get_by_label("Address").focus()
    page.keyboard.type(URL)
    page.keyboard.press("Enter")
    told = page.locator(".hooks__one", has_text=URL)
    expect(told).to_contain_text("not signed")
    run(watched)
    row = page.locator("tbody tr", has_text="run ended").first

    def is_tried() -> bool:
        page.reload()
        return bool(row.count() and "no such host" in row.inner_text())

    wait_for(is_tried, seconds=60)
    for width in (1440, 360):
        page.set_viewport_size({"width": width, "height": 800})
        assert watched.findings() == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert watched.in_chinese() == []
    page.reload()
    told.get_by_role("link", name="Edit").click()
    assert watched.findings() == []
    assert watched.in_chinese() == []
    page.goto(f"{watched.house.url}/webhooks/")
    told.get_by_role("button", name="Delete").click()
    expect(page.locator(".hooks__one")).to_have_count(0)
    expect(row).to_have_count(0)
