"""What a change of the list leaves out and adds. Everything it does not name is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain
from operator import attrgetter, itemgetter, sub
from typing import TypeVar

from agentcore.breakdown import Sizes, total
from agentcore.compaction.places import Places
from agentcore.compaction.rows import left_empty, splice
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


_birth, _removal = maker(Birth), maker(Removal)


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
    removals: Sequence[Removal]
    births: Sequence[Birth]
    summarizes: Sequence[Message] = ()
    structured: bool = False
    replaced: tuple[Replaced, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.removals and not self.births and not self.replaced

    def spelled_out(self) -> CompactionPlan:
        """With a removal and a birth for each row that is replaced, made when they are looked
        at."""
        if not self.replaced:
            return self
        removals, births = Deferred(self.all_removals), Deferred(self.all_births)
        return replace(self, removals=removals, births=births, replaced=())

    def all_removals(self) -> list[Removal]:
        """In the order of the list, with those of the rows that are replaced."""
        made = [
            _removal(row, row + 1, some.fate, some.stage)
            for some in self.replaced
            for row in some.messages
        ]
        return sorted((*self.removals, *made), key=attrgetter("start"))

    def all_births(self) -> Iterator[Birth]:
        """In the order of the list, with those of the rows that are replaced."""
        for row, message, said in self.in_order():
            yield in_place(row, message, said.stage) if isinstance(said, Replaced) else said

    def in_order(self) -> Iterator[tuple[int, Message, Birth | Replaced]]:
        """By row, in the order of the list: each message, and what says that it is born."""
        rows: Iterable[tuple[int, Replaced]]
        rows = ((row, some) for some in self.replaced for row in some.messages)
        if len(self.replaced) > 1:
            rows = sorted(rows, key=itemgetter(0))
        waiting = 0
        for row, some in rows:
            while waiting < len(self.births) and self.births[waiting].at <= row:
                birth = self.births[waiting]
                yield birth.at, birth.message, birth
                waiting += 1
            yield row, some.messages[row], some
        for birth in self.births[waiting:]:
            yield birth.at, birth.message, birth

    def left_empty(self) -> list[tuple[int, int]]:
        """The runs of rows (start, stop) that leave with nothing in their places."""
        cuts = [(cut.start, cut.stop) for cut in self.removals]
        taken = {birth.at for birth in self.births if birth.origin is None}
        return list(left_empty(cuts, taken)) if taken else cuts


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
    check_rows(plan, before)
    place_of, empty = places_of(plan, before), plan.left_empty()
    last = before.state.last_number
    begun: list[tuple[Message, int]] = []
    replaced: dict[int, Message] = {}
    added: list[tuple[int, Message]] = []
    added_places: list[tuple[int, int]] = []
    for row, message, said in plan.in_order():
        if isinstance(said, Replaced):
            last += 1
            number = before.messages[row].number
            message = message.born_as(last, number, (range(number, number + 1),))
            begun.append((message, before.places[row]))
            replaced[row] = message
            continue
        place = place_of(said)
        if not message.number:
            last += 1
            message = _numbered(said, before, last)
        begun.append((message, place))
        if said.origin is None:
            replaced[row] = message
        else:
            added.append((row, message))
            added_places.append((row, place))
    messages = splice(before.messages, empty, replaced, added)
    moves = bool(empty or added)
    after = Snapshot(
        tuple(messages),
        tuple(splice(before.places, empty, {}, added_places)) if moves else before.places,
        sizes or sizes_after(before, plan.spelled_out(), messages),
        State(before.state.revision + 1, last),
    )
    ended = Deferred(lambda: _numbers(plan.all_removals(), before))
    return after, Revision(after.state.revision, ended, tuple(begun), last)


def spliced(plan: CompactionPlan, rows: Sequence[T], births: Sequence[T]) -> list[T]:
    """Rows before, without those that leave, with one entry a birth at its place."""
    added: list[tuple[int, T]] = []
    replaced: dict[int, T] = {}
    for birth, entry in zip(plan.births, births, strict=True):
        if birth.origin is None:
            replaced[birth.at] = entry
        else:
            added.append((birth.at, entry))
    return splice(rows, plan.left_empty(), replaced, added)


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


def _numbered(birth: Birth, before: Snapshot, number: int) -> Message:
    """The message to be put in, told what it replaces or stands for."""
    message = birth.message
    stands_for = before.numbers_in(birth.covers) if birth.covers else message.stands_for
    replaces = message.replaces if birth.origin else before.messages[birth.at].number
    return message.born_as(number, replaces, stands_for)


def _numbers(removals: Sequence[Removal], before: Snapshot) -> Iterator[int]:
    gone = (before.messages[cut.start : cut.stop] for cut in removals)
    return map(_NUMBER, chain.from_iterable(gone))


def places_of(plan: CompactionPlan, before: Snapshot) -> Callable[[Birth], int]:
    """Where what a plan bears stands: what replaces a row in its place, what comes back in its own,
    all else as it is put in."""
    places = Places(before, plan.left_empty())

    def of(birth: Birth) -> int:
        if birth.origin is None:
            return before.places[birth.at]
        if birth.place is not None:
            return birth.place
        return places.put_in(birth.at, birth.covers, is_summary=birth.message.is_summary)

    return of


def sizes_after(before: Snapshot, plan: CompactionPlan, messages: Sequence[Message]) -> Sizes:
    """Count the smaller side: what stays, or what changed."""
    removed = sum(cut.stop - cut.start for cut in plan.removals)
    if removed + len(plan.births) >= len(messages):
        return total(message.sizes for message in messages)
    gone = total(
        message.sizes for cut in plan.removals for message in before.messages[cut.start : cut.stop]
    )
    return before.sizes - gone + total(birth.message.sizes for birth in plan.births)
