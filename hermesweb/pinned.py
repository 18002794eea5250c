"""What pins hold, what they weigh, and which messages are worth one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from agentcore.events import EventKind
from agentcore.ledger import Ledger, suggest_pins
from agentcore.snapshot import Snapshot
from hermesweb import lives, pins
from hermesweb.models import AgentSession, StoredMessage

# From this share of the list on, pins leave compaction little to do.
WARN_SHARE = 0.30
SUGGESTED = 20
EVENTS = 500


@dataclass(frozen=True, slots=True)
class Pin:
    """`at` None where the event is too long ago to be looked for; `over`: its end has come; `pair`:
    the rest of its tool group, which it keeps in the list."""

    message: StoredMessage
    share: float
    alive: bool
    over: bool
    at: datetime | None
    pair: tuple[int, ...] = ()

    @property
    def path(self) -> str:
        """Whose commit it waits for."""
        return pins.path_of(self.message.pin_until)


@dataclass(frozen=True, slots=True)
class Ended:
    """Pins that a commit ended."""

    numbers: Sequence[int]
    path: str
    commit: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Suggestion:
    message: StoredMessage
    reason: str


@dataclass(frozen=True, slots=True)
class Drawer:
    """`share` of the list that pins hold; `ended`: the newest first."""

    pins: list[Pin]
    ended: list[Ended]
    suggestions: list[Suggestion]
    share: float

    @property
    def is_heavy(self) -> bool:
        return self.share >= WARN_SHARE


def drawer(session: AgentSession) -> Drawer:
    whole = max(session.bytes, 1)
    stored = session.messages.filter(pinned=True).defer("wire", "facts").select_related("pinned_by")
    rows = list(stored.order_by("number"))
    alive = set(
        session.lives.filter(to_revision=None, number__in=[row.number for row in rows]).values_list(
            "number", flat=True
        )
    )
    in_force, times = pins.in_force(session), _times(session)
    snapshot = lives.snapshot_of(session)
    pairs = _pairs(snapshot, in_force)
    return Drawer(
        [
            Pin(
                row,
                row.bytes / whole if row.number in alive else 0.0,
                alive=row.number in alive,
                over=row.number not in in_force,
                at=times.get(row.number),
                pair=pairs.get(row.number, ()),
            )
            for row in rows
        ],
        _ended(session)[:SUGGESTED],
        _suggestions(session, snapshot, {row.number for row in rows}),
        session.pinned_bytes / whole,
    )


def ended_of(session: AgentSession, number: int) -> Ended | None:
    """How a commit ended the pin of a message, where one did lately."""
    return next((one for one in _ended(session) if number in one.numbers), None)


def _ended(session: AgentSession) -> list[Ended]:
    events = session.events.filter(kind=EventKind.UNPINNED, data__cause="commit")
    newest = events.order_by("-seq").values_list("data", "at")[:EVENTS]
    return [Ended(told["numbers"], told["path"], told["commit"], at) for told, at in newest]


def _times(session: AgentSession) -> Mapping[int, datetime]:
    """When each was pinned last."""
    events = session.events.filter(kind=EventKind.PINNED).order_by("-seq")[:EVENTS]
    found: dict[int, datetime] = {}
    for facts, at in events.values_list("data", "at"):
        for number in facts["numbers"]:
            found.setdefault(number, at)
    return found


def _pairs(snapshot: Snapshot, in_force: frozenset[int]) -> Mapping[int, tuple[int, ...]]:
    """By the number of a pin: what else of its group is in the list."""
    found: dict[int, tuple[int, ...]] = {}
    for row in snapshot.indexes_of(in_force):
        group = [snapshot.messages[one].number for one in snapshot.group_at(row)]
        number = snapshot.messages[row].number
        found[number] = tuple(one for one in group if one != number)
    return found


def _suggestions(session: AgentSession, snapshot: Snapshot, pinned: set[int]) -> list[Suggestion]:
    """Rules and decisions that the list holds and no pin does."""
    talk = [message for message in snapshot.messages[snapshot.leading :] if not message.is_summary]
    reasons = {
        number: reason
        for number, reason in suggest_pins(Ledger.of(talk)).items()
        if number not in pinned
    }
    newest = sorted(reasons)[-SUGGESTED:]
    rows = session.messages.filter(number__in=newest).defer("wire", "facts").order_by("number")
    return [Suggestion(row, reasons[row.number]) for row in rows]
