"""What people do to a list, as plans: undo, exclude, restore, a new topic (spec-compaction 12)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from agentcore.breakdown import EXCLUSION_HEADER
from agentcore.compaction.notes import note
from agentcore.compaction.places import note_row
from agentcore.compaction.plan import (
    Birth,
    CompactionPlan,
    Fate,
    Origin,
    Removal,
    apply_plan,
    runs_of,
)
from agentcore.errors import PlanError
from agentcore.invariants import archive, legal
from agentcore.messages import Message, Role
from agentcore.said import Said
from agentcore.snapshot import Snapshot, fresh_rows, group_at, instruction_rows

# A message with the place that it had in the list.
Placed: TypeAlias = tuple[Message, int]


def undo_plan(snapshot: Snapshot, ended: Sequence[Placed], begun: frozenset[int]) -> CompactionPlan:
    """Begin what the last revision ended and end what it began; what was appended since stays."""
    rows = [row for row, one in enumerate(snapshot.messages) if one.number in begun]
    plan = _plan(snapshot, rows, _returning(snapshot, ended, "undo"), Fate.DROPPED, "undo")
    return _checked(plan, snapshot, "undo")


def restore_plan(
    snapshot: Snapshot,
    messages: Sequence[Placed],
    stand_ins: frozenset[int] = frozenset(),
    pins: frozenset[int] = frozenset(),
) -> CompactionPlan:
    """Bring messages back at their old places; placeholders that stand for them go, `stand_ins`
    too (numbers of what replaced a placeholder), and notes of exclusions of which nothing is
    missing any more, unless they are pinned. Hand in whole tool groups: half of one is refused."""
    alive = {message.number for message in snapshot.messages}
    coming = [one for one in messages if one[0].number not in alive]
    numbers = {message.number for message, _ in coming}
    rows = [
        row
        for row, one in enumerate(snapshot.messages)
        if one.replaces in numbers
        or one.number in stand_ins
        or (one.number not in pins and _is_settled(one, numbers, alive | numbers))
    ]
    returning = _returning(snapshot, _together(snapshot, coming, rows), "restore")
    return _checked(_plan(snapshot, rows, returning, Fate.DROPPED, "restore"), snapshot, "restore")


def _is_settled(note: Message, coming: set[int], back: set[int]) -> bool:
    """Whether an exclusion's note tells of nothing but what is back again, by this."""
    told = {number for run in note.stands_for for number in run}
    if not note.text.startswith(EXCLUSION_HEADER):
        return False
    return bool(told & coming) and told <= back


def exclude_plan(
    snapshot: Snapshot, numbers: Iterable[int], pins: frozenset[int]
) -> CompactionPlan:
    """Take messages out with their groups, a one-line note in the place of each run. Raises
    PlanError for pins, for fresh results and for what the user said last."""
    wanted = frozenset(numbers)
    rows = sorted({one for row in snapshot.indexes_of(wanted) for one in snapshot.group_at(row)})
    _refuse_protected(snapshot, rows, pins)
    return _checked(exclusion(snapshot, rows), snapshot, "exclude")


def exclusion(snapshot: Snapshot, rows: Sequence[int]) -> CompactionPlan:
    """What taking these rows out comes to, whether or not it may be done."""
    births = []
    for run in runs_of(rows):
        gone = snapshot.messages[run.start : run.stop]
        text = f"{EXCLUSION_HEADER} {_count(len(gone))} left the context by a person's choice."
        births.append(Birth(run.start, note(text), Origin.NOTE, "exclude", (run,)))
    return _plan(snapshot, rows, births, Fate.EXCLUDED, "exclude")


def _count(messages: int) -> str:
    return f"{messages} message{'s' if messages != 1 else ''}"


