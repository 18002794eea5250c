from __future__ import annotations

from typing import Any

from django.http import Http404
from ninja import Query, Router, Status
from pydantic import Field

from hermesweb import acts, diffs
from hermesweb.access import session_or_404
from hermesweb.api.instructions import ticket
from hermesweb.api.paging import Window, by_number
from hermesweb.api.strict import Body
from hermesweb.http import SignedIn
from hermesweb.models import Compaction

router = Router(tags=["compactions"])


class Wish(Body):
    focus: str = Field(default="", max_length=2_000)


@router.post("/sessions/{id}/compactions", response={202: Any})
def compact(request: SignedIn, id: str, body: Wish | None = None) -> Status[dict[str, Any]]:
    """Queues a compaction by hand: it is made at the next border, whatever the threshold."""
    session = session_or_404(request.user, id)
    made = acts.compact_now(request.user, session, (body or Wish()).focus)
    queued = made.instruction
    assert queued is not None
    return Status(202, {"number": made.number, **ticket(session, queued)})


@router.post("/sessions/{id}/compactions/{int:number}/undo", response={202: Any})
def undo(request: SignedIn, id: str, number: int) -> Status[dict[str, Any]]:
    """Takes back what it did, while it is the last change and no request was sent since."""
    session = session_or_404(request.user, id)
    if not session.stored_compactions.filter(number=number).exists():
        raise Http404(f"there is no compaction {number}")
    return Status(202, ticket(session, acts.undo(request.user, session, number)))


@router.get("/sessions/{id}/compactions")
def many(request: SignedIn, id: str, window: Query[Window]) -> dict[str, Any]:
    session = session_or_404(request.user, id)
    return by_number(session.stored_compactions.select_related("by"), window, short)


@router.get("/sessions/{id}/compactions/{int:number}")
def one(request: SignedIn, id: str, number: int) -> dict[str, Any]:
    """With the fate of each row that was not kept, and where the added ones come from."""
    session = session_or_404(request.user, id)
    row = session.stored_compactions.select_related("by").filter(number=number).first()
    if row is None:
        raise Http404(f"there is no compaction {number}")
    rows = diffs.rows_of(session, row)
    added = [one.number for one in rows if one.fate is None]
    stands_for = dict(session.messages.filter(number__in=added).values_list("number", "stands_for"))
    return {
        **short(row),
        "before": {"size": row.before, "breakdown": row.breakdown_before},
        "after": {"size": row.after, "breakdown": row.breakdown_after},
        "stages": row.stages,
        "checks": row.checks,
        "survival": row.survival,
        "detail": row.detail or None,
        "fates": [
            {
                "number": one.number,
                "index": one.index_before,
                "fate": one.fate,
                "stage": one.stage or None,
                "bytes_before": one.bytes_before,
                "bytes_after": one.bytes_after,
            }
            for one in rows
            if one.fate and not one.is_unchanged
        ],
        "added": [
            {
                "number": one.number,
                "origin": one.origin,
                "bytes": one.bytes_after,
                "stands_for": stands_for.get(one.number, []),
            }
            for one in rows
            if one.fate is None
        ],
    }


def short(row: Compaction) -> dict[str, Any]:
    """`before` and `after` are bytes, `used_before` and `used_after` in `unit`; `reason` says why
    nothing was changed."""
    return {
        "number": row.number,
        "state": row.state,
        "changed": row.revision is not None,
        "reason": row.failure or None,
        "trigger": row.trigger,
        "by": str(row.by) if row.by else None,
        "turn": row.turn,
        "revision": row.revision,
        "before": row.before,
        "after": row.after,
        "used_before": row.used_before,
        "used_after": row.used_after,
        "limit": row.limit,
        "unit": row.unit or None,
        "model": row.model or None,
        "tokens": row.usage,
        "cost": str(row.cost) if row.cost is not None else None,
        "seconds": row.seconds,
        "at": row.at,
    }
