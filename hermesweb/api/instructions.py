from __future__ import annotations

from typing import Any

from django.db.models.functions import Length, Substr
from ninja import Query, Router, Status

from agentcore.kinds import shown
from agentcore.redact import AHEAD_CHARS
from hermesweb import acts, wishes
from hermesweb.access import session_or_404
from hermesweb.api.paging import Window, page
from hermesweb.api.strict import Body
from hermesweb.http import SignedIn
from hermesweb.models import AgentSession, Instruction

router = Router(tags=["instructions"])

# Of a text in the list; `chars` tells how long the whole is.
LISTED_CHARS = 2_000


class Text(Body):
    text: str


@router.post("/sessions/{id}/instructions", response={202: Any})
def send(request: SignedIn, id: str, body: Text) -> Status[dict[str, Any]]:
    """Queues an instruction; a worker makes it a message at the next border."""
    session = session_or_404(request.user, id)
    queued = acts.send(request.user, session, body.text)
    return Status(202, ticket(session, queued))


@router.get("/sessions/{id}/instructions")
def waiting(request: SignedIn, id: str, window: Query[Window]) -> dict[str, Any]:
    """The queue, first come first; of each text its first 2,000 characters, secrets masked."""
    rows = wishes.queued(session_or_404(request.user, id))
    if after := window.numbers(1):
        rows = rows.filter(pk__gt=after[0])
    found = rows.defer("text").select_related("by")
    start = Substr("text", 1, LISTED_CHARS + AHEAD_CHARS)
    found = found.annotate(start=start, chars=Length("text"))
    return page(list(found[: window.limit + 1]), window, lambda row: str(row.pk), _shape)


@router.patch("/sessions/{id}/instructions/{int:instruction}")
def edit(request: SignedIn, id: str, instruction: int, body: Text) -> dict[str, Any]:
    """Of a message that waits; 409 once it was taken or withdrawn."""
    session = session_or_404(request.user, id)
    return ticket(session, acts.edit(request.user, session, instruction, body.text))


@router.delete("/sessions/{id}/instructions/{int:instruction}", response={204: None})
def withdraw(request: SignedIn, id: str, instruction: int) -> Status[None]:
    """Of any wish that waits, a compaction too; 409 once it was taken."""
    acts.withdraw(request.user, session_or_404(request.user, id), instruction)
    return Status(204, None)


def ticket(session: AgentSession, queued: Instruction) -> dict[str, int]:
    """What one needs to find a queued wish again; `place` 1 is the next to be taken."""
    return {"id": queued.pk, "place": wishes.queued(session).filter(pk__lte=queued.pk).count()}


def _shape(row: Any) -> dict[str, Any]:
    return {
        "id": row.pk,
        "kind": row.kind,
        "state": row.state,
        "text": shown(row.start, LISTED_CHARS),
        "chars": row.chars,
        "by": str(row.by) if row.by else None,
        "at": row.at,
    }
