"""Every preset and every strategy, on any legal list, in any order: no rule is broken."""

from __future__ import annotations

from typing import Any

import pytest
from histories import Value, exchange, legal_lists
from hypothesis import given, settings
from hypothesis import strategies as st

from agentcore import PRESETS, Profile, Snapshot, compact
from agentcore.compaction.plan import apply_plan
from agentcore.compaction.result import CompactionResult
from agentcore.compaction.strategies import STRATEGIES
from agentcore.invariants import check
from agentcore.options import Stage


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    """A preset under a small budget, or strategies in any order, all due at once."""
    budget = draw(st.integers(200, 4_000))
    if draw(st.booleans()):
        preset = PRESETS[draw(st.sampled_from(sorted(PRESETS)))]
        return preset.replace(budget=budget, unit="bytes", min_gain=0.0)
    names = draw(st.permutations(sorted(STRATEGIES)))
    keeps = draw(st.integers(0, 6))
    stages = tuple(Stage(name, at=0.5, keep=keeps) for name in names[: draw(st.integers(1, 10))])
    return PRESETS["balanced"].replace(
        stages=stages, budget=budget, unit="bytes", target=0.3, min_gain=0.0
    )


def must_hold(done: CompactionResult, pins: frozenset[int]) -> None:
    if not done.changed:
        assert done.reason is not None and done.new is done.old
        return
    assert check(done.plan, done.old, done.new, pins) == []
    again, revision = apply_plan(done.plan, done.old)
    assert again == done.new and revision == done.revision
    assert done.checks[0].ok and len(done.checks) == 7 and done.survival is not None
    assert done.freed == sum(stage.freed for stage in done.stages) > 0


@settings(max_examples=400, deadline=None)
@given(legal_lists(least=2), profiles(), st.booleans(), st.data())
def test_no_rule_is_ever_broken(
    values: list[Value], profile: Profile, force: bool, data: st.DataObject
) -> None:
    pinned = data.draw(st.frozensets(st.integers(0, len(values) - 1), max_size=3))
    summarize = data.draw(
        st.sampled_from([None, lambda text, max_words: "so far", lambda text, max_words: ""])
    )
    done = compact(values, profile, pinned, force=force, summarize=summarize)
    must_hold(done, frozenset(done.old.messages[index].number for index in pinned))
    assert done.undo() == values


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(legal_lists(), profiles()), min_size=2, max_size=4))
def test_compactions_in_a_row_keep_every_rule(rounds: list[tuple[list[Value], Profile]]) -> None:
    """Append, compact, append, compact: numbers go on, nothing is born twice."""
    values: list[Any] = []
    for more, profile in rounds:
        talk = [value for value in more if value["role"] != "system"]
        done = compact(Snapshot.of([*values, *talk]), profile)
        must_hold(done, frozenset())
        values = done.messages


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_a_second_run_at_once_changes_nothing(preset: str) -> None:
    profile = PRESETS[preset].replace(budget=40_000, unit="bytes")
    asked: list[str] = []

    def summarize(text: str, *, max_words: int) -> str:
        asked.append(text)
        return "so far"

    first = compact(exchange(60, 900), profile, summarize=summarize)
    assert first.changed
    count = len(asked)
    second = compact(first.new, profile, summarize=summarize)
    assert (second.changed, len(asked)) == (False, count)


@pytest.mark.parametrize("window", [32_000, 128_000, 200_000, 1_000_000])
def test_an_empty_session_never_triggers(window: int) -> None:
    for profile in PRESETS.values():
        done = compact([{"role": "system", "content": "x"}], profile.replace(window=window))
        assert not done.changed


def weighing(tokens: int) -> Snapshot:
    """A list of 40 tool turns of about that many tokens."""
    few, many = (Snapshot.of(exchange(40, size)).sizes.tokens for size in (0, 10_000))
    snapshot = Snapshot.of(exchange(40, round((tokens - few) / (many - few) * 10_000)))
    assert abs(snapshot.sizes.tokens - tokens) < 50
    return snapshot


def test_at_76_percent_of_a_32k_window_only_the_first_stage_may_run() -> None:
    """The buffer of the hybrid threshold is capped at a quarter: 24K of 32K tokens."""
    profile = PRESETS["balanced"].replace(window=32_000)
    done = compact(weighing(24_320), profile)
    assert [stage.stage for stage in done.stages] == ["snip"]
    assert not compact(weighing(23_900), profile).changed


@pytest.mark.parametrize(
    ("preset", "window", "starts"),
    [
        ("balanced", 200_000, 160_000),
        ("balanced", 32_000, 24_000),
        ("kairo", 200_000, 160_000),
        ("claude-code", 200_000, 167_000),
        ("claude-code", 32_000, 24_000),
    ],
)
def test_the_first_stage_starts_where_its_capped_buffer_begins(
    preset: str, window: int, starts: int
) -> None:
    profile = PRESETS[preset].replace(window=window)
    assert not compact(weighing(starts - 100), profile).changed
    assert compact(weighing(starts + 100), profile).changed
