from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from hermesweb import acts
from hermesweb.access import session_or_404
from hermesweb.http import SignedIn
from hermesweb.reading import BUSY
from hermesweb.settings_form import SessionSettings
from hermesweb.views.answers import answer


@require_http_methods(["GET", "POST"])
@never_cache
@login_required
def page(request: SignedIn, id: str) -> HttpResponse:
    """What was changed is saved together, or none of it."""
    session = session_or_404(request.user, id)
    busy = session.status in BUSY
    form = SessionSettings(request.POST if request.method == "POST" else None, session=session)
    if form.is_valid():
        try:
            acts.change(request.user, session, form.changes)
        except acts.Invalid as problem:
            form.add_invalid(problem)
            session.refresh_from_db()
        else:
            messages.success(request, _said(form.changes, busy=busy))
            return redirect("session", session.pk)
    context = {"section": "sessions", "session": session, "form": form, "busy": busy}
    return render(request, "session/settings.html", context, status=422 if form.errors else 200)


@require_POST
@login_required
def archive(request: SignedIn, id: str) -> HttpResponse:
    """Or, where the form says `on` = 0, bring it back."""
    session = session_or_404(request.user, id)
    on = request.POST.get("on") != "0"
    return answer(
        request,
        session,
        lambda: acts.archive(request.user, session, on),
        said=_("The session is archived.") if on else _("The session is no longer archived."),
    )


@require_POST
@login_required
def delete(request: SignedIn, id: str) -> HttpResponse:
    """For staff only, and for good."""
    session = session_or_404(request.user, id)
    if not request.user.is_staff:
        raise PermissionDenied(
            _("Only staff may delete a session: ask whoever runs this installation.")
        )
    try:
        acts.delete(request.user, session)
    except acts.Refused as refusal:
        messages.error(request, str(refusal))
        return redirect("session", session.pk)
    messages.success(request, _("The session is deleted."))
    return redirect("overview")


def _said(changes: dict[str, str], *, busy: bool) -> str:
    if not changes:
        return _("Nothing was changed.")
    if busy and changes.keys() != {"title"}:
        return _("The settings are saved: they take effect at the next turn.")
    return _("The settings are saved.")