def new_topic_plan(snapshot: Snapshot, pins: frozenset[int]) -> CompactionPlan:
    """All but the leading messages and the pins leaves; one note stands for it, without its facts:
    they are those of another topic."""
    leading = snapshot.leading
    kept = {one for row in snapshot.indexes_of(pins) for one in snapshot.group_at(row)}
    rows = [row for row in range(leading, len(snapshot.messages)) if row not in kept]
    if all(snapshot.messages[row].is_summary for row in rows):
        raise PlanError(Said("there is nothing to end: the list holds no conversation yet"))
    text = f"{EXCLUSION_HEADER} {_count(len(rows))} left the context: a new topic began."
    birth = Birth(note_row(snapshot, kept), note(text), Origin.NOTE, "new_topic", runs_of(rows))
    plan = _plan(snapshot, rows, [birth], Fate.DROPPED, "new_topic")
    return _checked(plan, snapshot, "new_topic")


def protected(snapshot: Snapshot, pins: frozenset[int]) -> Mapping[int, str]:
    """By row, why nobody may take it out."""
    messages = snapshot.messages
    reasons = (
        (set(range(snapshot.leading)), Said("is a system message")),
        (
            {one for row in snapshot.indexes_of(pins) for one in group_at(messages, row)},
            Said("is pinned, or its group is: unpin it first"),
        ),
        (set(fresh_rows(messages)), Said("was not seen by the model yet")),
        (set(instruction_rows(messages)), Said("is the instruction in force")),
    )
    # The first of its reasons is told.
    return {row: reason for rows, reason in reversed(reasons) for row in rows}


def _refuse_protected(snapshot: Snapshot, rows: Sequence[int], pins: frozenset[int]) -> None:
    if not rows:
        raise PlanError(Said("none of these messages is in the list: nothing to exclude"))
    reasons = protected(snapshot, pins)
    for row in rows:
        if row in reasons:
            number = snapshot.messages[row].number
            raise PlanError(Said("message {number} {reason}", number=number, reason=reasons[row]))


def _returning(snapshot: Snapshot, placed: Sequence[Placed], stage: str) -> list[Birth]:
    order = [
        (place, message.number)
        for place, message in zip(snapshot.places, snapshot.messages, strict=True)
    ]
    births = [
        Birth(
            bisect_left(order, (place, message.number)),
            message,
            Origin.RESTORED,
            stage,
            place=place,
        )
        for message, place in placed
    ]
    return sorted(births, key=lambda birth: (birth.at, birth.place or 0, birth.message.number))


def _together(snapshot: Snapshot, placed: Sequence[Placed], leaving: Sequence[int]) -> list[Placed]:
    """Results keep beside their call: where a note stands between them now, at its place."""
    gone = set(leaving)
    order = [
        (place, message.number)
        for row, (place, message) in enumerate(zip(snapshot.places, snapshot.messages, strict=True))
        if row not in gone
    ]
    together: list[Placed] = []
    call: tuple[int, int] | None = None
    for message, place in sorted(placed, key=lambda one: (one[1], one[0].number)):
        if message.role is not Role.TOOL:
            call = (place, message.number) if message.calls else None
        elif call and bisect_left(order, call) != bisect_left(order, (place, message.number)):
            place = call[0]
        together.append((message, place))
    return together


def _plan(
    snapshot: Snapshot, rows: Sequence[int], births: Sequence[Birth], fate: Fate, stage: str
) -> CompactionPlan:
    removals = tuple(Removal(run.start, run.stop, fate, stage) for run in runs_of(rows))
    return CompactionPlan(snapshot.state, removals, tuple(births))


def _checked(plan: CompactionPlan, snapshot: Snapshot, stage: str) -> CompactionPlan:
    """The plan, if the list is legal after it, and will be read back as it is."""
    if plan.is_empty:
        raise PlanError(Said("{act}: there is nothing to change in the list", act=_act(stage)))
    after, _ = apply_plan(plan, snapshot)
    if broken := legal(after.messages) or archive(plan, snapshot, after):
        said = Said(
            "{act} would leave an illegal list: {reason}",
            act=_act(stage),
            reason=broken[0].detail,
        )
        raise PlanError(said)
    return plan


def _act(stage: str) -> Said:
    return Said(stage.replace("_", " "))
