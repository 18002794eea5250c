from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from hermesweb.access import session_or_404
from hermesweb.http import SignedIn
from hermesweb.lifetimes import lifetimes
from hermesweb.views.downloads import csv_file

# The downloads hold more rows than a page can show.
FILE_ROWS = 10_000


@require_GET
@never_cache
@login_required
def page(request: SignedIn, id: str) -> HttpResponse:
    session = session_or_404(request.user, id)
    found = lifetimes(session)
    context = {
        "section": "sessions",
        "session": session,
        "map": found,
        "fates": sorted({row.fate for row in found.rows if row.fate}),
        "top": max(found.rows, key=lambda row: row.carried, default=None),
    }
    return render(request, "session/lifetimes.html", context)


@require_GET
@login_required
def as_json(request: SignedIn, id: str) -> JsonResponse:
    found = lifetimes(session_or_404(request.user, id), FILE_ROWS)
    rows = [row.facts for row in found.rows]
    return JsonResponse({"turns": found.turns, "carried": found.carried, "rows": rows})


@require_GET
@login_required
def as_csv(request: SignedIn, id: str) -> HttpResponse:
    session = session_or_404(request.user, id)
    rows = lifetimes(session, FILE_ROWS).rows
    return csv_file(f"lifetimes-{session.pk}.csv", (row.facts for row in rows))
