from __future__ import annotations

from typing import Any

from django.http import Http404
from ninja import Query, Router, Status
from pydantic import Field

from agentcore.compaction.asked import CompactionOptions
from hermesweb import acts, diffs
from hermesweb.access import session_or_404
from hermesweb.api import previews
from hermesweb.api.instructions import ticket
from hermesweb.api.paging import Window, by_number
from hermesweb.api.plans import added_rows, changed_rows, usd
from hermesweb.api.strict import Body
from hermesweb.http import SignedIn
from hermesweb.models import Compaction

router = Router(tags=["compactions"])


class Wish(Body):
    """`preview`: only look at what it would come to; `preview_id`: make exactly what was shown."""

    preset: str = Field(default="", max_length=40)
    stage: str = Field(default="", max_length=40)
    keep_last: int | None = Field(default=None, ge=0, le=10_000)
    focus: str = Field(default="", max_length=2_000)
    up_to: int | None = Field(default=None, ge=1, le=10**9)
    summary: str | None = Field(default=None, max_length=1_000_000)
    model: str = Field(default="", max_length=60)
    preview: bool = False
    preview_id: str = Field(default="", max_length=60)

    @property
    def options(self) -> CompactionOptions:
        return CompactionOptions(
            self.preset,
            self.stage,
            self.keep_last,
            self.focus,
            self.up_to,
            self.summary,
            self.model,
        )


@router.post("/sessions/{id}/compactions", response={200: Any, 202: Any})
def compact(request: SignedIn, id: str, body: Wish | None = None) -> Status[dict[str, Any]]:
    """Queues a compaction by hand: it is made at the next border, whatever the threshold. With
    `preview` nothing is queued: the plan is worked out and kept for 24 hours."""
    session = session_or_404(request.user, id)
    wish = body or Wish()
    if wish.preview:
        found, plan = acts.preview(request.user, session, wish.options)
        return Status(200, previews.shape(session, found, plan))
    if wish.preview_id:
        if wish.model_fields_set != {"preview_id"}:
            raise acts.Invalid(
                "a preview has its options already: leave the others out", "preview_id"
            )
        made = acts.apply_preview(request.user, session, wish.preview_id)
    else:
        acts.plan_of(session, wish.options)
        made = acts.compact_now(request.user, session, wish.options)
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
    """The oldest first, failed attempts and those that changed nothing too; sizes in bytes."""
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
        "left_out": row.left_out,
        "hooks": row.hooks,
        "detail": row.detail or None,
        "fates": changed_rows(rows),
        "added": added_rows(rows, stands_for),
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
        "cost": usd(row.cost),
        "seconds": row.seconds,
        "at": row.at,
    }
