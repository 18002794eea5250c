from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from hermesweb import access, acts, wall
from hermesweb.forms import NewSession
from hermesweb.gauge import key_of
from hermesweb.http import SignedIn
from hermesweb.verdict import verdict


@require_GET
@never_cache
@login_required
def overview(request: SignedIn) -> HttpResponse:
    filters = wall.Filters.of(request.GET)
    mine = access.visible(request.user)
    matching = wall.found(mine, filters.q)
    shown = wall.rows(wall.in_group(matching, filters.group), filters.sort)
    calm, warning = verdict(shown)
    context = {
        "section": "sessions",
        "filters": filters,
        "groups": filters.groups(matching),
        "sorts": list(wall.Sort),
        "rows": shown,
        "key": key_of([row.gauge for row in shown]),
        "calm": calm,
        "warning": warning,
        "total": mine.count(),
        "most": wall.MOST_ROWS,
    }
    part = "sessions/_wall.html" if request.htmx else "sessions/overview.html"
    return render(request, part, context)


@require_GET
@never_cache
@login_required
def row(request: SignedIn, id: str) -> HttpResponse:
    """One row of the wall for htmx; without it, the wall."""
    session = access.session_or_404(request.user, id)
    if not request.htmx:
        return redirect("overview")
    return render(request, "sessions/_row.html", {"row": wall.row(session)})


@require_http_methods(["GET", "POST"])
@login_required
def new(request: SignedIn) -> HttpResponse:
    form = NewSession(
        request.POST if request.method == "POST" else None,
        user=request.user,
        initial={"predecessor": request.GET.get("predecessor", "")},
    )
    if form.is_valid():
        try:
            session = acts.create(request.user, **form.cleaned_data)
        except acts.Invalid as error:
            form.add_invalid(error)
        else:
            return redirect("session", session.pk)
    context = {"section": "sessions", "form": form}
    status = 422 if form.errors else 200
    return render(request, "sessions/new.html", context, status=status)
