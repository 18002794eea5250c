"""The list as it was, at any state; and what became of each row between two of them."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from agentcore.snapshot import State
from hermesweb import acts, bands, diffs, travel
from hermesweb.access import session_or_404
from hermesweb.choices import DiffChoice, problems
from hermesweb.http import SignedIn
from hermesweb.models import AgentSession
from hermesweb.states import ends_of, state_of


@require_GET
@never_cache
@login_required
def at(request: SignedIn, id: str, state: str = "") -> HttpResponse:
    session = session_or_404(request.user, id)
    found = travel.stops(session)
    if not state:
        place = min(_number(request.GET.get("stop", "")), len(found) - 1)
        if not request.htmx:
            return redirect("at", session.pk, str(found[place].state))
        wanted = found[place].state
    else:
        wanted = _state(session, state)
        place = travel.place_of(found, wanted)
    context = {
        "section": "sessions",
        "session": session,
        "moment": travel.moment(session, wanted, _number(request.GET.get("start", "0"))),
        "place": place,
        "last": len(found) - 1,
        "stop": found[place],
        "earlier": travel.step(found, place, -1),
        "later": travel.step(found, place, 1),
        "change_before": travel.step(found, place, -1, revisions=True),
        "change_after": travel.step(found, place, 1, revisions=True),
        "first": found[0],
        "newest": found[-1],
    }
    template = "session/_moment.html" if request.htmx else "session/at.html"
    response = render(request, template, context)
    if request.htmx:
        response["HX-Replace-Url"] = reverse("at", args=[session.pk, str(wanted)])
    return response


@require_GET
@never_cache
@login_required
def between(request: SignedIn, id: str) -> HttpResponse:
    session = session_or_404(request.user, id)
    form = DiffChoice(request.GET)
    if not form.is_valid():
        return HttpResponseBadRequest(problems(form), content_type="text/plain; charset=utf-8")
    try:
        start, end, turned = ends_of(session, request.GET)
    except acts.Invalid as problem:
        return HttpResponseBadRequest(str(problem), content_type="text/plain; charset=utf-8")
    rows = diffs.between(session, start, end)
    ends = urlencode({"from": str(start), "to": str(end)})
    context = {
        "section": "sessions",
        "session": session,
        "from": start,
        "to": end,
        "turned": turned,
        "here": f"{reverse('diff', args=[session.pk])}?{ends}&",
        "json_url": f"{reverse('api-1:diff', args=[session.pk])}?{ends}",
        "paper_url": f"{reverse('diff_paper', args=[session.pk])}?{ends}",
        **bands.context(session, rows, form.cleaned_data),
    }
    return render(request, f"session/{'_diff' if request.htmx else 'diff'}.html", context)


def _state(session: AgentSession, text: str) -> State:
    try:
        return state_of(session, text)
    except acts.Invalid as problem:
        raise Http404(str(problem)) from problem


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
