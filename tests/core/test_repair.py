from __future__ import annotations

from typing import Any

import pytest
from histories import answer, broken_lists, calls, group, legal_lists, result, system, user
from hypothesis import given, settings

from agentcore import Snapshot
from agentcore.compaction.plan import apply_plan
from agentcore.compaction.repair import INTERRUPTED, repair
from agentcore.invariants import archive, legal, sizes


def repaired(values: list[dict[str, Any]]) -> tuple[Snapshot, tuple[tuple[int, str], ...]]:
    before = Snapshot.of(values)
    plan, reasons = repair(before)
    after, _ = apply_plan(plan, before)
    return after, reasons


@pytest.mark.parametrize(
    ("values", "kept", "reasons"),
    [
        ([user(), result("old")], [1], [(2, "result without its call")]),
        ([calls("x"), result("x"), result("x", "2")], [1, 2], [(3, "second result")]),
        ([user(), answer("")], [1], [(2, "empty assistant message")]),
        ([user(), {"role": "assistant", "content": None}, user()], [1, 3], [(2, "empty")]),
        ([calls("x"), user("on"), result("x")], [1, 4, 2], [(1, "x without"), (3, "without its")]),
        ([calls("x"), result("x", "")], [1, 3], [(2, "empty result")]),
    ],
)
def test_only_what_is_broken_is_repaired(
    values: list[dict[str, Any]], kept: list[int], reasons: list[tuple[int, str]]
) -> None:
    after, told = repaired(values)
    assert [message.number for message in after.messages] == kept
    assert [number for number, _ in told] == [number for number, _ in reasons]
    assert all(part in text for (_, part), (_, text) in zip(reasons, told, strict=True))


def test_an_unanswered_call_is_answered_in_its_group_and_says_so() -> None:
    after, told = repaired([calls("a", "b", name="grep"), result("b"), user()])
    assert [message.tool_call_id for message in after.messages] == [None, "b", "a", None]
    answered = after.messages[2]
    assert (answered.text, answered.tool, answered.status) == (
        "[grep was not run]",
        "grep",
        "unknown",
    )
    assert told == ((1, "call a without result"),)


def test_after_a_crash_the_answer_says_that_it_may_have_run() -> None:
    plan, _ = repair(Snapshot.of([calls("a")]), INTERRUPTED)
    assert "interrupted" in plan.births[0].message.text


def test_an_empty_id_becomes_the_same_new_one_on_call_and_result() -> None:
    after, told = repaired([user(), calls(""), result(""), answer()])
    call, answered = after.messages[1:3]
    assert call.calls[0].id == answered.tool_call_id == "call_2_0"
    assert {reason for _, reason in told} == {"empty or repeated call id"}


def test_calls_with_the_same_id_get_results_of_their_own() -> None:
    after, _ = repaired([user(), calls("a", "a"), result("a", "1"), result("a", "2")])
    assert [call.id for call in after.messages[1].calls] == ["a", "call_2_1"]
    assert [(one.tool_call_id, one.text) for one in after.messages[2:]] == [
        ("a", "1"),
        ("call_2_1", "2"),
    ]


def test_a_lone_message_with_a_picture_is_no_empty_one() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:,"}}
    assert repaired([{"role": "assistant", "content": [picture]}])[1] == ()


@settings(max_examples=300, deadline=None)
@given(broken_lists())
def test_any_list_becomes_legal_once_and_nothing_is_lost(values: list[dict[str, Any]]) -> None:
    before = Snapshot.of(values)
    plan, reasons = repair(before)
    after, _ = apply_plan(plan, before)
    assert legal(after.messages) == []
    assert archive(plan, before, after) == [] and sizes(after) == []
    assert bool(reasons) == (not plan.is_empty)
    again, told = repair(after)
    assert again.is_empty and told == ()


@given(legal_lists())
def test_a_legal_list_is_left_alone(values: list[dict[str, Any]]) -> None:
    values = [value for value in values if value["role"] != "system"] + group(99, ["a"])
    plan, reasons = repair(Snapshot.of([system(), *values]))
    assert plan.is_empty and reasons == ()
