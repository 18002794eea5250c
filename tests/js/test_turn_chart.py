from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from chromium import until
from playwright.sync_api import Page, expect

Show = Callable[..., Page]

CHART = '<turn-chart src="/chart.json" plotly="/static/plotly/plotly.min.js"></turn-chart>'


def a_turn(
    turn: int, used: int, *, after: tuple[int, int] | None = None, freed: int = 60_000
) -> dict[str, Any]:
    """`after`: the first and last compaction between it and the turn before."""
    told = {"first": after[0], "last": after[1], "freed": freed} if after else None
    return {
        "turn": turn,
        "bytes": used,
        "used": used,
        "limit": 100_000,
        "breakdown": {"system_prompt": used // 4, "tool_results": used - used // 4},
        "compacted_before": after is not None,
        "compactions": told,
    }


def data(*turns: dict[str, Any]) -> str:
    return json.dumps({"unit": "bytes", "threshold": 0.8, "name": "snip", "turns": turns})


TURNS = (a_turn(1, 40_000), a_turn(2, 90_000), a_turn(3, 30_000, after=(1, 1)))


@pytest.fixture
def complaints(page: Page) -> list[str]:
    """Errors and policy violations; the browser reports both on its console."""
    heard: list[str] = []
    page.on("console", lambda entry: heard.append(entry.text) if entry.type == "error" else None)
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.add_init_script(
        """addEventListener("securitypolicyviolation", ({ effectiveDirective, target }) =>
          console.error(effectiveDirective, target?.outerHTML?.slice(0, 120)), true)"""
    )
    return heard


def plot(page: Page, expression: str) -> Any:
    return page.evaluate(
        f"(() => {{ const plot = document.querySelector('.plot'); return {expression}; }})()"
    )


def wait_for_bars(page: Page) -> None:
    page.wait_for_function("() => document.querySelectorAll('.plot .bars path').length > 0")


def test_it_draws_a_stack_without_breaking_the_policy(show: Show, complaints: list[str]) -> None:
    page = show(CHART, "turn-chart", answers={"/chart.json": data(*TURNS)})
    wait_for_bars(page)
    assert plot(page, "plot.data.map((trace) => trace.name)") == [
        "S System prompt",
        "R Tool results",
        "stable prefix of the request",
    ]
    assert complaints == []
    assert page.locator("turn-chart").get_by_role("status").count() == 0


def test_bars_of_a_turn_sum_to_what_it_used(show: Show) -> None:
    page = show(CHART, "turn-chart", answers={"/chart.json": data(*TURNS)})
    wait_for_bars(page)
    assert plot(page, "plot.data.reduce((sum, trace) => sum + trace.y[1], 0)") == 90_000


def test_a_compaction_leaves_a_gap_with_its_mark(show: Show) -> None:
    page = show(CHART, "turn-chart", answers={"/chart.json": data(*TURNS)})
    wait_for_bars(page)
    assert plot(page, "plot.data[0].x") == [0, 1, 3]
    assert plot(page, "plot.layout.annotations.map(({ text }) => text)") == [
        "limit 100,000 bytes",
        "snip at 80,000 bytes",
        "C1 freed 60.0 kB",
    ]


def test_compactions_in_one_gap_are_named_together(show: Show) -> None:
    turns = [
        *TURNS[:2],
        a_turn(3, 30_000, after=(2, 4)),
        a_turn(4, 9_000, after=(5, 5), freed=-200),
    ]
    page = show(CHART, "turn-chart", answers={"/chart.json": data(*turns)})
    wait_for_bars(page)
    names = plot(page, "plot.layout.annotations.slice(2).map(({ text }) => text)")
    assert names == ["C2–4 freed 60.0 kB", "C5 added 200 B"]


@pytest.mark.parametrize("width", [360, 1_000])
def test_of_many_compactions_so_many_are_named_as_fit(show: Show, page: Page, width: int) -> None:
    turns = [a_turn(n, 40_000, after=(n - 1, n - 1) if n > 1 else None) for n in range(1, 22)]
    page.set_viewport_size({"width": width, "height": 900})
    show(CHART, "turn-chart", answers={"/chart.json": data(*turns)})
    wait_for_bars(page)
    names = page.locator(".plot .annotation").filter(has_text="C")
    assert names.last.text_content() == "C20"
    boxes = [names.nth(place).bounding_box() for place in range(names.count())]
    sides = [(box["x"], box["x"] + box["width"]) for box in boxes if box]
    assert len(sides) >= 4
    assert all(right < left for (_, right), (left, _) in pairwise(sides))
    assert plot(page, "plot.layout.shapes.length") == 2 + 20


def test_it_is_as_high_as_what_stands_beside_it(show: Show) -> None:
    look = ".split { display: grid; grid-template-columns: 1fr 1fr } .panel { display: grid }"
    beside = '<aside class="panel"><div id="rail"></div></aside>'
    turns = f'<section class="panel"><h2>Turns</h2><turn-strip></turn-strip>{CHART}</section>'
    body = f"""<style nonce="n">{look} #rail {{ height: 700px }}</style>
        <div class="split">{turns}{beside}</div>"""
    page = show(body, "turn-chart", answers={"/chart.json": data(*TURNS)})
    wait_for_bars(page)
    drawing = page.locator(".main-svg >> nth=0").bounding_box()
    assert drawing and 450 < drawing["height"] <= 560


def test_the_plot_lies_in_its_box(show: Show) -> None:
    page = show(CHART, "turn-chart", answers={"/chart.json": data(*TURNS)})
    wait_for_bars(page)
    chart, drawing = (
        page.locator(name).bounding_box() for name in ("turn-chart", ".main-svg >> nth=0")
    )
    assert chart and drawing
    assert drawing["y"] == pytest.approx(chart["y"], abs=1)
    assert drawing["width"] == pytest.approx(chart["width"], abs=1)


def drawings(asked: list[str]) -> int:
    return len([url for url in asked if url.endswith("chart.json")])


def test_while_it_follows_many_turns_are_one_redraw(show: Show, page: Page) -> None:
    page.on("request", lambda request: asked.append(request.url))
    asked: list[str] = []
    show(CHART, "turn-chart", answers={"/chart.json": data(*TURNS)})
    wait_for_bars(page)
    page.evaluate(
        """() => {
          for (let turn = 0; turn < 5; turn++)
            document.dispatchEvent(new CustomEvent("session:turn_ended"));
        }"""
    )
    until(page, lambda: drawings(asked) > 1)
    page.wait_for_timeout(2_500)
    assert drawings(asked) == 2


def test_a_turn_that_ends_while_it_is_being_loaded_is_drawn(show: Show, page: Page) -> None:
    page.on("request", lambda request: asked.append(request.url))
    asked: list[str] = []
    page.add_init_script(
        """(() => {
          const plain = window.fetch;
          window.fetch = (...asked) => {
            document.dispatchEvent(new CustomEvent("session:turn_ended"));
            window.fetch = plain;
            return plain(...asked);
          };
        })()"""
    )
    show(CHART, "turn-chart", answers={"/chart.json": data(*TURNS)})
    wait_for_bars(page)
    until(page, lambda: drawings(asked) == 2)


def test_a_change_of_theme_changes_its_words(show: Show) -> None:
    page = show(CHART, "turn-chart", answers={"/chart.json": data(*TURNS)})
    page.emulate_media(color_scheme="light")
    wait_for_bars(page)
    light = plot(page, "plot.layout.font.color")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"() => document.querySelector('.plot').layout.font.color !== '{light}'")


