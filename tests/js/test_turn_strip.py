from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hermesweb.categories import LETTERS
from hermesweb.charts import packed

Show = Callable[..., Page]


def a_turn(turn: int, used: int, **changes: Any) -> dict[str, Any]:
    return {
        "turn": turn,
        "bytes": used,
        "used": used,
        "limit": 100_000,
        "unseen": 0,
        "breakdown": {"system_prompt": used // 4, "tool_results": used - used // 4},
        "compacted_before": False,
        "action": None,
        **changes,
    }


def strip(turns: Sequence[dict[str, Any]], unit: str = "bytes") -> str:
    return (
        f'<script type="application/json" id="turns">{json.dumps(packed(turns))}</script>'
        f'<turn-strip data="turns" unit="{unit}" threshold="0.8" name="snip"></turn-strip>'
    )


def end_turn(page: Page, facts: dict[str, Any]) -> None:
    dispatch(page, "turn_ended", facts)


def dispatch(page: Page, kind: str, facts: dict[str, Any]) -> None:
    page.evaluate(
        """([kind, data]) => document.body.dispatchEvent(
          new CustomEvent("session:" + kind, { bubbles: true, detail: { seq: 1, kind, data } }))""",
        [kind, facts],
    )


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.evaluate(
            "(key) => document.querySelector('turn-strip')"
            ".dispatchEvent(new CustomEvent('key', { detail: key }))",
            key,
        )


def turn(page: Page) -> int:
    return page.evaluate("document.querySelector('turn-strip').turn")


def pixel(page: Page, x: float, y: float) -> str:
    """The colour at a place given as fractions of the canvas."""
    return page.evaluate(
        """([x, y]) => {
          const canvas = document.querySelector("canvas");
          const pen = canvas.getContext("2d");
          const { data } = pen.getImageData(canvas.width * x, canvas.height * y, 1, 1);
          const hex = (part) => part.toString(16).padStart(2, "0");
          return "#" + [...data.slice(0, 3)].map(hex).join("");
        }""",
        [x, y],
    )


def test_the_newest_turn_is_told_in_figures(show: Show) -> None:
    page = show(strip([a_turn(1, 20_000), a_turn(2, 50_000)]), "turn-strip")
    expect(page.locator(".readout")).to_have_text("After turn 250,000 bytes50%+30,000 bytes")
    assert "2 turns, 50,000 bytes after the last" in (
        page.locator("canvas").get_attribute("aria-label") or ""
    )


def test_columns_are_stacked_in_the_colours_of_their_categories(show: Show) -> None:
    turns = [a_turn(number, 90_000) for number in range(1, 101)]
    page = show(strip(turns), "turn-strip")
    assert pixel(page, 0.302, 0.98) == "#93a6ef"
    assert pixel(page, 0.302, 0.5) == "#ce7218"


def test_what_a_recording_does_not_hold_stands_below_its_categories(show: Show) -> None:
    turns = [a_turn(number, 90_000, unseen=45_000) for number in range(1, 101)]
    page = show(strip(turns), "turn-strip")
    colours = [pixel(page, 0.302, height) for height in (0.95, 0.55, 0.3)]
    assert colours == ["#b8bcc4", "#93a6ef", "#ce7218"]


def test_a_turn_that_ends_is_drawn_at_once(show: Show) -> None:
    page = show(strip([a_turn(1, 20_000)]), "turn-strip")
    end_turn(page, a_turn(2, 40_000))
    expect(page.locator(".readout")).to_contain_text("After turn 2")
    end_turn(page, a_turn(2, 41_000))
    expect(page.locator(".readout")).to_contain_text("41,000 bytes")


def test_a_turn_after_an_applied_compaction_stands_behind_a_gap(show: Show) -> None:
    page = show(strip([a_turn(1, 90_000)]), "turn-strip")
    dispatch(page, "compaction_ended", {"state": "noop"})
    end_turn(page, a_turn(2, 95_000))
    expect(page.locator(".readout")).not_to_contain_text("compacted")
    dispatch(page, "compaction_ended", {"state": "applied"})
    end_turn(page, a_turn(3, 30_000))
    expect(page.locator(".readout")).to_have_text(
        "After turn 330,000 bytes30%−65,000 bytescompacted before it"
    )


def test_keys_move_over_turns_and_compactions(show: Show) -> None:
    cuts = (4, 7)
    turns = [a_turn(number, 1_000, compacted_before=number in cuts) for number in range(1, 10)]
    page = show(strip(turns), "turn-strip")
    visited = []
    for key in ["ArrowLeft", "Home", "ArrowLeft", "c", "c", "c", "C", "C", "ArrowRight", "End"]:
        press(page, key)
        visited.append(turn(page))
    assert visited == [8, 1, 1, 4, 7, 7, 4, 4, 5, 9]


def test_looking_back_stays_where_it_is_and_counts_what_came(show: Show) -> None:
    page = show(strip([a_turn(1, 10_000), a_turn(2, 20_000)]), "turn-strip")
    press(page, "ArrowLeft")
    end_turn(page, a_turn(3, 30_000))
    assert turn(page) == 1
    page.get_by_role("button", name="2 newer turns").click()
    assert turn(page) == 3
    end_turn(page, a_turn(4, 40_000))
    assert turn(page) == 4


def test_a_turn_chosen_in_the_chart_is_told_by_the_strip(show: Show) -> None:
    page = show(strip([a_turn(number, 1_000 * number) for number in range(1, 10)]), "turn-strip")
    page.evaluate(
        "document.body.dispatchEvent("
        "new CustomEvent('turn:selected', { bubbles: true, detail: { turn: 4 } }))"
    )
    expect(page.locator(".readout")).to_contain_text("After turn 4")


def test_a_click_chooses_the_turn_under_it(show: Show) -> None:
    page = show(strip([a_turn(number, 50_000) for number in range(1, 201)]), "turn-strip")
    box = page.locator("canvas").bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] * 0.25 + 1, box["y"] + 100)
    assert turn(page) == pytest.approx(50, abs=1)


