from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from hermesweb import acts
from hermesweb.access import session_or_404
from hermesweb.http import SignedIn
from hermesweb.pinned import drawer
from hermesweb.reading import can_steer
from hermesweb.views.answers import at_border


@require_GET
@never_cache
@login_required
def page(request: SignedIn, id: str) -> HttpResponse:
    session = session_or_404(request.user, id)
    context = {
        "section": "sessions",
        "session": session,
        "drawer": drawer(session),
        "floor": acts.floor(session),
        "can_steer": can_steer(session),
    }
    return render(request, "session/pins.html", context)


@require_POST
@login_required
def change(request: SignedIn, id: str) -> HttpResponse:
    """Pin, unpin or bring back one message, and show the drawer again."""
    session = session_or_404(request.user, id)
    text, do = request.POST.get("number", ""), request.POST.get("do", "")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        return HttpResponseBadRequest("number: a message's number", content_type="text/plain")
    number = int(text)
    try:
        if do == "pin":
            reason = request.POST.get("reason", "")
            acts.pin(request.user, session, [number], reason=reason)
        elif do == "unpin":
            acts.unpin(request.user, session, [number])
        elif do == "restore":
            acts.restore(request.user, session, [number])
            now = _("Message %(number)s comes back now.")
            later = _("Message %(number)s comes back at the next safe border.")
            messages.success(request, at_border(session, now, later) % {"number": number})
        else:
            return HttpResponseBadRequest("do: pin, unpin or restore", content_type="text/plain")
    except (acts.Invalid, acts.Refused) as refusal:
        messages.error(request, str(refusal))
    return redirect("pins", session.pk)
