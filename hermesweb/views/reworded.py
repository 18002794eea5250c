"""A rewritten row of a diff, word by word; and a whole diff on paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, HttpResponseBadRequest
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from agentcore import diff
from hermesweb import acts, diffs, paper, planning
from hermesweb.access import session_or_404, session_with
from hermesweb.http import SignedIn
from hermesweb.models import AgentSession, StoredMessage
from hermesweb.rewording import rewording
from hermesweb.states import ends_of


@require_GET
@never_cache
@login_required
def stored(request: SignedIn, id: str, old: int, new: int) -> HttpResponse:
    session = session_with(request.user, id, old)
    session_with(request.user, id, new)
    bodies = session.messages.select_related("body")
    return _shown(request, session, bodies.get(number=old), bodies.get(number=new))


@require_GET
@never_cache
@login_required
def previewed(request: SignedIn, id: str, preview: str, old: int) -> HttpResponse:
    """What a plan would put in the place of message `old`."""
    session = session_or_404(request.user, id)
    try:
        found = acts.found_preview(session, preview)
        plan = acts.plan_of(session, acts.options_of(found), acts.written_of(found))
    except (acts.Refused, acts.Invalid) as refusal:
        raise Http404(str(refusal)) from refusal
    before = session.messages.filter(number=old).select_related("body").first()
    after = next((one for one in plan.born if one.replaces == old), None)
    if before is None or after is None:
        raise Http404(f"this preview does not rewrite message {old}")
    unborn = planning.stored(session, after)
    unborn.wire = after.wire
    return _shown(request, session, before, unborn)


@require_GET
@never_cache
@login_required
def compaction(request: SignedIn, id: str, number: int) -> HttpResponse:
    session = session_or_404(request.user, id)
    row = session.stored_compactions.filter(number=number).first()
    if row is None:
        raise Http404(f"there is no compaction {number}")
    return _printed(request, session, diffs.rows_of(session, row), {"compaction": row})


@require_GET
@never_cache
@login_required
def between(request: SignedIn, id: str) -> HttpResponse:
    session = session_or_404(request.user, id)
    try:
        start, end, _ = ends_of(session, request.GET)
    except acts.Invalid as problem:
        return HttpResponseBadRequest(str(problem), content_type="text/plain; charset=utf-8")
    rows = diffs.between(session, start, end)
    return _printed(request, session, rows, {"from": start, "to": end})


def _shown(
    request: SignedIn, session: AgentSession, before: StoredMessage, after: StoredMessage
) -> HttpResponse:
    context = {
        "section": "sessions",
        "session": session,
        "before": before,
        "after": after,
        "rewording": rewording(before.text, after.text),
    }
    return render(request, f"session/{'_words' if request.htmx else 'words'}.html", context)


def _printed(
    request: SignedIn, session: AgentSession, rows: Sequence[diff.Row], named: Mapping[str, object]
) -> HttpResponse:
    context = {
        "section": "sessions",
        "session": session,
        "totals": diff.totals(rows),
        "counts": list(diffs.counts(rows).items()),
        "lines": paper.lines(session, rows),
        **named,
    }
    return render(request, "session/paper.html", context)
