"""What a change of the list leaves out and adds. Everything it does not name is kept."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain
from operator import attrgetter, sub
from typing import TypeVar

from agentcore.breakdown import Sizes, total
from agentcore.compaction.rows import splice
from agentcore.deferred import Deferred
from agentcore.errors import PlanError
from agentcore.frozen import maker
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


make_removal, _birth = maker(Removal), maker(Birth)


@dataclass(frozen=True, slots=True)
class Replaced:
    """Rows alike: each gets another message in its place, all with one fate. By row, ascending."""

    fate: Fate
    stage: str
    messages: Mapping[int, Message]


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """`removals` and `births` are in the order of the list that they are computed on.

    `summarizes`: the messages whose summary is wanted in place of the omission note among the
    births, `structured` where it is the one of nine headings; the plan is whole without it.
    `replaced` says in short what a removal and a birth for each row would say: one stage may
    replace thousands, and the next one fold them.
    """

    base: State
    removals: tuple[Removal, ...]
    births: tuple[Birth, ...]
    summarizes: Sequence[Message] = ()
    structured: bool = False
    replaced: tuple[Replaced, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.removals and not self.births and not self.replaced

    def spelled_out(self) -> CompactionPlan:
        """With a removal and a birth for each row that is replaced."""
        if not self.replaced:
            return self
        removals, births = list(self.removals), list(self.births)
        for some in self.replaced:
            for row, message in some.messages.items():
                removals.append(make_removal(row, row + 1, some.fate, some.stage))
                births.append(in_place(row, message, some.stage))
        removals.sort(key=attrgetter("start"))
        births.sort(key=attrgetter("at"))
        return replace(self, removals=tuple(removals), births=tuple(births), replaced=())


@dataclass(frozen=True, slots=True)
class Revision:
    """One change of the list other than appending. `begun` pairs each message with its place."""

    number: int
    ended: Sequence[int]
    begun: tuple[tuple[Message, int], ...]
    last_number: int

    @property
    def touched(self) -> tuple[int, ...]:
        """The messages that came or went."""
        return (*self.ended, *(message.number for message, _ in self.begun))


def in_place(row: int, message: Message, stage: str) -> Birth:
    """The birth of a message that replaces a row."""
    return _birth(row, message, None, stage, (range(row, row + 1),))


def apply_plan(
    plan: CompactionPlan, before: Snapshot, sizes: Sizes | None = None
) -> tuple[Snapshot, Revision]:
    """The list after the plan. New births get the numbers after the last one born. `sizes`: of that
    list, where they are known."""
    plan = plan.spelled_out()
    check_rows(plan, before)
    born, last = _numbered(plan.births, before)
    places = places_of(plan, before)
    messages = spliced(plan, before.messages, born)
    revision = before.state.revision + 1
    ended = Deferred(lambda: _numbers(plan.removals, before))
    after = Snapshot(
        tuple(messages),
        tuple(spliced(plan, before.places, places)),
        sizes or sizes_after(before, plan, messages),
        State(revision, last),
    )
    return after, Revision(revision, ended, tuple(zip(born, places, strict=True)), last)


def places_of(plan: CompactionPlan, before: Snapshot) -> list[int]:
    """Of the births, in their order; what replaces a row takes its place."""
    leading = before.leading if plan.births else 0
    return [
        before.places[birth.at]
        if birth.origin is None
        else min(_place(birth, before, leading), _place_behind(birth, plan, before) - 1)
        if birth.place is None
        else birth.place
        for birth in plan.births
    ]


def note_row(before: Snapshot, kept: Container[int]) -> int:
    """Where a summary or note is put in: after the leading messages and the notes kept there."""
    row = before.leading
    while row in kept and before.messages[row].is_summary:
        row += 1
    return row


def spliced(plan: CompactionPlan, rows: Sequence[T], births: Sequence[T]) -> list[T]:
    """Rows before, without those that leave, with one entry a birth at its place."""
    added: list[tuple[int, T]] = []
    replaced: dict[int, T] = {}
    for birth, entry in zip(plan.births, births, strict=True):
        if birth.origin is None:
            replaced[birth.at] = entry
        else:
            added.append((birth.at, entry))
    cuts = [(cut.start, cut.stop) for cut in plan.removals]
    return splice(rows, cuts, replaced, added)


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


def check_rows(plan: CompactionPlan, before: Snapshot) -> None:
    """Raises PlanError where it names rows that are not there, twice or out of order."""
    row, count = 0, len(before.messages)
    for cut in plan.removals:
        if not row <= cut.start < cut.stop <= count:
            raise PlanError(f"rows {cut.start} to {cut.stop} overlap or are not in the list")
        row = cut.stop
    ats = [birth.at for birth in plan.births]
    if ats != sorted(ats) or any(not 0 <= at <= count for at in ats):
        raise PlanError(f"births at {ats} are out of order or not in the list")
    for some in plan.replaced:
        if not 0 <= min(some.messages) <= max(some.messages) < count:
            raise PlanError(f"rows that are to be {some.fate} are not in the list")


def _numbered(births: Sequence[Birth], before: Snapshot) -> tuple[list[Message], int]:
    """The messages to be put in, told what they replace or stand for, and the last number."""
    born: list[Message] = []
    messages, last = before.messages, before.state.last_number
    for birth in births:
        message = birth.message
        if not message.number:
            last += 1
            stands_for = message.stands_for
            if birth.covers:
                stands_for = before.numbers_in(birth.covers)
            replaces = message.replaces if birth.origin else messages[birth.at].number
            message = message.born_as(last, replaces, stands_for)
        born.append(message)
    return born, last


def _numbers(removals: Sequence[Removal], before: Snapshot) -> Iterator[int]:
    gone = (before.messages[cut.start : cut.stop] for cut in removals)
    return map(_NUMBER, chain.from_iterable(gone))


def _place(birth: Birth, before: Snapshot, leading: int) -> int:
    """What is put in for rows takes the place of the first; what is added stands after the row in
    front of it, a summary so after the leading messages (design: place), or at the place of a note
    that is kept there, behind it by its number."""
    folds = bool(birth.covers) and birth.covers[0].start == birth.at != leading
    if folds:
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


def sizes_after(before: Snapshot, plan: CompactionPlan, messages: Sequence[Message]) -> Sizes:
    """Count the smaller side: what stays, or what changed."""
    removed = sum(cut.stop - cut.start for cut in plan.removals)
    if removed + len(plan.births) >= len(messages):
        return total(message.sizes for message in messages)
    gone = total(
        message.sizes for cut in plan.removals for message in before.messages[cut.start : cut.stop]
    )
    return before.sizes - gone + total(birth.message.sizes for birth in plan.births)
