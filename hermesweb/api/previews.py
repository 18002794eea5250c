"""Compactions that are looked at: the plan as it is kept, and the summary that a model writes."""

from __future__ import annotations

from typing import Any

from ninja import Router, Status

from hermesweb import acts
from hermesweb.access import session_or_404
from hermesweb.api import plans
from hermesweb.http import SignedIn
from hermesweb.models import AgentSession, Preview
from hermesweb.planning import Planned

router = Router(tags=["compactions"])


@router.get("/sessions/{id}/previews/{preview}")
def one(request: SignedIn, id: str, preview: str) -> dict[str, Any]:
    """The plan as it was shown; `next` names the preview that has the summary, once it is written.
    409 where the list was revised since."""
    session = session_or_404(request.user, id)
    found = acts.preview_in_force(session, preview)
    plan = acts.plan_of(session, acts.options_of(found), acts.written_of(found))
    return shape(session, found, plan)


@router.post("/sessions/{id}/previews/{preview}/summary", response={202: Any})
def summary(request: SignedIn, id: str, preview: str) -> Status[dict[str, Any]]:
    """Has the model write the summary, once; look at the preview until `writing` is over."""
    session = session_or_404(request.user, id)
    found = acts.ask_summary(request.user, session, preview)
    return Status(202, {"preview_id": found.pk, **_writing(found)})


def shape(session: AgentSession, found: Preview, plan: Planned) -> dict[str, Any]:
    return {
        "preview_id": found.pk,
        "ends_at": found.ends_at,
        "revision": found.revision,
        "last_number": found.last_number,
        "floor": acts.floor(session),
        **_writing(found),
        **plans.shape(session, plan, acts.options_of(found)),
    }


def _writing(found: Preview) -> dict[str, Any]:
    """`writing`: None, or asked, done, failed."""
    told = found.options
    return {
        "writing": told.get("writing") or None,
        "failure": told.get("failure") or None,
        "next": told.get("next") or None,
    }