def test_it_loads_nothing_before_it_comes_into_view(show: Show, page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 300})
    show(
        "<details><summary>Chart</summary>" + CHART + "</details>",
        "turn-chart",
        answers={"/chart.json": data(*TURNS)},
    )
    page.wait_for_timeout(300)
    assert page.evaluate("window.Plotly === undefined")
    page.locator("summary").click()
    wait_for_bars(page)
    expect(page.locator(".plot .bars path").first).to_be_visible()


@pytest.mark.parametrize(
    ("chart", "answers"),
    [
        (CHART, {"/chart.json": "{"}),
        (CHART.replace("plotly.min", "none"), {"/chart.json": data(*TURNS)}),
    ],
    ids=["no figures", "no Plotly"],
)
def test_it_says_when_it_cannot_be_loaded(show: Show, chart: str, answers: dict[str, str]) -> None:
    page = show(chart, "turn-chart", answers=answers)
    state = page.locator("turn-chart").get_by_role("status")
    expect(state).to_have_text("The chart could not be loaded; the table below holds the figures.")


def test_the_stable_prefix_is_a_line_and_the_forecast_ghost_bars(show: Show) -> None:
    turns = [{**a_turn(n, n * 10_000), "stable": 0.5 if n > 1 else None} for n in (1, 2, 3)]
    facts = {**json.loads(data(*turns)), "forecast": {"turns": 5, "pace": 10_000}}
    page = show(CHART, "turn-chart", answers={"/chart.json": json.dumps(facts)})
    wait_for_bars(page)
    line, ghosts = plot(page, "plot.data.slice(-2).map(({ name, y }) => [name, [...y]])")
    assert line == ["stable prefix of the request", [None, 10_000, 15_000]]
    assert ghosts == ["forecast", [40_000, 50_000, 60_000, 70_000, 80_000]]
    assert "≈ turn 8" in plot(page, "plot.layout.annotations.map(({ text }) => text)")


def test_what_is_estimated_is_hatched(show: Show) -> None:
    turns = [a_turn(1, 40_000), {**a_turn(2, 50_000), "estimate": True}]
    page = show(CHART, "turn-chart", answers={"/chart.json": data(*turns)})
    wait_for_bars(page)
    assert plot(page, "plot.data[1].marker.pattern.shape") == ["", "/"]


def test_many_turns_are_stacked_areas_with_few_nodes(show: Show) -> None:
    turns = [
        a_turn(n, 10_000 + n, after=(n // 100, n // 100) if n % 100 == 0 else None)
        for n in range(1, 1_001)
    ]
    page = show(CHART, "turn-chart", answers={"/chart.json": data(*turns)})
    page.locator(".plot .fills path").first.wait_for(state="attached")
    kinds = plot(page, "plot.data.map(({ type, stackgroup }) => [type, stackgroup ?? null])")
    assert kinds == [["scatter", "list"], ["scatter", "list"], ["scatter", None]]
    assert page.evaluate("document.querySelectorAll('*').length") < 600
