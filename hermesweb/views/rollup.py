from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from hermesweb.access import session_or_404
from hermesweb.choices import RollupChoice, problems
from hermesweb.http import SignedIn
from hermesweb.rollup import By, rollup
from hermesweb.views.downloads import csv_file

PART_ROWS, PAGE_ROWS, AGAIN_ROWS = 10, 300, 3


@require_GET
@never_cache
@login_required
def page(request: SignedIn, id: str) -> HttpResponse:
    """The rows that carried most: few for htmx, as a part of the session's page."""
    session = session_or_404(request.user, id)
    form = RollupChoice(request.GET)
    if not form.is_valid():
        return HttpResponseBadRequest(problems(form), content_type="text/plain; charset=utf-8")
    found = rollup(session)
    rows = found.rows[form.chosen]
    context = {
        "section": "sessions",
        "session": session,
        "ways": list(By),
        "by": form.chosen,
        "rows": rows[: PART_ROWS if request.htmx else PAGE_ROWS],
        "total": len(rows),
        "again": found.again[: AGAIN_ROWS if request.htmx else PAGE_ROWS],
        "again_total": len(found.again),
        "loaded": True,
    }
    return render(request, f"session/{'_' if request.htmx else ''}rollup.html", context)


@require_GET
@login_required
def as_json(request: SignedIn, id: str) -> JsonResponse:
    return JsonResponse(rollup(session_or_404(request.user, id)).facts)


@require_GET
@login_required
def as_csv(request: SignedIn, id: str) -> HttpResponse:
    session = session_or_404(request.user, id)
    rows = rollup(session).rows
    return csv_file(
        f"rollup-{session.pk}.csv",
        ({"by": by, **row.facts} for by in By for row in rows[by]),
    )
