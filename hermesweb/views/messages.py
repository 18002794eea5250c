from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import push_url, replace_url

from agentcore.messages import Role
from hermesweb import acts, erasing, pieces
from hermesweb.access import session_or_404, session_with
from hermesweb.choices import MessageChoice, problems
from hermesweb.content import Form, content, escaping
from hermesweb.http import SignedIn
from hermesweb.lines import fate_of
from hermesweb.listed import listed
from hermesweb.listing import Choice
from hermesweb.models import AgentSession, StoredMessage
from hermesweb.pinned import ended_of
from hermesweb.pins import UNTIL_COMMIT, path_of
from hermesweb.views.answers import answer, found_by, list_context
from hermesweb.views.downloads import csv_file


@require_GET
@never_cache
@login_required
def listing(request: SignedIn, id: str) -> HttpResponse:
    session = session_or_404(request.user, id)
    form = MessageChoice(request.GET)
    if not form.is_valid():
        return HttpResponseBadRequest(problems(form), content_type="text/plain; charset=utf-8")
    if not request.htmx:
        return redirect(f"{reverse('session', args=[session.pk])}?{form.choice.query}#messages")
    choice = form.choice
    response = render(
        request,
        "session/_messages.html",
        {"session": session, **list_context(request.user, session, choice)},
    )
    return response if choice.seen is not None else _addressed(request, response, session, choice)


@require_GET
@login_required
def as_json(request: SignedIn, id: str) -> HttpResponse:
    return _file(request, id, lambda _, rows: JsonResponse({"items": rows}))


@require_GET
@login_required
def as_csv(request: SignedIn, id: str) -> HttpResponse:
    return _file(request, id, lambda session, rows: csv_file(f"messages-{session.pk}.csv", rows))


def _file(
    request: SignedIn,
    id: str,
    made: Callable[[AgentSession, list[dict[str, Any]]], HttpResponse],
) -> HttpResponse:
    """The list with its filters; a search of whole texts is no part of it."""
    session = session_or_404(request.user, id)
    form = MessageChoice(request.GET)
    if not form.is_valid():
        return HttpResponseBadRequest(problems(form), content_type="text/plain; charset=utf-8")
    return made(session, listed(session, form.choice))


@require_GET
@never_cache
@login_required
def search(request: SignedIn, id: str) -> HttpResponse:
    """The next hits of a search of whole texts; without a script, on the session's page."""
    session = session_or_404(request.user, id)
    form = MessageChoice(request.GET)
    if not form.is_valid() or not form.choice.searches:
        return HttpResponseBadRequest(
            problems(form) or "q: nothing to look for", content_type="text/plain; charset=utf-8"
        )
    if not request.htmx:
        return redirect(f"{reverse('session', args=[session.pk])}?{form.choice.query}#messages")
    context = {
        "session": session,
        "found": found_by(request.user, session, form.choice),
        "page": None,
    }
    return render(request, "session/_found.html", context)


@require_GET
@never_cache
@login_required
def message(request: SignedIn, id: str, number: int) -> HttpResponse:
    session = session_or_404(request.user, id)
    found = _message(session, number)
    raw = request.GET.get("raw") == "1"
    if raw:
        acts.read_raw(request.user, session, f"message {number}")
    shown = content(found, Form.of(request.GET.get("form", "")), _offset(request), raw=raw)
    context = {
        "section": "sessions",
        "session": session,
        "message": found,
        "fate": fate_of(session, number),
        "content": shown,
        "forms": list(Form),
    }
    if request.htmx:
        return render(request, "session/_message.html", context)
    waits = erasing.is_waiting(session, number)
    context |= {
        "escaped": escaping(found),
        "waits_to_be_erased": waits,
        "pin_path": path_of(found.pin_until) if found.pinned else "",
        "pin_ended": None if found.pinned else ended_of(session, number),
        **_instruction(session, found),
    }
    return render(request, "session/message.html", {**context, **_sections(session, found)})


@require_POST
@login_required
def pin(request: SignedIn, id: str, number: int) -> HttpResponse:
    session = session_with(request.user, id, number)
    return answer(
        request,
        session,
        lambda: acts.pin(
            request.user,
            session,
            [number],
            reason=request.POST.get("reason", ""),
            until=_until(request.POST.get("turn", ""), request.POST.get("path", "")),
        ),
        said=_("Message %(number)s is pinned: every compaction keeps it.") % {"number": number},
        parts=lambda: _pin(request, session, number),
    )


@require_POST
@login_required
def unpin(request: SignedIn, id: str, number: int) -> HttpResponse:
    session = session_with(request.user, id, number)
    return answer(
        request,
        session,
        lambda: acts.unpin(request.user, session, [number]),
        said=_("Message %(number)s is no longer pinned.") % {"number": number},
        parts=lambda: _pin(request, session, number),
    )


def _addressed(
    request: SignedIn, response: HttpResponse, session: AgentSession, choice: Choice
) -> HttpResponse:
    """The address becomes that of the page with this list, and keeps the turn it named."""
    home = reverse("session", args=[session.pk])
    was = parse_qs(urlsplit(request.htmx.current_url or "").query)
    turn = was.get("turn", [])[:1]
    query = "&".join(filter(None, [choice.query, urlencode({"turn": turn[0]}) if turn else ""]))
    # While one types, the history is not filled with halves of words.
    typed = was.get("q", [""])[0] != choice.q
    note = replace_url if typed else push_url
    return note(response, f"{home}?{query}" if query else home)


def _sections(session: AgentSession, found: StoredMessage) -> dict[str, Any]:
    """Of a system message: what it is made of, and beside which one it was put."""
    parts = pieces.pieces(found)
    if not parts:
        return {}
    messages = session.messages.select_related("body")
    earlier = messages.filter(number=found.replaces).first() if found.replaces else None
    return {
        "pieces": parts,
        "envelope": found.bytes - sum(piece.bytes for piece in parts),
        "earlier": earlier,
        "changes": pieces.changes(earlier, found) if earlier else [],
        "later": messages.filter(replaces=found.number).first(),
    }


def _instruction(session: AgentSession, found: StoredMessage) -> dict[str, Any]:
    """Of what a person said: the state in which it was new, for a fork with other words."""
    if found.role != Role.USER or found.mark:
        return {}
    born = session.lives.filter(number=found.number).order_by("from_revision").first()
    said = content(found, Form.TEXT, 0)
    # Half of a long text must not be taken for the whole of it.
    text = "" if said.next_offset else said.text
    return {"said": text, "said_at": f"{born.from_revision}.{found.number}"} if born else {}


def _message(session: AgentSession, number: int) -> StoredMessage:
    messages = session.messages.select_related("body", "captured", "pinned_by")
    found = messages.filter(number=number).first()
    if found is None:
        raise Http404(f"there is no message {number}")
    return found


def _until(turn: str, path: str) -> str:
    """Raises Invalid."""
    if turn and path:
        raise acts.Invalid(_("a pin has one end: give a turn or a path, not both"), "path")
    if path:
        return f"{UNTIL_COMMIT}{path}"
    if not turn:
        return "session"
    if not (turn.isascii() and turn.isdigit() and 0 < len(turn) < 10 and int(turn)):
        raise acts.Invalid(_("the last turn of a pin is a number from 1"), "turn")
    return f"turn:{int(turn)}"


def _offset(request: SignedIn) -> int:
    text = request.GET.get("offset", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0


def _pin(request: SignedIn, session: AgentSession, number: int) -> str:
    message = session.messages.defer("wire", "facts").get(number=number)
    context = {"session": session, "message": message}
    return render_to_string("session/_pin_part.html", context, request)
