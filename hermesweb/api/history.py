"""What happened: turns, revisions, events, and what lies between two states."""

from __future__ import annotations

from typing import Any

from ninja import Query, Router, Schema
from pydantic import Field

from agentcore.diff import totals
from hermesweb import diffs
from hermesweb.access import session_or_404
from hermesweb.acts import Invalid
from hermesweb.api.paging import Window, by_number
from hermesweb.charts import turn_facts
from hermesweb.http import SignedIn
from hermesweb.models import Revision, SessionEvent, StoredTurn
from hermesweb.states import state_of
from hermesweb.turn_ledger import turn_ledger

router = Router(tags=["history"])

MOST_SEQ = 10**15


class Since(Schema):
    after: int = Field(default=0, ge=0, le=MOST_SEQ)
    limit: int = Field(default=200, ge=1, le=1_000)


@router.get("/sessions/{id}/turns")
def turns(request: SignedIn, id: str, window: Query[Window]) -> dict[str, Any]:
    """The oldest first; sizes in bytes, `used` and `limit` in `unit`."""
    session = session_or_404(request.user, id)
    return by_number(session.stored_turns.all(), window, _turn)


@router.get("/sessions/{id}/ledger")
def ledger(request: SignedIn, id: str) -> dict[str, Any]:
    """All turns with what each sent and what compacting saved, the epochs between compactions, and
    the totals; sizes in bytes, cost in USD or null where it is not known."""
    return turn_ledger(session_or_404(request.user, id)).facts


@router.get("/sessions/{id}/revisions")
def revisions(request: SignedIn, id: str, window: Query[Window]) -> dict[str, Any]:
    """Changes of the list other than appending; `ended` and `begun` count messages."""
    return by_number(session_or_404(request.user, id).revisions.all(), window, _revision)


@router.get("/sessions/{id}/events")
def events(request: SignedIn, id: str, since: Query[Since]) -> dict[str, Any]:
    """`last` is the newest event of the session: there are more while it is past those given."""
    session = session_or_404(request.user, id)
    rows = session.events.filter(seq__gt=since.after).order_by("seq")[: since.limit]
    return {"events": [_event(row) for row in rows], "last": session.seq}


@router.get("/sessions/{id}/diff")
def diff(
    request: SignedIn, id: str, start: str = Query(alias="from"), to: str = Query()
) -> dict[str, Any]:
    """What became of each row between two states, and where the others come from."""
    session = session_or_404(request.user, id)
    first, last = state_of(session, start, "from"), state_of(session, to, "to")
    if (first.revision, first.last_number) > (last.revision, last.last_number):
        raise Invalid(f"{start} comes after {to}: turn them round", "from")
    rows = diffs.between(session, first, last)
    return {"rows": [row.facts for row in rows], **totals(rows)}


def _turn(row: StoredTurn) -> dict[str, Any]:
    return {
        **turn_facts(row),
        "breakdown": row.breakdown,
        "window": {"tokens": row.window_tokens, "from": row.window_from},
        "usage": row.usage,
        "prices": row.prices or None,
        "seconds": row.seconds,
    }


def _revision(row: Revision) -> dict[str, Any]:
    return {
        "number": row.number,
        "cause": row.cause,
        "at": row.at,
        "last_number": row.last_number,
        "ended": row.ended,
        "begun": row.begun,
    }


def _event(row: SessionEvent) -> dict[str, Any]:
    return {"seq": row.seq, "kind": row.kind, "data": row.data, "at": row.at}
