"""Exclude, bring back, pin or unpin all messages that a filter finds."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from hermesweb import acts, wishes
from hermesweb.access import session_or_404
from hermesweb.bulk import Found, Selection, selection, tools
from hermesweb.choices import BulkChoice, problems
from hermesweb.http import SignedIn
from hermesweb.models import AgentSession
from hermesweb.reading import can_steer
from hermesweb.views.answers import at_border


@require_GET
@never_cache
@login_required
def page(request: SignedIn, id: str) -> HttpResponse:
    session = session_or_404(request.user, id)
    form = BulkChoice(request.GET, tools=tools(session))
    if not form.is_valid():
        return HttpResponseBadRequest(problems(form), content_type="text/plain; charset=utf-8")
    why_no_undo = wishes.why_no_undo(session) if can_steer(session) else ""
    context = {
        "section": "sessions",
        "session": session,
        "form": form,
        "selection": _selection(session, form),
        "can_steer": can_steer(session),
        "change": None if why_no_undo else session.revisions.order_by("-number").first(),
        "floor": acts.floor(session),
    }
    template = "session/_bulk.html" if request.htmx else "session/bulk.html"
    return render(request, template, context)


@require_POST
@login_required
def change(request: SignedIn, id: str) -> HttpResponse:
    """What was shown, and nothing that was born since; shown anew where the list was revised."""
    session = session_or_404(request.user, id)
    form = BulkChoice(request.POST, tools=tools(session))
    if not form.is_valid():
        return HttpResponseBadRequest(problems(form), content_type="text/plain; charset=utf-8")
    shown = form.cleaned_data
    here = f"{reverse('bulk', args=[session.pk])}?{form.query}"
    if shown["revision"] != session.revision:
        messages.warning(request, _("The list moved on meanwhile: look again at what is chosen."))
        return redirect(here)
    if not form.names_some:
        messages.error(request, _("Choose first which messages: set a filter, or take all."))
        return redirect(here)
    chosen = _selection(session, form, shown["last"])
    try:
        said = _done(request, session, chosen, request.POST.get("do", ""))
    except (acts.Invalid, acts.Refused) as refusal:
        messages.error(request, str(refusal))
        return redirect(here)
    if not said:
        return HttpResponseBadRequest(
            "do: exclude, restore, pin or unpin", content_type="text/plain; charset=utf-8"
        )
    messages.success(request, said)
    return redirect(here)


@require_POST
@login_required
def undo(request: SignedIn, id: str) -> HttpResponse:
    """Take the last change of the list back."""
    session = session_or_404(request.user, id)
    try:
        acts.undo(request.user, session)
        now = _("The last change is undone now.")
        later = _("The last change is undone at the next safe border.")
        messages.success(request, at_border(session, now, later))
    except acts.Refused as refusal:
        messages.error(request, str(refusal))
    return redirect("bulk", session.pk)


def _selection(session: AgentSession, form: BulkChoice, last: int | None = None) -> Selection:
    if not form.names_some:
        return Selection(Found())
    return selection(session, form.choice, form.cleaned_data["tool"], last=last)


def _done(request: SignedIn, session: AgentSession, chosen: Selection, do: str) -> str:
    """What is told of it; empty for an act that there is not."""
    who, reason = request.user, request.POST.get("reason", "")
    if do == "exclude":
        acts.exclude(who, session, chosen.leaving.numbers)
        return _left(session, len(chosen.leaving.numbers))
    if do == "restore":
        acts.restore(who, session, chosen.found.numbers if chosen.gone else [])
        return at_border(
            session,
            _("They come back with their groups now."),
            _("They come back with their groups at the next safe border."),
        )
    if do == "pin":
        acts.pin(who, session, chosen.unpinned.numbers, reason=reason)
        return _("They are pinned: every compaction keeps them.")
    if do == "unpin":
        acts.unpin(who, session, chosen.pinned.numbers)
        return _("They are no longer pinned.")
    return ""


def _left(session: AgentSession, count: int) -> str:
    now = ngettext("%(count)d message leaves now.", "%(count)d messages leave now.", count)
    later = ngettext(
        "%(count)d message leaves at the next safe border.",
        "%(count)d messages leave at the next safe border.",
        count,
    )
    told: dict[str, Any] = {"count": count}
    return at_border(session, now, later) % told
