from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from hermesweb.templatetags.units import lasting

Show = Callable[..., Page]


def test_seconds_are_counted_down_to_nought(show: Show, page: Page) -> None:
    page.clock.install()
    page.clock.pause_at("2100-01-01")
    show('<count-down seconds="2">2 s</count-down>', "count-down")
    shown = page.locator("count-down")
    for left in (2, 1, 0, 0):
        expect(shown).to_have_text(f"{left} s")
        page.clock.run_for(1_000)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (59, "59 s"),
        (60, "1 min 0 s"),
        (1_780, "29 min 40 s"),
        (7_599, "2 h 6 min"),
        (100_000, "1 d 3 h"),
    ],
)
def test_it_says_the_two_largest_units_as_the_page_did(
    show: Show, page: Page, seconds: int, said: str
) -> None:
    page.clock.install()
    page.clock.pause_at("2100-01-01")
    assert lasting(seconds) == said
    show(f'<count-down seconds="{seconds}"></count-down>', "count-down")
    expect(page.locator("count-down")).to_have_text(said)
