from __future__ import annotations

from typing import Any

from ninja import Router
from pydantic import Field

from agentcore.messages import ToolCall
from agentcore.wire import dumps
from hermesweb import acts, approvals
from hermesweb.access import session_or_404
from hermesweb.acts.approving import REASON_CHARS
from hermesweb.api.strict import Body
from hermesweb.http import SignedIn
from hermesweb.models import Instruction

router = Router(tags=["approvals"])

# Of a call's arguments in the list; its message has the whole.
LISTED_CHARS = 2_000


class Approval(Body):
    """`arguments` are run in place of the model's; `reason` of a no is read by the model;
    `question` is one of the list, for calls whose ids are alike."""

    allow: bool
    reason: str = Field(default="", max_length=REASON_CHARS)
    arguments: dict[str, Any] | None = None
    question: int | None = None


@router.get("/sessions/{id}/approvals")
def waiting(request: SignedIn, id: str) -> dict[str, Any]:
    """What the run waits for, in the order of the calls; of arguments their first 2,000 characters,
    secrets masked. `call` is `compaction` where the list is to be compacted, with the `hook` that
    asked for it and `why`."""
    session = session_or_404(request.user, id)
    rows = list(approvals.pending(session))
    calls = approvals.calls_of(session, rows)
    return {"items": [_shape(row, calls.get(row.pk)) for row in rows], "next": None}


@router.post("/sessions/{id}/approvals/{path:call}")
def approve(request: SignedIn, id: str, call: str, body: Approval) -> dict[str, Any]:
    """Answers a run that waits; `call` is a tool call's id, or `compaction`. An argument that is
    left masked, as it was listed, stays as the model wrote it. A no to a compaction holds it until
    the list has grown."""
    session = session_or_404(request.user, id)
    acts.answer(
        request.user,
        session,
        call,
        body.allow,
        reason=body.reason,
        arguments=body.arguments,
        question=body.question,
    )
    return {"call": call, "allow": body.allow, "status": session.status}


def _shape(row: Instruction, call: ToolCall | None) -> dict[str, Any]:
    asked = {
        "question": row.pk,
        "call": row.options["what"],
        "at": row.at,
        "ends_at": row.ends_at,
    }
    if call is None:
        return {**asked, "hook": row.options.get("hook"), "why": row.options.get("why")}
    arguments, masked = approvals.readable(call)
    text = dumps(arguments)
    return {
        **asked,
        "tool": row.options["tool"],
        "message": row.options["message"],
        "arguments": text[:LISTED_CHARS],
        "chars": len(text),
        "masked": masked,
    }