def test_more_turns_than_pixels_are_binned_and_keep_their_peak(show: Show) -> None:
    page = show("")
    bins = page.evaluate(
        """async () => {
          const { binned } = await import("/static/js/turns.js");
          const rows = Array.from({ length: 10 }, (_, place) => (
            { turn: place + 1, used: place === 4 ? 99 : 1, compacted_before: place === 5 }));
          return binned(rows, 4).map((bin) => [bin.from, bin.to, bin.used, bin.compacted_before]);
        }"""
    )
    assert bins == [[0, 2, 1, False], [3, 5, 99, True], [6, 8, 1, False], [9, 9, 1, False]]


def test_ten_thousand_turns_are_drawn_within_a_frame_or_two(show: Show) -> None:
    page = show(strip([a_turn(number, 50_000) for number in range(1, 10_001)]), "turn-strip")
    seconds = page.evaluate(
        """() => {
          const strip = document.querySelector("turn-strip");
          const start = performance.now();
          strip.dispatchEvent(new CustomEvent("key", { detail: "Home" }));
          return (performance.now() - start) / 1000;
        }"""
    )
    assert turn(page) == 1
    assert seconds < 0.25


def test_beyond_the_limit_and_without_one_nothing_raises(show: Show, page: Page) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    show(strip([a_turn(1, 247_000), a_turn(2, 5_000, limit=None)], unit="tokens"), "turn-strip")
    expect(page.locator(".readout")).to_contain_text("5,000 tok")
    press(page, "Home")
    expect(page.locator(".readout")).to_contain_text("247%")
    assert errors == []


def test_before_the_first_turn_it_says_so(show: Show) -> None:
    page = show(strip([]), "turn-strip")
    expect(page.locator(".readout")).to_have_text("No turn yet.")


def test_scripts_and_pages_name_the_same_categories_in_the_same_order(show: Show) -> None:
    page = show("")
    names = page.evaluate(
        """async () => {
          const { CATEGORIES } = await import("/static/js/categories.js");
          return CATEGORIES.map(({ name, letter }) => [name, letter]);
        }"""
    )
    assert names == [list(pair) for pair in LETTERS.items()]


def test_both_themes_give_colours_a_canvas_understands(show: Show, page: Page) -> None:
    seen = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        show("")
        seen.append(
            page.evaluate(
                """async () => {
                  const { palette } = await import("/static/js/palette.js");
                  return palette(document.body);
                }"""
            )
        )
    light, dark = seen
    assert light["ink"] == "rgb(20, 23, 27)"
    assert dark["ink"] == "rgb(238, 240, 242)"
    assert light["categories"] == dark["categories"]


def test_the_address_names_the_turn_under_the_cursor_until_it_follows(show: Show) -> None:
    page = show(strip([a_turn(n, n * 100) for n in range(1, 6)]), "turn-strip")
    press(page, "ArrowLeft", "ArrowLeft")
    assert page.url.endswith("?turn=3")
    press(page, "f")
    assert "turn" not in page.url


def test_a_reload_shows_the_turn_of_the_address(show: Show) -> None:
    page = show(strip([a_turn(n, n * 100) for n in range(1, 6)]))
    page.evaluate("history.replaceState(null, '', '/?turn=2')")
    page.add_script_tag(url="http://modules.test/static/js/turn-strip.js", type="module")
    assert turn(page) == 2
    end_turn(page, a_turn(6, 600))
    assert turn(page) == 2
