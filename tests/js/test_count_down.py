from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

Show = Callable[..., Page]


def test_seconds_are_counted_down_to_nought(show: Show) -> None:
    page = show('<count-down seconds="2">2 s</count-down>', "count-down")
    shown = page.locator("count-down")
    expect(shown).to_have_text("1 s", timeout=3_000)
    expect(shown).to_have_text("0 s", timeout=3_000)
