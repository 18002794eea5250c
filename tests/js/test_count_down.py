from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

Show = Callable[..., Page]


def test_seconds_are_counted_down_to_nought(show: Show, page: Page) -> None:
    page.clock.install()
    page.clock.pause_at("2100-01-01")
    show('<count-down seconds="2">2 s</count-down>', "count-down")
    shown = page.locator("count-down")
    for left in (2, 1, 0, 0):
        expect(shown).to_have_text(f"{left} s")
        page.clock.run_for(1_000)
