"""Each rule finds what breaks it; that the rules hold is proven where lists are changed."""

from __future__ import annotations

from typing import Any

from histories import answer, calls, exchange, group, result, system, user

from agentcore import Snapshot
from agentcore.compaction.plan import (
    Birth,
    CompactionPlan,
    Fate,
    Origin,
    Removal,
    apply_plan,
)
from agentcore.invariants import Rule, check, legal
from agentcore.messages import born
from agentcore.snapshot import State

NOTE = born(system("[Messages omitted; reference only]\nsome"))


def note(at: int, *covers: tuple[int, int]) -> Birth:
    return Birth(at, NOTE, Origin.NOTE, "t", tuple(range(*rows) for rows in covers))


def broken(
    values: list[dict[str, Any]],
    *cuts: tuple[int, int],
    births: tuple[Birth, ...] | None = None,
    pins: frozenset[int] = frozenset(),
) -> set[Rule]:
    before = Snapshot.of(values)
    removals = tuple(Removal(*cut, Fate.SUMMARIZED, "t") for cut in cuts)
    if births is None:
        births = (note(1, *cuts),)
    plan = CompactionPlan(before.state, removals, births)
    after, _ = apply_plan(plan, before)
    return {found.rule for found in check(plan, before, after, pins)}


BASE = [system(), answer("x" * 300), *group(1, ["y" * 300]), user("now"), *group(2, ["z"])]


def test_a_good_plan_breaks_no_rule() -> None:
    assert broken(BASE, (1, 4)) == set()


def test_a_cut_through_a_group_is_illegal() -> None:
    assert broken(BASE, (1, 3)) == {Rule.LEGAL}


def test_the_system_message_must_stay() -> None:
    assert Rule.SYSTEM in broken(BASE, (0, 2), births=(note(0, (0, 2)),))


def test_a_pin_must_stay() -> None:
    assert broken(BASE, (1, 4), pins=frozenset({2})) == {Rule.PINS}


def test_rows_must_not_leave_without_a_trace() -> None:
    assert broken(BASE, (1, 4), births=()) == {Rule.TRACE}


def test_a_note_speaks_only_for_the_rows_that_it_names() -> None:
    assert broken(BASE, (1, 4), births=(note(1, (1, 2)),)) == {Rule.TRACE}


def test_a_change_must_shrink_the_list() -> None:
    assert broken([system(), answer("x"), user()], (1, 2)) == {Rule.SHRINK}


def test_results_that_no_reply_has_seen_must_stay() -> None:
    assert broken(BASE, (1, 4), (5, 7)) == {Rule.FRESH}


def test_the_instruction_of_the_moment_must_stay() -> None:
    assert broken(BASE, (1, 5)) == {Rule.PROMPT}


def test_sizes_and_archive_are_checked_against_the_messages() -> None:
    before = Snapshot.of(exchange(3))
    plan = CompactionPlan(before.state, (), ())
    wrong = Snapshot(
        before.messages[:-1], before.places[:-1], before.sizes, State(1, before.state.last_number)
    )
    rules = {found.rule for found in check(plan, before, wrong, frozenset())}
    assert {Rule.SIZES, Rule.ARCHIVE, Rule.LEGAL} <= rules


def test_places_must_keep_the_order_of_the_list() -> None:
    before = Snapshot.of([system(), answer("x" * 300), answer("y"), user()])
    removal = Removal(1, 2, Fate.SUMMARIZED, "t")
    late = Birth(1, NOTE, Origin.NOTE, "t", (range(1, 2),), place=before.places[3])
    plan = CompactionPlan(before.state, (removal,), (late,))
    after, _ = apply_plan(plan, before)
    assert {found.rule for found in check(plan, before, after, frozenset())} == {Rule.ARCHIVE}


def test_illegal_lists_are_named_by_row() -> None:
    def rows(values: list[dict[str, Any]]) -> list[int | None]:
        return [found.index for found in legal(Snapshot.of(values).messages)]

    assert rows(exchange(3)) == []
    assert rows([user(), result("a")]) == [1]
    assert rows([calls("a"), user(), result("a")]) == [1, 2]
    assert rows([calls("a", "b"), result("a")]) == [2]
    assert rows([calls("a"), result("a"), result("a")]) == [2]
