from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal

from django.db.models import Prefetch, Q
from django.http import Http404
from ninja import Query, Router, Status
from pydantic import Field

from agentcore.compaction.plan import Fate
from agentcore.redact import mask
from hermesweb import acts
from hermesweb.access import session_or_404, session_with
from hermesweb.api.instructions import ticket
from hermesweb.api.paging import Window
from hermesweb.api.strict import Body
from hermesweb.http import SignedIn
from hermesweb.lives import lives_at
from hermesweb.models import AgentSession, Instruction, Life, StoredMessage
from hermesweb.rewording import rewording
from hermesweb.states import state_of

router = Router(tags=["messages"])


class Wanted(Window):
    """`at` is `turn:42`, `REV` or `REV.NUMBER`, and goes with the view `model`."""

    view: Literal["model", "all"] = "model"
    at: str = ""


class Pin(Body):
    reason: str = ""
    until: str = Field(default="session", pattern=r"^(session|turn:[1-9][0-9]{0,8}|commit:.+)$")


@router.get("/sessions/{id}/messages")
def many(request: SignedIn, id: str, wanted: Query[Wanted]) -> dict[str, Any]:
    """A page of what the model sees, now or at a state, or of all that was ever said."""
    session = session_or_404(request.user, id)
    if wanted.view == "all" and wanted.at:
        raise acts.Invalid("all that was said has no state: leave out at, or view", "at")
    if wanted.view == "all":
        return _archive(session, wanted)
    return _list(session, wanted)


@router.get("/sessions/{id}/messages/{int:number}")
def one(request: SignedIn, id: str, number: int, raw: bool = False) -> dict[str, Any]:
    """With `wire`, the message as it was sent, its `masked` secrets left out of it; `raw` byte for
    byte, with the permission raw."""
    session = session_or_404(request.user, id)
    row = _with_lives(session).select_related("body").filter(number=number).first()
    if row is None:
        raise Http404(f"there is no message {number}")
    if raw:
        acts.read_raw(request.user, session, f"message {number}")
    wire, masked = (row.text, 0) if raw else mask(row.text)
    index = _indexes(session).get(number)
    return {
        **shape(row, index),
        "wire": wire,
        "masked": masked,
        "original_bytes": row.original_bytes,
        "kept_bytes": row.kept_bytes,
    }


@router.get("/sessions/{id}/messages/{int:number}/words/{int:other}")
def words(request: SignedIn, id: str, number: int, other: int) -> dict[str, Any]:
    """What message `other`, which stands for `number` in a diff, says differently, word by word;
    `whole`: too long to compare. Of long parts the middle is left out."""
    session = session_with(request.user, id, number)
    session_with(request.user, id, other)
    bodies = session.messages.select_related("body")
    before, after = (bodies.get(number=one) for one in (number, other))
    found = rewording(before.text, after.text)
    return {
        "before": number,
        "after": other,
        "whole": found.is_whole,
        "parts": [asdict(part) for part in found.parts],
    }


@router.put("/sessions/{id}/messages/{int:number}/pin")
def pin(request: SignedIn, id: str, number: int, body: Pin | None = None) -> dict[str, Any]:
    """Every compaction keeps it, `until` the end of the session, `turn:N`, or `commit:PATH`: a run
    commits that file or folder. Refused, with the arithmetic, where nothing else would fit, and
    where no git tells of commits."""
    session = session_with(request.user, id, number)
    wish = body or Pin()
    acts.pin(request.user, session, [number], reason=wish.reason, until=wish.until)
    return pinned(session, [number], pinned=True)


@router.delete("/sessions/{id}/messages/{int:number}/pin")
def unpin(request: SignedIn, id: str, number: int) -> dict[str, Any]:
    """Compactions may take it from now on."""
    session = session_with(request.user, id, number)
    acts.unpin(request.user, session, [number])
    return pinned(session, [number], pinned=False)


@router.put("/sessions/{id}/messages/{int:number}/excluded", response={202: Any})
def exclude(request: SignedIn, id: str, number: int) -> Status[dict[str, Any]]:
    """Its group leaves at the next border; a one-line note stands in its place."""
    session = session_with(request.user, id, number)
    return Status(202, ticket(session, acts.exclude(request.user, session, [number])))


@router.post("/sessions/{id}/messages/{int:number}/restore", response={202: Any})
def restore(request: SignedIn, id: str, number: int) -> Status[dict[str, Any]]:
    """Brings it back with its group, at its old place."""
    session = session_with(request.user, id, number)
    return Status(202, ticket(session, acts.restore(request.user, session, [number])))


