"""Undo, exclude, restore and a new topic: pure plans, and what a border makes of them."""

from __future__ import annotations

from typing import Any

import pytest
from histories import Value, answer, exchange, group, legal_lists, omission, system, user
from hypothesis import given, settings
from hypothesis import strategies as st
from stage import DONE, Stage

from agentcore import PRESETS, Snapshot, compact
from agentcore.compaction.edits import exclude_plan, new_topic_plan, restore_plan, undo_plan
from agentcore.compaction.plan import CompactionPlan, Revision, apply_plan
from agentcore.context import Context
from agentcore.directives import Instruction, InstructionKind
from agentcore.errors import PlanError
from agentcore.events import Edited, Erased, InstructionRefused
from agentcore.invariants import archive, legal, sizes
from agentcore.messages import Message

NONE: frozenset[int] = frozenset()
TALK = [system(), user("old"), answer(), *group(1, ["a", "b"]), answer("2"), user("now")]


def numbers(snapshot: Snapshot) -> list[int]:
    return [message.number for message in snapshot.messages]


def undone(before: Snapshot, plan: CompactionPlan, revision: Revision) -> CompactionPlan:
    after, _ = apply_plan(plan, before)
    places = dict(zip(numbers(before), before.places, strict=True))
    by_number = {message.number: message for message in before.messages}
    ended = [(by_number[number], places[number]) for number in revision.ended]
    return undo_plan(after, ended, frozenset(message.number for message, _ in revision.begun))


@settings(max_examples=200, deadline=None)
@given(legal_lists(least=3), st.sampled_from(sorted(PRESETS)), st.integers(200, 3_000))
def test_undo_brings_back_the_list_byte_for_byte(
    values: list[Value], preset: str, budget: int
) -> None:
    profile = PRESETS[preset].replace(budget=budget, unit="bytes", min_gain=0.0)
    done = compact(values, profile, force=True)
    if done.revision is None:
        return
    plan = undone(done.old, done.plan, done.revision)
    back, revision = apply_plan(plan, done.new)
    assert [message.wire for message in back.messages] == [
        message.wire for message in done.old.messages
    ]
    assert (numbers(back), back.places) == (numbers(done.old), done.old.places)
    assert back.sizes == done.old.sizes
    # Undo of an undo is redo.
    redone, _ = apply_plan(undone(done.new, plan, revision), back)
    assert numbers(redone) == numbers(done.new)
    assert redone.places == done.new.places


def test_what_was_appended_since_follows_the_old_list() -> None:
    context = Context(Snapshot.of(exchange(40, 500)))
    done = compact(context.snapshot(), PRESETS["nanohermes"], force=True)
    revision = context.apply(done.plan)
    late = context.append(answer("since"))
    before = done.old
    places = dict(zip(numbers(before), before.places, strict=True))
    ended = [(one, places[one.number]) for one in before.messages if one.number in revision.ended]
    context.apply(undo_plan(context.snapshot(), ended, frozenset({revision.begun[0][0].number})))
    assert numbers(context.snapshot()) == [*numbers(before), late.number]


def test_excluding_takes_the_whole_group_and_leaves_one_line_a_run() -> None:
    before = Snapshot.of(TALK)
    plan = exclude_plan(before, [3, 5], NONE)
    after, revision = apply_plan(plan, before)
    assert revision.ended == (3, 4, 5, 6)
    assert numbers(after) == [1, 2, 9, 7, 8]
    note = after.messages[2]
    assert note.text == (
        "[Messages excluded; reference only] 4 messages left the context by a person's choice."
    )
    assert note.is_summary and note.stands_for == (range(3, 7),)
    assert archive(plan, before, after) == sizes(after) == legal(after.messages) == []


@pytest.mark.parametrize(
    ("wanted", "pins", "says"),
    [
        ([1], NONE, "message 1 is a system message"),
        ([5], frozenset({6}), "message 4 is pinned"),
        ([8], NONE, "message 8 is the instruction in force"),
        ([99], NONE, "nothing to exclude"),
    ],
)
def test_what_is_protected_is_refused_by_number(
    wanted: list[int], pins: frozenset[int], says: str
) -> None:
    with pytest.raises(PlanError, match=says):
        exclude_plan(Snapshot.of(TALK), wanted, pins)


def test_results_that_no_reply_has_seen_cannot_be_excluded() -> None:
    with pytest.raises(PlanError, match="not seen"):
        exclude_plan(Snapshot.of([user(), *group(1, ["a"])]), [2], NONE)


@pytest.mark.parametrize("number", [2, 3])
def test_what_stands_for_one_of_two_notes_is_read_back_where_it_stands(number: int) -> None:
    # A note that was brought back has the place of the one that was made since.
    born = Snapshot.of([user("now"), *(omission(), omission())])
    now, first, second = born.messages
    before = Snapshot((first, second, now), (1, 1, 4), born.sizes, born.state)
    after, _ = apply_plan(exclude_plan(before, [number], NONE), before)
    rows = list(zip(after.places, numbers(after), strict=True))
    assert rows == sorted(rows) and len(rows) == 3


def test_a_message_that_left_comes_back_at_its_old_place_after_the_summary() -> None:
    done = compact(exchange(40, 500), PRESETS["nanohermes"], force=True)
    first = done.old.messages[2:4]
    back, _ = apply_plan(restore_plan(done.new, [(one, one.number * 4) for one in first]), done.new)
    assert numbers(back)[:5] == [1, 83, 2, 3, 4]
    assert legal(back.messages) == [] and list(back.places) == sorted(back.places)


