"""How a view answers an act: with fragments to htmx, else with a note on the page it came from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django_htmx.http import reswap, retarget

from hermesweb import acts, questions, spending, wishes
from hermesweb.content import Form, content
from hermesweb.http import SignedIn
from hermesweb.listing import Choice, Page, page
from hermesweb.models import AgentSession
from hermesweb.reading import can_steer, can_stop, read, resumes, retried, settles
from hermesweb.search import Part, search

QUEUE_ROWS = 20


def answer(
    request: SignedIn,
    session: AgentSession,
    do: Callable[[], Any],
    *,
    said: str | Callable[[Any], str] = "",
    parts: Callable[[], str] = str,
) -> HttpResponse:
    """Do an act and answer: `parts` are further fragments for htmx, `said` is what the reloaded
    page tells, or tells it of what was done."""
    try:
        done = do()
    except acts.Refused as refusal:
        return _refused(request, session, str(refusal), 409)
    except acts.Invalid as problem:
        return _refused(request, session, str(problem), 400)
    if not request.htmx:
        if said:
            messages.success(request, said(done) if callable(said) else said)
        return redirect("session", session.pk)
    response = render(request, "session/_done.html", live_context(session))
    response.write(parts())
    return response


def at_border(session: AgentSession, now: str, later: str) -> str:
    """What a change of the list is told as: only while a run is under way it waits for a border."""
    return now if settles(session) else later


def live_context(session: AgentSession) -> dict[str, Any]:
    """What changes on the session page while it is looked at."""
    version = session.version_in_force
    queue = wishes.queued(session).select_related("by")
    last = session.stored_compactions.filter(revision__isnull=False).order_by("-number").first()
    return {
        "session": session,
        "version": version,
        "reading": read(session, version),
        "retried": retried(session),
        "can_stop": can_stop(session),
        "settles": settles(session),
        "can_steer": can_steer(session),
        "resumes": resumes(session, version),
        "questions": questions.waiting(session),
        "queue": queue[:QUEUE_ROWS],
        "last_compaction": last,
        "bill": spending.Bill(session),
    }


def found_by(user: User, session: AgentSession, choice: Choice) -> Part:
    """Hits of a search; raw ones are audited. Raises PermissionDenied."""
    if choice.raw:
        acts.read_raw(user, session, "a search of whole texts")
    return search(session, choice)


def list_context(user: User, session: AgentSession, choice: Choice) -> dict[str, Any]:
    """The message list as an address asks for it: a page, or the first hits of a search; and the
    message that it shows opened."""
    context: dict[str, Any] = {"forms": list(Form)}
    if choice.searches:
        context |= {"page": Page(choice, [], None, None), "found": found_by(user, session, choice)}
    else:
        context["page"] = page(session, choice)
    if choice.message is not None:
        messages = session.messages.select_related("body", "captured", "pinned_by")
        opened = messages.filter(number=choice.message).first()
        context["opened"] = opened
        context["content"] = content(opened, Form.TEXT, 0) if opened else None
    return context


def _refused(request: SignedIn, session: AgentSession, text: str, status: int) -> HttpResponse:
    if not request.htmx:
        messages.error(request, text)
        return redirect("session", session.pk)
    response = render(request, "session/_refusal.html", {"text": text}, status=status)
    return reswap(retarget(response, "#notice"), "innerHTML")
