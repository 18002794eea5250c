from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from hermesweb import acts, spending
from hermesweb.access import session_or_404
from hermesweb.charts import STRIP_ROWS, TABLE_ROWS, chart, packed, with_parts
from hermesweb.choices import MessageChoice, problems
from hermesweb.http import SignedIn
from hermesweb.models import AgentSession, StoredTurn
from hermesweb.reading import BUSY, read, resumes
from hermesweb.views.answers import answer, at_border, list_context, live_context
from hermesweb.views.downloads import csv_file


@require_GET
@never_cache
@login_required
def page(request: SignedIn, id: str) -> HttpResponse:
    session = session_or_404(request.user, id)
    form = MessageChoice(request.GET)
    if not form.is_valid():
        return HttpResponseBadRequest(problems(form), content_type="text/plain; charset=utf-8")
    context = live_context(session)
    turns = list(session.stored_turns.order_by("-number")[: TABLE_ROWS + 1])
    drawn = chart(session, context["version"], STRIP_ROWS)
    context |= {
        "section": "sessions",
        **list_context(request.user, session, form.choice),
        "chart": drawn,
        "strip": packed(drawn["turns"]),
        "turns": _with_change(turns)[:TABLE_ROWS],
    }
    return render(request, "session/page.html", context)


@require_GET
@never_cache
@login_required
def live(request: SignedIn, id: str) -> HttpResponse:
    """The fragments that news changes; without htmx, the page they are parts of."""
    session = session_or_404(request.user, id)
    if not request.htmx:
        return redirect("session", session.pk)
    return render(request, "session/_live.html", live_context(session))


@require_GET
@login_required
def chart_json(request: SignedIn, id: str) -> JsonResponse:
    session = session_or_404(request.user, id)
    version = session.version_in_force
    reading = read(session, version)
    forecast = {"turns": reading.turns_left, "pace": reading.grows} if reading.due else None
    return JsonResponse({**chart(session, version), "forecast": forecast})


@require_GET
@login_required
def turns_json(request: SignedIn, id: str) -> JsonResponse:
    session = session_or_404(request.user, id)
    return JsonResponse({"items": [with_parts(turn) for turn in _turns(session)]})


@require_GET
@login_required
def turns_csv(request: SignedIn, id: str) -> HttpResponse:
    session = session_or_404(request.user, id)
    return csv_file(f"turns-{session.pk}.csv", map(with_parts, _turns(session)))


@require_POST
@login_required
def send(request: SignedIn, id: str) -> HttpResponse:
    session = session_or_404(request.user, id)
    text = request.POST.get("text", "")
    return answer(
        request,
        session,
        lambda: acts.send(request.user, session, text),
        said=_("Your instruction is queued: it is read at the next border."),
        parts=lambda: render_to_string("session/_sent.html", {"session": session}, request),
    )


@require_POST
@login_required
def withdraw(request: SignedIn, id: str, instruction: int) -> HttpResponse:
    session = session_or_404(request.user, id)
    return answer(
        request,
        session,
        lambda: acts.withdraw(request.user, session, instruction),
        said=_("The instruction is withdrawn."),
    )


@require_POST
@login_required
def stop(request: SignedIn, id: str) -> HttpResponse:
    session = session_or_404(request.user, id)
    return answer(
        request, session, lambda: acts.stop(request.user, session), said=_("Stop is asked for.")
    )


@require_POST
@login_required
def resume(request: SignedIn, id: str) -> HttpResponse:
    session = session_or_404(request.user, id)
    offered = resumes(session, session.version_in_force)
    return answer(
        request,
        session,
        lambda: acts.resume(request.user, session),
        said=lambda done: _resumed(session, offered),
    )


def _resumed(session: AgentSession, offered: str) -> str:
    if session.status in BUSY and offered != "compaction":
        return _("The run goes on.")
    return _("Automatic compaction goes on.")


@require_POST
@login_required
def compact(request: SignedIn, id: str) -> HttpResponse:
    session = session_or_404(request.user, id)
    return answer(
        request,
        session,
        lambda: acts.compact_now(request.user, session),
        said=lambda done: _compacts(session),
    )


def _compacts(session: AgentSession) -> str:
    now = _("A compaction is queued: it is made now.")
    later = _("A compaction is queued: it is made at the next safe border.")
    return at_border(session, now, later)


def _turns(session: AgentSession) -> Iterator[StoredTurn]:
    return session.stored_turns.order_by("number").iterator()


def _with_change(
    turns: list[StoredTurn],
) -> list[tuple[StoredTurn, int | None, tuple[int | None, str | None]]]:
    """Newest first, each with what it added (None where the scale was another) and the tokens of
    its prompt, with who says so."""
    return [
        (
            turn,
            turn.used - old.used if old and old.unit == turn.unit else None,
            spending.prompt(turn),
        )
        for turn, old in zip_longest(turns, turns[1:])
    ]
