from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from hermesweb import acts
from hermesweb.access import session_or_404
from hermesweb.forms import ForkSession
from hermesweb.http import SignedIn
from hermesweb.models import AgentSession
from hermesweb.states import state_of


@require_http_methods(["GET", "POST"])
@never_cache
@login_required
def fork(request: SignedIn, id: str) -> HttpResponse:
    """Leads to the new session; asks for what the source does not have, as a recording from
    elsewhere has no folder or model here."""
    source = session_or_404(request.user, id)
    sent = request.method == "POST"
    at = request.GET.get("at") or source.state
    form = ForkSession(request.POST if sent else None, source=source, at=at)
    if form.is_valid():
        try:
            made = _made(request, source, form)
        except acts.Invalid as problem:
            form.add_invalid(problem)
        else:
            return redirect("session", made.pk)
    context = {"section": "sessions", "session": source, "form": form}
    return render(request, "session/fork.html", context, status=422 if form.errors else 200)


def _made(request: SignedIn, source: AgentSession, form: ForkSession) -> AgentSession:
    """Raises Invalid."""
    values = dict(form.cleaned_data)
    if source.profile and values["profile"] == source.profile.name:
        # As the source has it, whose version may be an older one.
        values["profile"] = ""
    return acts.fork(request.user, source, state_of(source, values.pop("at")), **values)
