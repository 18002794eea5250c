from __future__ import annotations

from typing import Any

from django.http import Http404
from ninja import File, Router, Status
from ninja.files import UploadedFile

from agentcore.errors import TranscriptError
from hermesweb.access import session_or_404
from hermesweb.acts import Invalid
from hermesweb.forms import ImportFile
from hermesweb.http import SignedIn
from hermesweb.imports import WAIT_SECONDS, import_recording
from hermesweb.models import AgentSession, SessionKind

router = Router(tags=["imports"])


@router.post("/imports", response={201: Any})
def create(request: SignedIn, file: UploadedFile = File()) -> Status[dict[str, Any]]:  # noqa: B008
    """Stores a recorded session, complete or not at all. Lines that cannot be read are named and
    skipped; further conversations and subagents become sessions beside it."""
    form = ImportFile(files=request.FILES)
    if not form.is_valid():
        raise Invalid(str(form.errors["file"][0]), "file")
    try:
        session = import_recording(request.user, file.read(), file.name or "", seconds=WAIT_SECONDS)
    except TranscriptError as error:
        raise Invalid(str(error), "file") from error
    return Status(201, _shape(session))


@router.get("/imports/{id}")
def one(request: SignedIn, id: str) -> dict[str, Any]:
    """What was stored of the recording, and what was wrong with it."""
    session = session_or_404(request.user, id)
    if session.kind != SessionKind.IMPORTED:
        raise Http404(f"there is no import {id}")
    return _shape(session)


def _shape(session: AgentSession) -> dict[str, Any]:
    """`progress` is a fraction: a session is to be seen when all of it is stored."""
    return {
        "id": session.pk,
        "session": session.pk,
        "format": session.source_format,
        "title": session.title,
        "progress": 1.0,
        "messages": session.last_number,
        "turns": session.turns,
        "incomplete": session.incomplete,
        "problems": [_problem(one) for one in session.problems],
    }


def _problem(kept: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in kept.items() if name != "said"}
