from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from hermesweb.access import session_or_404
from hermesweb.charts import TABLE_ROWS
from hermesweb.http import SignedIn
from hermesweb.turn_ledger import turn_ledger
from hermesweb.views.downloads import csv_file


@require_GET
@never_cache
@login_required
def page(request: SignedIn, id: str) -> HttpResponse:
    """Fetched apart from the session's page, since it is summed up over all turns."""
    session = session_or_404(request.user, id)
    context = {
        "section": "sessions",
        "session": session,
        "ledger": turn_ledger(session, TABLE_ROWS),
    }
    part = "session/_ledger.html" if request.htmx else "session/ledger.html"
    return render(request, part, context)


@require_GET
@login_required
def ledger_json(request: SignedIn, id: str) -> JsonResponse:
    return JsonResponse(turn_ledger(session_or_404(request.user, id)).facts)


@require_GET
@login_required
def ledger_csv(request: SignedIn, id: str) -> HttpResponse:
    session = session_or_404(request.user, id)
    lines = (line.facts for line in turn_ledger(session).lines)
    return csv_file(f"ledger-{session.pk}.csv", lines)