def test_a_restored_result_takes_the_place_of_its_placeholder() -> None:
    profile = PRESETS["balanced"].replace(budget=20_000, unit="bytes")
    done = compact(exchange(40, 500), profile)
    placeholder = next(one for one in done.new.messages if one.replaces)
    original = done.old.messages[placeholder.replaces - 1]  # type: ignore[operator]
    plan = restore_plan(done.new, [(original, original.number * 4)])
    back, revision = apply_plan(plan, done.new)
    assert revision.ended == (placeholder.number,)
    assert original.number in numbers(back) and legal(back.messages) == []


def test_the_note_of_an_exclusion_goes_with_the_last_that_it_tells_of() -> None:
    before = Snapshot.of(TALK)
    plan = exclude_plan(before, [3, 5], NONE)
    after, _ = apply_plan(plan, before)
    old = {message.number: (message, place) for message, place in placed(before)}
    half, _ = apply_plan(restore_plan(after, [old[3]]), after)
    assert numbers(half) == [1, 2, 3, 9, 7, 8]
    rest = [old[4], old[5], old[6]]
    whole, _ = apply_plan(restore_plan(half, rest), half)
    assert numbers(whole) == numbers(before)
    pinned, _ = apply_plan(restore_plan(half, rest, pins=frozenset({9})), half)
    assert numbers(pinned) == [1, 2, 3, 9, 4, 5, 6, 7, 8]


def placed(snapshot: Snapshot) -> list[tuple[Message, int]]:
    return list(zip(snapshot.messages, snapshot.places, strict=True))


def test_half_a_group_is_not_restored() -> None:
    done = compact(exchange(40, 500), PRESETS["nanohermes"], force=True)
    result = done.old.messages[3]
    with pytest.raises(PlanError, match="illegal"):
        restore_plan(done.new, [(result, result.number * 4)])


def test_a_new_topic_leaves_system_pins_and_one_note() -> None:
    before = Snapshot.of(TALK)
    after, _ = apply_plan(new_topic_plan(before, frozenset({3})), before)
    assert numbers(after) == [1, 9, 3]
    with pytest.raises(PlanError, match="no conversation"):
        new_topic_plan(Snapshot.of([system()]), NONE)


async def test_a_border_takes_an_exclusion_and_tells_it() -> None:
    stage = Stage([DONE], context=Context(Snapshot.of([*TALK[:-1]])))
    stage.queue.append(Instruction(4, InstructionKind.EXCLUDE, numbers=(3,)))
    await stage.say().run()
    (edited,) = stage.events(Edited)
    assert (edited.kind, edited.instruction, edited.revision.ended) == ("excluded", 4, (3,))
    assert stage.queue == []


@pytest.mark.parametrize(
    ("wish", "says"),
    [
        (Instruction(4, InstructionKind.EXCLUDE, numbers=(1,)), "system message"),
        (Instruction(4, InstructionKind.UNDO, revision=3), "moved on to revision 0"),
        (Instruction(4, InstructionKind.RESTORE), "nothing to change"),
    ],
)
async def test_a_wish_that_the_list_does_not_allow_leaves_the_queue_with_its_reason(
    wish: Instruction, says: str
) -> None:
    stage = Stage([], context=Context(Snapshot.of(TALK[:-1])))
    before = [message.wire for message in stage.context.messages]
    stage.queue.append(wish)
    await stage.run()
    (refused,) = stage.events(InstructionRefused)
    assert refused.instruction == 4 and says in refused.reason
    assert [message.wire for message in stage.context.messages] == before
    assert stage.queue == []


@settings(max_examples=100, deadline=None)
@given(legal_lists(least=1), st.data())
def test_an_erased_list_is_legal_and_its_breakdown_sums_to_the_byte(
    values: list[Value], data: st.DataObject
) -> None:
    before = Snapshot.of(values)
    number = data.draw(st.sampled_from(numbers(before)))
    context = Context(before)
    revision = context.erase(number)
    after = context.snapshot()
    assert (after.state.revision, revision.touched) == (before.state.revision + 1, ())
    assert not legal(after.messages) and not sizes(after)
    for old, new in zip(before.messages, after.messages, strict=True):
        assert (old.wire == new.wire) is (old.number != number)
    assert context.take_causes() == {number: "erased"}


async def test_a_border_erases_a_text_wherever_it_is() -> None:
    stage = Stage([DONE], context=Context(Snapshot.of([*TALK[:-1]])))
    stage.queue.append(Instruction(4, InstructionKind.ERASE, numbers=(2,)))
    stage.queue.append(Instruction(5, InstructionKind.ERASE, numbers=(99,)))
    await stage.say().run()
    here, elsewhere = stage.events(Erased)
    assert (here.number, here.instruction, here.facts["revision"]) == (2, 4, 1)
    assert (elsewhere.number, elsewhere.revision.number) == (99, 2)
    assert stage.model.requests[0].messages[1].text.startswith("[erased: ")


def test_facts_of_an_edit_are_small_json() -> None:
    import json

    context = Context(Snapshot.of(TALK))
    before = context.snapshot()
    plan = exclude_plan(before, [3], NONE)
    from agentcore.kinds import EventKind

    told: dict[str, Any] = Edited(
        EventKind.EXCLUDED, before, plan, context.apply(plan), context.sizes, 1
    ).facts
    assert len(json.dumps(told)) < 500 and told["ended"] == 1
