from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from hermesweb import acts
from hermesweb.access import session_or_404, session_with
from hermesweb.bulk import whole_topic
from hermesweb.http import SignedIn
from hermesweb.models import AgentSession, Instruction
from hermesweb.reading import can_steer
from hermesweb.views.answers import answer, at_border


@require_POST
@login_required
def undo(request: SignedIn, id: str, number: int) -> HttpResponse:
    session = session_or_404(request.user, id)
    if not session.stored_compactions.filter(number=number).exists():
        raise Http404(f"there is no compaction {number}")
    return answer(
        request,
        session,
        lambda: acts.undo(request.user, session, number),
        said=lambda done: _undone(session, number),
    )


def _undone(session: AgentSession, number: int) -> str:
    now = _("Compaction %(number)s is undone now.")
    later = _("Compaction %(number)s is undone at the next safe border.")
    return at_border(session, now, later) % {"number": number}


@require_POST
@login_required
def restore(request: SignedIn, id: str, number: int) -> HttpResponse:
    session = session_with(request.user, id, number)
    return answer(
        request,
        session,
        lambda: acts.restore(request.user, session, [number]),
        said=lambda done: _restored(session, number),
    )


def _restored(session: AgentSession, number: int) -> str:
    now = _("Message %(number)s comes back with its group now.")
    later = _("Message %(number)s comes back with its group at the next safe border.")
    return at_border(session, now, later) % {"number": number}


@require_POST
@login_required
def exclude(request: SignedIn, id: str, number: int) -> HttpResponse:
    session = session_with(request.user, id, number)
    return answer(
        request,
        session,
        lambda: acts.exclude(request.user, session, [number]),
        said=lambda done: _excluded(session, number),
    )


def _excluded(session: AgentSession, number: int) -> str:
    now = _("Message %(number)s leaves with its group now.")
    later = _("Message %(number)s leaves with its group at the next safe border.")
    return at_border(session, now, later) % {"number": number}


@require_POST
@login_required
def erase(request: SignedIn, id: str, number: int) -> HttpResponse:
    """For staff only, and for good."""
    session = session_with(request.user, id, number)
    return answer(
        request,
        session,
        lambda: acts.erase(request.user, session, number),
        said=lambda done: _erased(number, waits=isinstance(done, Instruction)),
    )


def _erased(number: int, *, waits: bool) -> str:
    if waits:
        text = _("Message %(number)d is queued to be erased at the next safe border.")
    else:
        text = _("Message %(number)d is erased: its length and hash stand in its place.")
    return text % {"number": number}


@require_http_methods(["GET", "POST"])
@never_cache
@login_required
def new_topic(request: SignedIn, id: str) -> HttpResponse:
    """Asked first: a GET says what would leave."""
    session = session_or_404(request.user, id)
    if request.method == "POST":
        return answer(
            request,
            session,
            lambda: acts.new_topic(request.user, session),
            said=lambda done: _begun(session),
        )
    context = {
        "section": "sessions",
        "session": session,
        "selection": whole_topic(session),
        "can_steer": can_steer(session),
    }
    return render(request, "session/new_topic.html", context)


def _begun(session: AgentSession) -> str:
    now = _("A new topic begins now; the archive keeps all of this one.")
    later = _("A new topic begins at the next safe border; the archive keeps all of this one.")
    return at_border(session, now, later)
