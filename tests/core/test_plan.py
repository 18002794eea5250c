from __future__ import annotations

from typing import Any

import pytest
from histories import answer, group, legal_lists, system, user
from hypothesis import given
from hypothesis import strategies as st

from agentcore.breakdown import total
from agentcore.compaction.plan import (
    Birth,
    CompactionPlan,
    Fate,
    Origin,
    Removal,
    apply_plan,
    runs_of,
)
from agentcore.context import Context
from agentcore.errors import PlanError, StalePlan
from agentcore.messages import born
from agentcore.snapshot import Snapshot, State, fresh_rows, group_at, instruction_rows

NOTE = born(system("[Messages omitted; reference only]\nsome"))


def plan(base: State, *cuts: tuple[int, int], at: int | None = None) -> CompactionPlan:
    births = () if at is None else (Birth(at, NOTE, Origin.NOTE, "test"),)
    removals = tuple(Removal(*cut, Fate.DROPPED, "test") for cut in cuts)
    return CompactionPlan(base, removals, births)


def numbers(snapshot: Snapshot) -> list[int]:
    return [message.number for message in snapshot.messages]


def test_rows_that_a_plan_does_not_name_are_kept() -> None:
    before = Snapshot.of([system(), user("1"), answer("2"), user("3"), answer("4")])
    after, revision = apply_plan(plan(before.state, (1, 2), (3, 4), at=1), before)
    assert numbers(after) == [1, 6, 3, 5]
    assert revision.ended == (2, 4)
    assert [(message.number, place) for message, place in revision.begun] == [(6, 5)]
    assert (revision.number, revision.last_number) == (1, 6)
    assert after.state == State(1, 6)


def test_a_birth_may_stand_at_either_end() -> None:
    before = Snapshot.of([user("1"), answer("2")])
    assert numbers(apply_plan(plan(before.state, at=0), before)[0]) == [3, 1, 2]
    assert numbers(apply_plan(plan(before.state, at=2), before)[0]) == [1, 2, 3]
    assert numbers(apply_plan(plan(before.state, (0, 2), at=0), before)[0]) == [3]


def test_what_replaces_a_row_takes_its_place() -> None:
    before = Snapshot.of([user("1"), answer("2"), user("3")])
    birth = Birth(1, born(answer("-"), replaces=2), None, "snip")
    removal = Removal(1, 2, Fate.SNIPPED, "snip")
    after, _ = apply_plan(CompactionPlan(before.state, (removal,), (birth,)), before)
    assert numbers(after) == [1, 4, 3]
    assert after.places == (4, 8, 12)


@given(legal_lists(), st.data())
def test_sizes_after_a_plan_are_those_of_a_recount(values: list[Any], data: st.DataObject) -> None:
    before = Snapshot.of(values)
    edges = sorted(data.draw(st.sets(st.integers(0, len(values)), max_size=6)))
    cuts = [(edges[i], edges[i + 1]) for i in range(0, len(edges) - 1, 2)]
    at = data.draw(st.none() | st.integers(0, len(values)))
    after, revision = apply_plan(plan(before.state, *cuts, at=at), before)
    recount = total(message.sizes for message in after.messages)
    assert (after.sizes.bytes, dict(after.sizes.breakdown)) == (
        recount.bytes,
        dict(recount.breakdown),
    )
    assert sorted({*numbers(after), *revision.ended}) == list(range(1, after.state.last_number + 1))
    assert list(after.places) == sorted(after.places)


@pytest.mark.parametrize("cuts", [[(0, 9)], [(2, 1)], [(1, 3), (2, 4)], [(1, 1)]])
def test_rows_that_are_not_there_are_refused(cuts: list[tuple[int, int]]) -> None:
    before = Snapshot.of([user(str(place)) for place in range(5)])
    with pytest.raises(PlanError):
        apply_plan(plan(before.state, *cuts), before)


def test_births_out_of_order_are_refused() -> None:
    before = Snapshot.of([user(), user()])
    births = (Birth(2, NOTE, Origin.NOTE, "t"), Birth(0, NOTE, Origin.NOTE, "t"))
    with pytest.raises(PlanError, match="order"):
        apply_plan(CompactionPlan(before.state, (), births), before)


@pytest.mark.parametrize(
    ("given", "runs"),
    [
        ([], ()),
        ([4], (range(4, 5),)),
        ([1, 2, 3], (range(1, 4),)),
        ([1, 2, 5, 6, 4], (range(1, 3), range(5, 7), range(4, 5))),
    ],
)
def test_runs_join_consecutive_numbers(given: list[int], runs: tuple[range, ...]) -> None:
    assert runs_of(given) == runs


def test_context_counts_as_it_grows_and_swaps_once() -> None:
    context = Context()
    for value in [system(), user("1"), answer("2"), user("3")]:
        context.append(value)
    seen = context.snapshot()
    assert seen.sizes == total(message.sizes for message in seen.messages)
    late = context.append(answer("came meanwhile"))
    revision = context.apply(plan(seen.state, (1, 3), at=1))
    assert numbers(context.snapshot()) == [1, 6, 4, late.number]
    assert context.sizes == total(message.sizes for message in context.messages)
    assert revision.last_number == 6
    with pytest.raises(StalePlan, match="compute it again"):
        context.apply(plan(seen.state, (1, 3), at=1))
    assert numbers(context.snapshot()) == [1, 6, 4, late.number]


def test_a_draft_has_its_number_and_is_not_yet_in_the_list() -> None:
    context = Context()
    assert context.draft(user()).number == 1
    assert not context.messages
    assert context.append(user()).number == 1


def test_group_holds_a_call_with_all_its_results() -> None:
    messages = Snapshot.of([user(), *group(0, ["a", "b"]), user(), answer()]).messages
    assert [group_at(messages, row) for row in range(len(messages))] == [
        range(0, 1),
        range(1, 4),
        range(1, 4),
        range(1, 4),
        range(4, 5),
        range(5, 6),
    ]


def test_results_are_fresh_until_a_reply_follows() -> None:
    values = [user(), *group(0, ["a", "b"])]
    assert fresh_rows(Snapshot.of(values).messages) == range(1, 4)
    assert fresh_rows(Snapshot.of([*values, user()]).messages) == range(1, 4)
    assert list(fresh_rows(Snapshot.of([*values, answer()]).messages)) == []
    assert list(fresh_rows(Snapshot.of([user()]).messages)) == []


@pytest.mark.parametrize(
    ("values", "rows"),
    [
        ([user()], [0]),
        ([user(), user()], [0, 1]),
        ([user(), answer(), user(), user()], [2, 3]),
        ([user(), *group(0, ["a"]), user(), *group(1, ["b"])], [0, 3]),
        ([user(), user(), answer()], [1]),
        ([user(), answer(), answer()], [0]),
        ([user(), answer(), user(), *group(1, ["b"])], [2]),
        ([system()], []),
    ],
)
def test_instructions_since_the_last_final_answer(values: list[Any], rows: list[int]) -> None:
    assert instruction_rows(Snapshot.of(values).messages) == rows


def test_leading_messages_end_at_the_first_note() -> None:
    assert Snapshot.of([system(), system(), NOTE, system()]).leading == 2
    assert Snapshot.of([user(), system()]).leading == 0
    assert Snapshot.of([system()]).leading == 1
