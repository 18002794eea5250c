"""What a change of the list leaves out and adds. Everything it does not name is kept."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Container, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from operator import attrgetter, sub
from typing import TypeVar

from agentcore.breakdown import Sizes, total
from agentcore.errors import PlanError
from agentcore.messages import Message
from agentcore.snapshot import Snapshot, State

T = TypeVar("T")
_NUMBER = attrgetter("number")


class Fate(StrEnum):
    """What became of a row that was there before."""

    KEPT = "kept"
    PINNED = "pinned"
    SNIPPED = "snipped"
    MASKED = "masked"
    CUT = "cut"
    FOLDED = "folded"
    SUMMARIZED = "summarized"
    DROPPED = "dropped"
    EXCLUDED = "excluded"
    REPAIRED = "repaired"
    REBUILT = "rebuilt"


class Origin(StrEnum):
    """Where a row comes from that has no row before it."""

    SUMMARY = "summary"
    NOTE = "note"
    INJECTED = "injected"
    RESTORED = "restored"
    APPENDED = "appended"


@dataclass(frozen=True, slots=True)
class Removal:
    """The rows `start` to `stop` (exclusive) of the list before, with one fate."""

    start: int
    stop: int
    fate: Fate
    stage: str


@dataclass(frozen=True, slots=True)
class Birth:
    """A message that is put in front of row `at` of the list before; without `origin` it replaces
    that row. `covers`: the rows before that it stands for. A message with a number is one that
    comes back, at its old `place`; the others get the next numbers."""

    at: int
    message: Message
    origin: Origin | None
    stage: str
    covers: tuple[range, ...] = ()
    place: int | None = None


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """`removals` and `births` are in the order of the list that they are computed on.

    `summarizes`: the messages whose summary is wanted in place of the omission note among the
    births, `structured` where it is the one of nine headings; the plan is whole without it.
    """

    base: State
    removals: tuple[Removal, ...]
    births: tuple[Birth, ...]
    summarizes: tuple[Message, ...] = ()
    structured: bool = False

    @property
    def is_empty(self) -> bool:
        return not self.removals and not self.births


@dataclass(frozen=True, slots=True)
class Revision:
    """One change of the list other than appending. `begun` pairs each message with its place."""

    number: int
    ended: tuple[int, ...]
    begun: tuple[tuple[Message, int], ...]
    last_number: int

    @property
    def touched(self) -> tuple[int, ...]:
        """The messages that came or went."""
        return (*self.ended, *(message.number for message, _ in self.begun))


def apply_plan(plan: CompactionPlan, before: Snapshot) -> tuple[Snapshot, Revision]:
    """The list after the plan. New births get the numbers after the last one born."""
    _check_rows(plan, before)
    born, last = _numbered(plan.births, before)
    leading = before.leading if born else 0
    new_places = [
        min(_place(birth, before, leading), _place_behind(birth, plan, before) - 1)
        if birth.origin and birth.place is None
        else _place(birth, before, leading)
        for birth in plan.births
    ]
    messages = splice(plan, before.messages, born)
    places = splice(plan, before.places, new_places)
    revision = before.state.revision + 1
    gone = (before.messages[cut.start : cut.stop] for cut in plan.removals)
    ended = tuple(map(_NUMBER, chain.from_iterable(gone)))
    after = Snapshot(
        tuple(messages),
        tuple(places),
        _sizes_after(before, plan, messages),
        State(revision, last),
    )
    return after, Revision(revision, ended, tuple(zip(born, new_places, strict=True)), last)


def note_row(before: Snapshot, kept: Container[int]) -> int:
    """Where a summary or note is put in: after the leading messages and the notes kept there."""
    row = before.leading
    while row in kept and before.messages[row].is_summary:
        row += 1
    return row


def splice(plan: CompactionPlan, rows: Sequence[T], births: Sequence[T]) -> list[T]:
    """Rows before, without those that leave, with one entry a birth at its place."""
    spliced: list[T] = []
    row = waiting = 0
    for start, stop in [*((cut.start, cut.stop) for cut in plan.removals), (len(rows), len(rows))]:
        while waiting < len(births) and plan.births[waiting].at <= start:
            at = max(row, plan.births[waiting].at)
            spliced += rows[row:at]
            spliced.append(births[waiting])
            row, waiting = at, waiting + 1
        spliced += rows[row:start]
        row = stop
    return spliced


def runs_of(numbers: Sequence[int]) -> tuple[range, ...]:
    """Ascending runs of consecutive numbers, in the order given."""
    if len(numbers) == 1:
        return (range(numbers[0], numbers[0] + 1),)
    if numbers and list(numbers) == list(range(numbers[0], numbers[0] + len(numbers))):
        return (range(numbers[0], numbers[0] + len(numbers)),)
    steps = map(sub, numbers[1:], numbers)
    breaks = [place for place, step in enumerate(steps, 1) if step != 1]
    starts, stops = [0, *breaks], [*breaks, len(numbers)]
    return tuple(
        range(numbers[start], numbers[stop - 1] + 1)
        for start, stop in zip(starts, stops, strict=True)
        if start < stop
    )


def _check_rows(plan: CompactionPlan, before: Snapshot) -> None:
    row = 0
    for cut in plan.removals:
        if not row <= cut.start < cut.stop <= len(before.messages):
            raise PlanError(f"rows {cut.start} to {cut.stop} overlap or are not in the list")
        row = cut.stop
    ats = [birth.at for birth in plan.births]
    if ats != sorted(ats) or any(not 0 <= at <= len(before.messages) for at in ats):
        raise PlanError(f"births at {ats} are out of order or not in the list")


def _numbered(births: Sequence[Birth], before: Snapshot) -> tuple[list[Message], int]:
    """The messages to be put in, told what they replace or stand for, and the last number."""
    born: list[Message] = []
    last = before.state.last_number
    for birth in births:
        message = birth.message
        if not message.number:
            last += 1
            stands_for = message.stands_for
            if birth.covers:
                stands_for = _numbers_of(birth.covers, before.messages)
            replaces = message.replaces if birth.origin else before.messages[birth.at].number
            message = message.born_as(last, replaces, stands_for)
        born.append(message)
    return born, last


def _numbers_of(covers: Sequence[range], messages: Sequence[Message]) -> tuple[range, ...]:
    """Run by run, since within one the numbers nearly always follow each other."""
    found: list[range] = []
    for rows in covers:
        for run in runs_of(list(map(_NUMBER, messages[rows.start : rows.stop]))):
            goes_on = bool(found) and found[-1].stop == run.start
            found.append(range(found.pop().start, run.stop) if goes_on else run)
    return tuple(found)


def _place(birth: Birth, before: Snapshot, leading: int) -> int:
    """What replaces takes the place of what it stands for; what is added stands after the row in
    front of it, a summary so after the leading messages (design: place), or at the place of a note
    that is kept there, behind it by its number."""
    if birth.place is not None:
        return birth.place
    replaces = birth.origin is None
    folds = bool(birth.covers) and birth.covers[0].start == birth.at != leading
    if replaces or folds:
        return before.places[birth.at]
    if birth.at and birth.message.is_summary and before.messages[birth.at - 1].is_summary:
        return before.places[birth.at - 1]
    return before.places[birth.at - 1] + 1 if birth.at else 1


def _place_behind(birth: Birth, plan: CompactionPlan, before: Snapshot) -> int:
    """The place of the first row that stays behind a birth: of two at one place the higher number
    would come second."""
    row = birth.at
    at = bisect_right(plan.removals, row, key=attrgetter("start")) - 1
    for cut in plan.removals[max(at, 0) :]:
        if not cut.start <= row < cut.stop:
            break
        row = cut.stop
    return before.places[row] if row < len(before.places) else sys.maxsize


def _sizes_after(before: Snapshot, plan: CompactionPlan, messages: Sequence[Message]) -> Sizes:
    """Count the smaller side: what stays, or what changed."""
    removed = sum(cut.stop - cut.start for cut in plan.removals)
    if removed + len(plan.births) >= len(messages):
        return total(message.sizes for message in messages)
    gone = total(
        message.sizes for cut in plan.removals for message in before.messages[cut.start : cut.stop]
    )
    return before.sizes - gone + total(birth.message.sizes for birth in plan.births)
