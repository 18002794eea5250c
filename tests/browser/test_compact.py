"""Compacting as a reviewed change, in two real browsers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from watching import EXCHANGES, at_rest, forked, imported

pytestmark = pytest.mark.browser
SLOW = 20_000


def open_preview(page: Page) -> None:
    """By its key, from the session's page."""
    page.locator("body").press("k")
    page.wait_for_url("**/compact/")
    expect(page.locator("#plan h2").first).to_contain_text("Would")


@pytest.mark.parametrize("recorded", [False, True], ids=["live", "recorded"])
def test_a_person_looks_chooses_edits_applies_and_undoes_by_keyboard(
    watched: Any, tmp_path: Path, recorded: bool
) -> None:
    session = forked(watched, tmp_path) if recorded else at_rest(watched)
    page = watched.page
    open_preview(page)
    first = page.locator("#preview-id").input_value()
    page.locator("#compact-stage").select_option("keep_recent")
    expect(page.locator("#preview-id")).not_to_have_value(first, timeout=SLOW)
    second = page.locator("#preview-id").input_value()
    page.locator("#compact-keep_last").fill("3")
    page.locator("#compact-keep_last").press("Tab")
    expect(page.locator("#preview-id")).not_to_have_value(second, timeout=SLOW)
    expect(page.locator("#summary-text")).not_to_be_empty()
    before = page.locator("#preview-id").input_value()
    page.locator("#summary-text").fill("Looked around; nothing is changed yet.")
    expect(page.locator("#preview-id")).not_to_have_value(before, timeout=SLOW)
    expect(page.locator("#plan")).to_contain_text("by hand", timeout=SLOW)
    page.keyboard.press("Control+Enter")
    page.wait_for_url(f"**/sessions/{session}/compactions/*/")
    expect(page.locator(".verdict h2")).to_contain_text("Freed", timeout=30_000)
    expect(page.locator("#diff")).to_contain_text("summarized")
    page.locator("#undo").click()
    page.wait_for_url(f"**/sessions/{session}/")
    expect(page.locator("#head .status")).to_contain_text("idle", timeout=30_000)
    page.go_back()
    page.reload()
    expect(page.locator(".verdict h2")).to_contain_text("was undone")


def test_a_preset_is_taken_without_a_style_that_the_policy_refuses(watched: Any) -> None:
    """`watched` fails on whatever the policy refuses."""
    at_rest(watched)
    page = watched.page
    open_preview(page)
    before = page.locator("#preview-id").input_value()
    page.locator(".presets input").nth(2).check()
    expect(page.locator("#preview-id")).not_to_have_value(before, timeout=SLOW)


def test_a_size_that_was_drawn_by_hand_breaks_no_policy_at_a_swap(watched: Any) -> None:
    """A browser writes such a size into the element's style, which no swap may copy."""
    session = at_rest(watched)
    page = watched.page
    page.goto(f"{watched.house.url}/sessions/{session}/bulk/?category=tool_results")
    page.evaluate("document.querySelector('#exclude').style.height = '50px'")
    page.locator("#bulk-size").select_option(index=1)
    expect(page.locator("#exclude")).not_to_have_attribute("style", "height: 50px;")


def test_the_second_of_two_tabs_is_told_and_given_a_new_preview(watched: Any) -> None:
    session = at_rest(watched)
    page = watched.page
    other = page.context.new_page()
    address = f"{watched.house.url}/sessions/{session}/compact/?stage=keep_recent&keep_last=4"
    for tab in (page, other):
        tab.goto(address)
        expect(tab.locator("#apply")).to_be_visible()
    page.locator("#apply").click()
    page.wait_for_url("**/compactions/*/")
    expect(page.locator(".verdict h2")).to_contain_text("Freed", timeout=30_000)
    expect(other.locator("#outcome")).to_contain_text("The list moved on", timeout=10_000)
    other.close()


