"""What a change of the list did to each row: read from lives, never guessed from text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from agentcore.compaction.plan import Birth, CompactionPlan, Fate, Origin, apply_plan
from agentcore.messages import Message
from agentcore.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Entry:
    """A message in the list before, after, or both. `fate` and `ended_stage`: how its life ended
    with the change; `origin` and `begun_stage`: how it began with it. Without them it was there
    before and stayed."""

    number: int
    place: int
    bytes: int
    pinned: bool = False
    replaces: int | None = None
    before: bool = True
    after: bool = True
    fate: Fate | None = None
    ended_stage: str = ""
    origin: Origin | None = None
    begun_stage: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One row before with its one fate, or one row after with its origin. `replaced_by` is the
    number of what stands in its place; `index_*` count from 0, None where the row is not there."""

    number: int
    index_before: int | None
    index_after: int | None
    bytes_before: int | None
    bytes_after: int | None
    fate: Fate | None = None
    origin: Origin | None = None
    stage: str = ""
    replaced_by: int | None = None

    @property
    def name(self) -> str:
        """Its fate or its origin."""
        return str(self.fate or self.origin)

    @property
    def is_unchanged(self) -> bool:
        return self.fate in (Fate.KEPT, Fate.PINNED)

    @property
    def facts(self) -> dict[str, Any]:
        """The row as `diff --json` gives it."""
        return {
            "number": self.number,
            "index_before": self.index_before,
            "index_after": self.index_after,
            **({"fate": self.fate} if self.fate else {"origin": self.origin}),
            "stage": self.stage or None,
            "bytes_before": self.bytes_before,
            "bytes_after": self.bytes_after,
            **({"replaced_by": self.replaced_by} if self.replaced_by else {}),
        }


# A message and its index in the list after.
_Placed: TypeAlias = tuple[int, Entry]
# A plan with the list that it was made on.
Change: TypeAlias = tuple[CompactionPlan, Snapshot]


def rows(entries: Iterable[Entry]) -> list[Row]:
    """Rows in the order of the lists (place, number); what replaces a row shares that row."""
    ordered = sorted(entries, key=lambda entry: (entry.place, entry.number))
    before = [entry for entry in ordered if entry.before]
    after = [entry for entry in ordered if entry.after]
    index_before = {entry.number: index for index, entry in enumerate(before)}
    index_after = {entry.number: index for index, entry in enumerate(after)}
    heirs = _heirs(after, index_before, index_after)
    taken = {entry.number for _, entry in heirs.values()}
    return [
        _row(entry, index_before, index_after, heirs.get(entry.number))
        for entry in ordered
        if entry.before or (entry.after and entry.number not in taken)
    ]


def entries(
    before: Snapshot, after: Snapshot, changes: Iterable[Change], *, pins: frozenset[int]
) -> list[Entry]:
    """The messages of two lists that plans, one after the other, led from one to the other.
    `pins` are numbers."""
    ends: dict[int, tuple[Fate, str]] = {}
    births: dict[int, tuple[Birth, Message]] = {}
    for plan, on in changes:
        for cut in plan.removals:
            gone = on.messages[cut.start : cut.stop]
            ends.update((message.number, (cut.fate, cut.stage)) for message in gone)
        _, revision = apply_plan(plan, on)
        for birth, (message, _) in zip(plan.births, revision.begun, strict=True):
            births[message.number] = birth, message
    left = {message.number for message in after.messages}
    known = {message.number for message in before.messages}
    return [
        *(
            _entry_before(message, place, message.number in left, pins, ends)
            for message, place in zip(before.messages, before.places, strict=True)
        ),
        *(
            _entry_born(message, place, births, known)
            for message, place in zip(after.messages, after.places, strict=True)
            if message.number not in known
        ),
    ]


def totals(found: Sequence[Row]) -> dict[str, dict[str, int]]:
    """Messages and bytes of the two lists."""
    sides = {
        "before": [row.bytes_before for row in found if row.bytes_before is not None],
        "after": [row.bytes_after for row in found if row.bytes_after is not None],
    }
    return {side: {"messages": len(all_), "bytes": sum(all_)} for side, all_ in sides.items()}


def _entry_before(
    message: Message,
    place: int,
    stays: bool,
    pins: frozenset[int],
    ends: Mapping[int, tuple[Fate, str]],
) -> Entry:
    number, size = message.number, message.sizes.bytes
    if stays:
        return Entry(number, place, size, pinned=number in pins)
    fate, stage = ends[number]
    return Entry(number, place, size, after=False, fate=fate, ended_stage=stage)


def _entry_born(
    message: Message,
    place: int,
    births: Mapping[int, tuple[Birth, Message]],
    known: frozenset[int] | set[int],
) -> Entry:
    """What replaces something that was itself born on the way replaces what that one did."""
    birth, _ = births[message.number]
    replaces = message.replaces
    while replaces is not None and replaces not in known:
        replaces = births[replaces][1].replaces
    return Entry(
        message.number,
        place,
        message.sizes.bytes,
        replaces=replaces,
        before=False,
        origin=birth.origin,
        begun_stage=birth.stage,
    )


def _heirs(
    after: Sequence[Entry], index_before: dict[int, int], index_after: dict[int, int]
) -> dict[int, _Placed]:
    """By the number of a row that went: what stands in its place."""
    return {
        entry.replaces: (index_after[entry.number], entry)
        for entry in after
        if not entry.before
        and entry.origin is None
        and entry.replaces in index_before
        and entry.replaces not in index_after
    }


def _row(
    entry: Entry,
    index_before: dict[int, int],
    index_after: dict[int, int],
    heir: _Placed | None,
) -> Row:
    number = entry.number
    if not entry.before:
        origin = entry.origin or Origin.APPENDED
        size, stage = entry.bytes, entry.begun_stage
        return Row(number, None, index_after[number], None, size, origin=origin, stage=stage)
    index = index_before[number]
    if entry.after:
        fate = Fate.PINNED if entry.pinned else Fate.KEPT
        return Row(number, index, index_after[number], entry.bytes, entry.bytes, fate=fate)
    place, other = heir if heir else (None, None)
    return Row(
        number,
        index,
        place,
        entry.bytes,
        other.bytes if other else None,
        fate=entry.fate or Fate.DROPPED,
        stage=entry.ended_stage,
        replaced_by=other.number if other else None,
    )