@router.post("/sessions/{id}/messages/{int:number}/erase", response={200: Any, 202: Any})
def erase(request: SignedIn, id: str, number: int) -> Status[Any]:
    """For staff only, and for good: length and hash take the place of the text; 202 while a worker
    has the session, which does it at its next border."""
    session = session_with(request.user, id, number)
    done = acts.erase(request.user, session, number)
    if isinstance(done, Instruction):
        return Status(202, ticket(session, done))
    return Status(200, done)


@router.put("/sessions/{id}/messages/{int:number}/checkpoint")
def set_checkpoint(request: SignedIn, id: str, number: int) -> dict[str, Any]:
    """A summary that goes up to a checkpoint ends before the last one."""
    acts.checkpoint(request.user, session_with(request.user, id, number), number)
    return {"number": number, "checkpoint": True}


@router.delete("/sessions/{id}/messages/{int:number}/checkpoint")
def clear_checkpoint(request: SignedIn, id: str, number: int) -> dict[str, Any]:
    """The message stays; it is no checkpoint any more."""
    acts.checkpoint(request.user, session_with(request.user, id, number), number, on=False)
    return {"number": number, "checkpoint": False}


def shape(row: StoredMessage, index: int | None) -> dict[str, Any]:
    """`lives` pairs the revisions from which and up to which it was in the list."""
    lives = list(row.lives.all())
    return {
        "number": row.number,
        "index": index,
        "role": row.role,
        "categories": row.categories,
        "bytes": row.bytes,
        "tokens": row.counted,
        "tokens_are": row.tokens_are,
        "counter": row.counter or None,
        "pinned": row.pinned,
        "checkpoint": row.checkpoint,
        "lives": [[life.from_revision, life.to_revision] for life in lives],
        "fate": _fate(row, lives),
        "tool": row.tool or None,
        "status": row.status or None,
        "turn": row.turn,
        "preview": row.preview,
        "at": row.at,
    }


def _fate(row: StoredMessage, lives: Sequence[Life]) -> str:
    if any(life.to_revision is None for life in lives):
        return Fate.PINNED if row.pinned else Fate.KEPT
    return lives[-1].fate if lives else ""


def _list(session: AgentSession, wanted: Wanted) -> dict[str, Any]:
    """The cursor is place, number and index of the last row."""
    lives = lives_at(session, state_of(session, wanted.at) if wanted.at else None)
    first = 0
    if after := wanted.numbers(3):
        place, number, index = after
        lives = lives.filter(Q(place__gt=place) | Q(place=place, number__gt=number))
        first = index + 1
    keys = list(lives.values_list("place", "number")[: wanted.limit + 1])
    shown = keys[: wanted.limit]
    rows = {row.number: row for row in _with_lives(session, [number for _, number in shown])}
    items = [shape(rows[number], index) for index, (_, number) in enumerate(shown, first)]
    more = len(keys) > len(shown)
    last = ".".join(map(str, (*shown[-1], first + len(shown) - 1))) if more else None
    return {"items": items, "next": last}


def _archive(session: AgentSession, wanted: Wanted) -> dict[str, Any]:
    after = wanted.numbers(1)
    numbers = session.messages.filter(number__gt=after[0] if after else 0).order_by("number")
    keys = list(numbers.values_list("number", flat=True)[: wanted.limit + 1])
    shown = keys[: wanted.limit]
    indexes = _indexes(session)
    items = [shape(row, indexes.get(row.number)) for row in _with_lives(session, shown)]
    return {"items": items, "next": str(shown[-1]) if len(keys) > len(shown) else None}


def _with_lives(session: AgentSession, numbers: Sequence[int] | None = None) -> Any:
    """Rows in order of number, with their lives; the texts stay where they are."""
    rows = session.messages.order_by("number")
    if numbers is not None:
        rows = rows.filter(number__in=numbers).defer("wire", "facts")
    return rows.prefetch_related(Prefetch("lives", Life.objects.order_by("from_revision")))


def _indexes(session: AgentSession) -> dict[int, int]:
    """By number, the place in the list now, from 0."""
    numbers = session.lives.filter(to_revision=None).order_by("place", "number")
    return {number: index for index, number in enumerate(numbers.values_list("number", flat=True))}


def pinned(session: AgentSession, numbers: Sequence[int], *, pinned: bool) -> dict[str, Any]:
    return {
        "numbers": list(numbers),
        "pinned": pinned,
        "pinned_bytes": session.pinned_bytes,
        "floor": acts.floor(session),
    }
