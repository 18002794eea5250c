from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from agentcore import diff
from agentcore.compaction.asked import CompactionOptions
from agentcore.compaction.plan import Origin
from hermesweb import bands, diffs
from hermesweb.access import session_or_404
from hermesweb.choices import DiffChoice, problems
from hermesweb.compact_form import query_of
from hermesweb.http import SignedIn
from hermesweb.models import AgentSession, Compaction
from hermesweb.outcome import outcome
from hermesweb.prices import prices_of
from hermesweb.proof import proof
from hermesweb.reading import can_steer
from hermesweb.rebilling import Rebilling, rebilling


@require_GET
@never_cache
@login_required
def page(request: SignedIn, id: str, number: int) -> HttpResponse:
    session = session_or_404(request.user, id)
    compaction = _compaction(session, number)
    form = DiffChoice(request.GET)
    if not form.is_valid():
        return HttpResponseBadRequest(problems(form), content_type="text/plain; charset=utf-8")
    rows = diffs.rows_of(session, compaction)
    context = {
        "section": "sessions",
        "session": session,
        "compaction": compaction,
        "here": f"{reverse('compaction', args=[session.pk, number])}?",
        "json_url": reverse("compaction_diff", args=[session.pk, number]),
        "paper_url": reverse("compaction_paper", args=[session.pk, number]),
        **bands.context(session, rows, form.cleaned_data),
    }
    if request.htmx and "whole" not in request.GET:
        return render(request, "session/_diff.html", context)
    neighbours = session.stored_compactions.exclude(number=number)
    context |= {
        "outcome": outcome(session, compaction, rows),
        "proof": proof(session, compaction),
        "can_steer": can_steer(session),
        "again": _again(compaction),
        "summaries": [row for row in rows if row.origin in (Origin.SUMMARY, Origin.NOTE)],
        "rebilling": _rebilling(session, compaction, rows),
        "earlier": neighbours.filter(number__lt=number).order_by("-number").first(),
        "later": neighbours.filter(number__gt=number).order_by("number").first(),
    }
    return render(request, "session/compaction.html", context)


@require_GET
@login_required
def diff_json(request: SignedIn, id: str, number: int) -> JsonResponse:
    session = session_or_404(request.user, id)
    rows = diffs.rows_of(session, _compaction(session, number))
    return JsonResponse({"rows": [row.facts for row in rows], **diff.totals(rows)})


def _compaction(session: AgentSession, number: int) -> Compaction:
    found = session.stored_compactions.select_related("by").filter(number=number).first()
    if found is None:
        raise Http404(f"there is no compaction {number}")
    return found


def _again(compaction: Compaction) -> str:
    """Its choices, for a preview of the list as it is now: a boundary meant another list."""
    options = CompactionOptions(**compaction.options)
    return query_of(replace(options, up_to=None))


def _rebilling(
    session: AgentSession, compaction: Compaction, rows: Sequence[diff.Row]
) -> Rebilling | None:
    if compaction.revision is None or not session.bytes:
        return None
    ratio = session.estimate / session.bytes
    return rebilling(rows, ratio, prices_of(session.model), spent=compaction.cost)