def test_many_leave_by_a_filter_and_come_back_by_one_undo(watched: Any, tmp_path: Path) -> None:
    session = forked(watched, tmp_path)
    page = watched.page
    page.locator("body").press("e")
    page.wait_for_url("**/bulk/*")
    page.locator("#bulk-category").select_option("tool_results")
    expect(page.locator("#bulk")).to_contain_text(f"{EXCHANGES} messages found")
    expect(page.locator("#bulk")).to_contain_text("each was not seen by the model yet")
    page.locator(".head__facts").click()
    page.keyboard.press("x")
    expect(page.locator("#bulk")).to_contain_text(f"excluded: {2 * EXCHANGES - 2} out, 1 in")
    page.keyboard.press("u")
    expect(page.locator("#bulk")).to_contain_text(f"undone: 1 out, {2 * EXCHANGES - 2} in")
    page.goto(f"{watched.house.url}/sessions/{session}/")
    expect(page.locator("#messages")).to_contain_text(f"{2 * EXCHANGES + 2} in the window")


def test_a_rewritten_row_opens_its_words_by_a_key(watched: Any, tmp_path: Path) -> None:
    session = imported(watched, tmp_path)
    page = watched.page
    page.goto(f"{watched.house.url}/sessions/{session}/compact/?stage=mask&keep_last=1")
    page.locator("a[data-key=w]").first.focus()
    page.keyboard.press("w")
    expect(page.locator(".diff__words del").first).to_contain_text("line 0")
    expect(page.locator(".diff__words ins").first).to_contain_text("[Result: read_file")


def test_a_recording_is_looked_at_and_never_changed(watched: Any, tmp_path: Path) -> None:
    session = imported(watched, tmp_path)
    page = watched.page
    page.goto(f"{watched.house.url}/sessions/{session}/compact/?preset=nanohermes")
    expect(page.locator("#plan h2").first).to_contain_text("Would free")
    expect(page.locator("#plan")).to_contain_text("A recording is only looked at")
    expect(page.locator("#apply")).to_have_count(0)
    shown = page.locator("#preview-id").input_value()
    page.locator("body").press("4")
    expect(page.locator("#preview-id")).not_to_have_value(shown, timeout=SLOW)
    expect(page.locator("#diff")).to_contain_text("masked")
    page.locator(".diff__row:has(a.diff__to) a").first.focus()
    page.keyboard.press("b")
    page.wait_for_url("**up_to=*")


def test_its_pages_are_sound_in_both_themes_and_narrow_enough(watched: Any, tmp_path: Path) -> None:
    session = imported(watched, tmp_path)
    page = watched.page
    findings: list[str] = []
    for path in (
        "compact/?stage=keep_recent",
        "at/turn:5/",
        "diff/?from=turn:2&to=turn:9",
        "pins/",
        "bulk/?category=tool_results",
        "forks?at=0.4",
        "diff/paper/?from=turn:2&to=turn:9",
        "messages/2/",
    ):
        page.goto(f"{watched.house.url}/sessions/{session}/{path}")
        for theme in ("light", "dark"):
            watched.theme(theme)
            findings += watched.findings()
        page.set_viewport_size({"width": 360, "height": 800})
        page.reload()
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
        findings += watched.in_chinese()
        page.set_viewport_size({"width": 1440, "height": 900})
    assert findings == []


def test_one_travels_by_keys_and_by_the_slider(watched: Any, tmp_path: Path) -> None:
    session = imported(watched, tmp_path)
    page = watched.page
    page.goto(f"{watched.house.url}/sessions/{session}/at/turn:5/")
    page.locator("body").press("ArrowRight")
    expect(page.locator("#moment-title")).to_contain_text("turn 6", timeout=SLOW)
    page.locator("body").press("Home")
    page.wait_for_url("**/at/0.4/")
    page.locator("#stop").focus()
    page.keyboard.press("End")
    expect(page.locator("#moment-title")).to_contain_text(f"turn {EXCHANGES}", timeout=SLOW)
    page.wait_for_url("**/at/0.30/")
    page.locator("#compare-to").fill("turn:3")
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url("**/diff/?from=0.30&to=turn*3")
    expect(page.locator("#diff")).to_contain_text("appended 22")
