from __future__ import annotations

from typing import Any

from ninja import Router, Status

from hermesweb import acts
from hermesweb.access import session_or_404
from hermesweb.api.sessions import shape
from hermesweb.api.strict import Body
from hermesweb.http import SignedIn
from hermesweb.states import state_of

router = Router(tags=["sessions"])


class Fork(Body):
    """`at` is `turn:42`, `REV` or `REV.NUMBER`. What is empty is as in the source; one that was
    recorded elsewhere needs a workspace and a model."""

    at: str
    text: str = ""
    workspace: str = ""
    model: str = ""
    profile: str = ""


@router.post("/sessions/{id}/forks", response={201: Any})
def fork(request: SignedIn, id: str, body: Fork) -> Status[dict[str, Any]]:
    """A new session that begins with the list at a state. With `text` the instruction of that turn
    is replaced, and the run begins at once."""
    source = session_or_404(request.user, id)
    values = body.dict()
    state = state_of(source, values.pop("at"))
    return Status(201, shape(acts.fork(request.user, source, state, **values)))
