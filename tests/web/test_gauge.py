from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from django.template.loader import render_to_string

from agentcore.presets import PRESETS
from hermesweb.gauge import Gauge, gauge, gauge_of, grouped, shares
from hermesweb.models import AgentSession, ProfileVersion

BREAKDOWN = {"tool_results": 60_000, "system_prompt": 10_000, "user": 30_000}
PRESET = [("snip", 0.80), ("micro", 0.85), ("auto", 0.95)]


def a_gauge(used: int = 100_000, **changes: Any) -> Gauge:
    options: dict[str, Any] = {"limit": 200_000, "unit": "bytes", "thresholds": PRESET}
    return gauge(BREAKDOWN, used, **{**options, **changes})


def filled(html: str) -> float:
    widths = re.findall(r'class="cat[^"]*" x="[\d.]+%" y="[\d.]+" width="([\d.]+)%" h', html)
    return sum(map(float, widths))


def test_segments_touch_and_end_at_the_mark_of_now() -> None:
    parts = a_gauge().segments
    assert [part.letter for part in parts] == ["S", "U", "R"]
    assert all(left.x + left.width == pytest.approx(right.x) for left, right in pairwise(parts))
    assert parts[-1].x + parts[-1].width == pytest.approx(50)
    assert sum(part.share for part in parts) == pytest.approx(1)


def test_pinned_bytes_stand_between_the_rigid_part_and_the_rest() -> None:
    parts = a_gauge(pinned={"tool_results": 5_000}).segments
    assert [(part.letter, part.pinned) for part in parts] == [
        ("S", False),
        ("R", True),
        ("U", False),
        ("R", False),
    ]
    assert sum(part.bytes for part in parts) == 100_000


def test_the_reserve_is_the_end_of_the_bar_and_out_of_the_percentage() -> None:
    drawn = a_gauge(unit="tokens", limit=200_000, reserve=20_000, used=90_000)
    assert drawn.pressure == 0.45
    assert (drawn.reserve_x, drawn.reserve_width, drawn.now) == (90, 10, 45)
    assert drawn.ticks[0].x == pytest.approx(80)


def test_the_next_threshold_is_the_lowest_not_yet_reached() -> None:
    assert a_gauge(used=159_999).next_tick.name == "snip"  # type: ignore[union-attr]
    assert a_gauge(used=160_000).next_tick.name == "micro"  # type: ignore[union-attr]
    assert a_gauge(used=199_000).next_tick is None


@pytest.mark.parametrize("template", ["_gauge.html", "_gauge_mini.html"])
def test_over_the_limit_the_bar_is_full_and_says_how_much(template: str) -> None:
    drawn = a_gauge(used=494_945)
    html = render_to_string(template, {"gauge": drawn})
    assert "247%" in html
    assert "gauge--over" in html
    assert filled(html) == pytest.approx(100, abs=0.01)


@pytest.mark.parametrize("template", ["_gauge.html", "_gauge_mini.html"])
def test_an_unknown_limit_is_hatched_and_has_no_percentage(template: str) -> None:
    html = render_to_string(template, {"gauge": a_gauge(limit=None)})
    assert "gauge__unknown" in html
    assert "limit unknown" in html
    assert a_gauge(limit=None).pressure is None


@pytest.mark.parametrize("template", ["_gauge.html", "_gauge_mini.html"])
def test_an_empty_context_draws_an_empty_bar(template: str) -> None:
    html = render_to_string(template, {"gauge": gauge({}, 0, limit=120_000, unit="bytes")})
    assert 'class="cat' not in html


@pytest.mark.parametrize("template", ["_gauge.html", "_gauge_mini.html"])
def test_a_gauge_needs_no_style_attribute(template: str) -> None:
    assert "style=" not in render_to_string(template, {"gauge": a_gauge(floor=20_000)})


def test_shares_are_sorted_by_size_and_count_pins_in() -> None:
    rows = shares(a_gauge(pinned={"tool_results": 5_000}).segments)
    assert [(category, size) for category, size, _ in rows] == [
        ("tool_results", 60_000),
        ("user", 30_000),
        ("system_prompt", 10_000),
    ]


def test_the_wall_draws_five_groups() -> None:
    assert grouped({**BREAKDOWN, "thinking": 5, "skills": 7}) == {
        "system_prompt": 10_007,
        "memory": 0,
        "summary": 0,
        "user": 30_005,
        "tool_results": 60_000,
    }


def test_a_sessions_gauge_reads_its_own_row_and_profile() -> None:
    version = ProfileVersion(values=PRESETS["nanohermes"].values())
    row = AgentSession(breakdown=BREAKDOWN, used=60_000, limit=120_000, unit="bytes", reserve=9)
    drawn = gauge_of(row, version)
    assert (drawn.pressure, drawn.source, drawn.reserve) == (0.5, "measured", 0)
    assert [(tick.name, tick.value, tick.next) for tick in drawn.ticks] == [
        ("keep recent", 120_000, True)
    ]


def test_a_percentage_of_an_assumed_window_says_so() -> None:
    version = ProfileVersion(values=PRESETS["balanced"].values())
    row = AgentSession(
        breakdown=BREAKDOWN,
        used=64_000,
        limit=128_000,
        window_tokens=128_000,
        window_from="assumed",
        reserve=6_400,
    )
    drawn = gauge_of(row, version)
    html = render_to_string("_gauge.html", {"gauge": drawn})
    assert (drawn.doubt, drawn.reserve_width) == ("assumed", 5)
    assert "50% (window assumed)" in html
    assert "≈ 64,000 tok" in html


def test_a_session_that_was_not_measured_yet_has_no_percentage() -> None:
    version = ProfileVersion(values=PRESETS["balanced"].values())
    assert gauge_of(AgentSession(), version).pressure is None
