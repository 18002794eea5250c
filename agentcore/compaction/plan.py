"""What a change of the list leaves out and adds. Everything it does not name is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from operator import sub
from typing import Protocol

from agentcore.breakdown import Sizes, total
from agentcore.errors import PlanError
from agentcore.messages import Message
from agentcore.pressure import Pressure
from agentcore.profile import Stage
from agentcore.snapshot import Snapshot, State


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
    that row."""

    at: int
    message: Message
    origin: Origin | None
    stage: str


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """`removals` and `births` are in the order of the list that they are computed on.

    `summarizes`: the messages whose summary is wanted in place of the omission note among the
    births; the plan is whole without it.
    """

    base: State
    removals: tuple[Removal, ...]
    births: tuple[Birth, ...]
    summarizes: tuple[Message, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.removals and not self.births


@dataclass(frozen=True, slots=True)
class Situation:
    """What a strategy may know. `room`: bytes that the list may hold to be at the target;
    `forced`: asked for by a person."""

    snapshot: Snapshot
    pressure: Pressure
    stage: Stage
    room: int
    pins: frozenset[int] = frozenset()
    forced: bool = False


class CompactionStrategy(Protocol):
    """Pure and sync. `priority` orders strategies of one preset, low first."""

    priority: int

    def should_trigger(self, situation: Situation) -> bool: ...

    def compact(self, situation: Situation) -> CompactionPlan: ...


@dataclass(frozen=True, slots=True)
class Revision:
    """One change of the list other than appending. `begun` pairs each message with its place."""

    number: int
    ended: tuple[int, ...]
    begun: tuple[tuple[Message, int], ...]
    last_number: int


def apply_plan(plan: CompactionPlan, before: Snapshot) -> tuple[Snapshot, Revision]:
    """The list after the plan. Births get the numbers after the last one born."""
    _check_rows(plan, before)
    births = _numbered(plan.births, before.state.last_number)
    messages: list[Message] = []
    places: list[int] = []
    begun: list[tuple[Message, int]] = []
    row = 0
    waiting = list(reversed(births))
    for start, stop in [
        *((cut.start, cut.stop) for cut in plan.removals),
        (len(before.messages),) * 2,
    ]:
        while waiting and waiting[-1].at <= start:
            birth = waiting.pop()
            row = _copy(before, (row, birth.at), messages, places)
            place = _place(birth, before)
            messages.append(birth.message)
            places.append(place)
            begun.append((birth.message, place))
        _copy(before, (row, start), messages, places)
        row = stop
    last = before.state.last_number + len(births)
    revision = before.state.revision + 1
    ended = tuple(m.number for cut in plan.removals for m in before.messages[cut.start : cut.stop])
    after = Snapshot(
        tuple(messages), tuple(places), _sizes_after(before, plan, messages), State(revision, last)
    )
    return after, Revision(revision, ended, tuple(begun), last)


def runs_of(numbers: Sequence[int]) -> tuple[range, ...]:
    """Ascending runs of consecutive numbers, in the order given."""
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


def _numbered(births: Sequence[Birth], last_number: int) -> list[Birth]:
    return [
        replace(birth, message=birth.message.numbered(last_number + count))
        for count, birth in enumerate(births, 1)
    ]


def _copy(
    before: Snapshot, rows: tuple[int, int], messages: list[Message], places: list[int]
) -> int:
    start, stop = rows
    if start < stop:
        messages.extend(before.messages[start:stop])
        places.extend(before.places[start:stop])
    return max(start, stop)


def _place(birth: Birth, before: Snapshot) -> int:
    """What replaces takes the place of its row; what is added stands after the row in front."""
    if birth.origin is None:
        return before.places[birth.at]
    return before.places[birth.at - 1] + 1 if birth.at else 1


def _sizes_after(before: Snapshot, plan: CompactionPlan, messages: Sequence[Message]) -> Sizes:
    """Count the smaller side: what stays, or what changed."""
    removed = sum(cut.stop - cut.start for cut in plan.removals)
    if removed + len(plan.births) >= len(messages):
        return total(message.sizes for message in messages)
    gone = total(
        message.sizes for cut in plan.removals for message in before.messages[cut.start : cut.stop]
    )
    return before.sizes - gone + total(birth.message.sizes for birth in plan.births)
