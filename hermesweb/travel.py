"""The states that a session's list went through, and the list at one of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, QuerySet, Sum
from django.utils.translation import gettext as _

from agentcore.breakdown import NOTHING, Breakdown
from agentcore.snapshot import State
from hermesweb import lives
from hermesweb.models import AgentSession, Life, StoredTurn

ROWS = 100


@dataclass(frozen=True, slots=True)
class Stop:
    """A state worth looking at: the end of a turn, or what a revision left; `cause` is the kind of
    the event that wrote it, empty for a turn."""

    state: State
    turn: int | None = None
    cause: str = ""

    @property
    def label(self) -> str:
        if self.turn:
            return _("turn %(turn)s") % {"turn": self.turn}
        return _("revision %(number)s") % {"number": self.state.revision}


@dataclass(frozen=True, slots=True)
class Moment:
    """The list at a state: a page of its rows from `start`, and the totals of all."""

    state: State
    rows: list[Life]
    messages: int
    bytes: int
    shares: list[tuple[str, int, float]]
    next_start: int | None
    turn: StoredTurn | None


def stops(session: AgentSession) -> list[Stop]:
    """In the order of time; where a turn and a revision end alike, the revision is told."""
    turns = session.stored_turns.values_list("ended_revision", "ended_number", "number")
    changes = session.revisions.values_list("number", "last_number", "cause")
    found = {(revision, number): Stop(State(revision, number), turn=turn)
             for revision, number, turn in turns}  # fmt: skip
    found |= {(revision, number): Stop(State(revision, number), cause=cause)
              for revision, number, cause in changes}  # fmt: skip
    now = session.revision, session.last_number
    found.setdefault(now, Stop(State(*now)))
    return [found[key] for key in sorted(found)]


def place_of(found: Sequence[Stop], state: State) -> int:
    """The stop that the state is, else the last one before it; 0 for what lies before all."""
    keys = [(stop.state.revision, stop.state.last_number) for stop in found]
    return max(bisect_right(keys, (state.revision, state.last_number)) - 1, 0)


def step(found: Sequence[Stop], place: int, by: int, *, revisions: bool = False) -> Stop | None:
    """The next stop in a direction; with `revisions` the next change of the list."""
    places = range(place + by, len(found) if by > 0 else -1, by)
    return next((found[at] for at in places if not revisions or found[at].cause), None)


def moment(session: AgentSession, state: State, start: int = 0) -> Moment:
    held = lives.lives_at(session, state)
    whole = held.order_by().aggregate(messages=Count("pk"), bytes=Sum("message__bytes"))
    rows = list(_light(held)[start : start + ROWS + 1])
    size = whole["bytes"] or 0
    return Moment(
        state,
        rows[:ROWS],
        whole["messages"],
        size,
        _shares(held, size),
        start + ROWS if len(rows) > ROWS else None,
        session.stored_turns.filter(
            ended_revision=state.revision, ended_number=state.last_number
        ).first(),
    )


def _light(held: QuerySet[Life]) -> QuerySet[Life]:
    return held.select_related("message").defer("message__wire", "message__facts")


def _shares(held: QuerySet[Life], size: int) -> list[tuple[str, int, float]]:
    """Category, bytes and share of the list, the largest first."""
    parts = NOTHING.breakdown
    for found in held.order_by().values_list("message__categories", flat=True):
        parts += Breakdown(found)
    told = sorted(parts.items(), key=lambda part: -part[1])
    return [(str(name), part, part / size) for name, part in told if part]
