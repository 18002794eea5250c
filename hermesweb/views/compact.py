"""Look at a compaction, write its summary, make it exactly as it was shown."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from agentcore.compaction.asked import CompactionOptions
from agentcore.compaction.result import WrittenSummary
from hermesweb import acts, drafting, looks, prepared
from hermesweb.access import session_or_404
from hermesweb.choices import DiffChoice
from hermesweb.compact_form import CompactForm, query_of
from hermesweb.http import SignedIn
from hermesweb.models import AgentSession
from hermesweb.reading import can_steer

MOVED = _(
    "The list moved on meanwhile. This is a new preview of it: look again before you apply it."
)

ENDED = _(
    "That preview is no longer kept: each is for 24 hours. This is a new one: look at it before "
    "you apply it."
)


@require_GET
@never_cache
@login_required
def page(request: SignedIn, id: str) -> HttpResponse:
    session = session_or_404(request.user, id)
    form = CompactForm(request.GET)
    if not form.is_valid():
        return _shown(request, session, form, status=400)
    return _looked(request, session, form, form.options)


@require_GET
@never_cache
@login_required
def preview(request: SignedIn, id: str, preview: str) -> HttpResponse:
    """A preview that is there already: its diff where that is paged, else the whole of it, anew
    where the list moved on or its summary was written."""
    session = session_or_404(request.user, id)
    try:
        found = acts.found_preview(session, preview)
        if following := found.options.get("next"):
            found = acts.found_preview(session, following)
    except acts.Refused:
        return _looked(request, session, None, _chosen(request.GET), note=str(ENDED))
    options, written = acts.options_of(found), acts.written_of(found)
    if not prepared.fits(session, found.revision):
        return _looked(request, session, None, options, written=written, note=str(MOVED))
    if "still" in request.GET and not following and found.options.get("writing") != "failed":
        return HttpResponse(status=204)
    try:
        plan = acts.plan_of(session, options, written)
    except acts.Invalid:
        return _looked(request, session, None, options, written=written)
    choice = DiffChoice(request.GET)
    context = looks.context(session, found, plan, choice if choice.is_valid() else None)
    part = "_diff" if "diff" in request.GET and request.htmx else "_outcome"
    return _answer(request, session, options, context, part=part)


@require_POST
@login_required
def summary(request: SignedIn, id: str) -> HttpResponse:
    """The text as a person left it: counted and proved anew, under a new id."""
    session = session_or_404(request.user, id)
    text, wanted = request.POST.get("summary", ""), _wanted(request)
    try:
        found = acts.found_preview(session, wanted)
        asked = replace(acts.options_of(found), summary=text)
        made, plan = acts.preview(
            request.user, session, asked, written=acts.written_of(found), instead_of=wanted
        )
    except (acts.Invalid, acts.Refused) as problem:
        context = {"session": session, "problem": str(problem), "text": text, "kept": wanted}
        return render(request, "session/_plan_problem.html", context, status=400)
    context = looks.context(session, made, plan)
    return _answer(request, session, asked, context, part="_plan")


@require_POST
@login_required
def write(request: SignedIn, id: str) -> HttpResponse:
    """Ask the model for the summary; the page looks after it until it is there."""
    session = session_or_404(request.user, id)
    try:
        found = acts.ask_summary(request.user, session, _wanted(request))
    except acts.Refused as refusal:
        return _looked(request, session, None, CompactionOptions(), note=str(refusal), status=409)
    options = acts.options_of(found)
    try:
        plan = acts.plan_of(session, options)
    except acts.Invalid:
        return _looked(request, session, None, options)
    return _answer(request, session, options, looks.context(session, found, plan))


@require_POST
@login_required
def apply(request: SignedIn, id: str) -> HttpResponse:
    session = session_or_404(request.user, id)
    wanted = request.POST.get("preview_id", "")
    try:
        made = acts.apply_preview(request.user, session, wanted)
    except acts.Refused as refusal:
        if refusal.code == "stale":
            with suppress(acts.Refused):
                # Its page is that of a new one, with the summary as the person left it.
                return redirect("preview", session.pk, acts.found_preview(session, wanted).pk)
            messages.warning(request, ENDED)
        else:
            messages.error(request, str(refusal))
        chosen = _chosen(QueryDict(request.POST.get("query", "")))
        return redirect(f"{_here(session)}?{query_of(chosen)}")
    return redirect("compaction", session.pk, made.number)


def _wanted(request: SignedIn) -> str:
    """The preview that is on the page; without scripts the one that it began with."""
    return request.POST.get("preview_id") or request.POST.get("first_id", "")


def _looked(
    request: SignedIn,
    session: AgentSession,
    form: CompactForm | None,
    options: CompactionOptions,
    *,
    written: WrittenSummary | None = None,
    note: str = "",
    status: int = 200,
) -> HttpResponse:
    """A new preview, and the page or its right side."""
    try:
        found, plan = acts.preview(
            request.user,
            session,
            options,
            written=written,
            instead_of=request.GET.get("preview_id", ""),
        )
    except acts.Invalid as problem:
        form = form or CompactForm({})
        form.is_valid()
        form.add_error(problem.field if problem.field in form.fields else None, str(problem))
        return _shown(request, session, form, status=400)
    context = looks.context(session, found, plan)
    return _answer(request, session, options, {**context, "note": note}, form, status=status)


def _answer(
    request: SignedIn,
    session: AgentSession,
    options: CompactionOptions,
    context: dict[str, Any],
    form: CompactForm | None = None,
    *,
    part: str = "_outcome",
    status: int = 200,
) -> HttpResponse:
    context |= {
        "section": "sessions",
        "can_steer": can_steer(session),
        "ask": drafting.ask(session, context["plan"], options),
        "query": query_of(options),
        "boundary": f"{_here(session)}?{query_of(replace(options, up_to=None))}&up_to=",
        "floor": acts.floor(session),
    }
    if request.htmx:
        return render(request, f"session/{part}.html", context, status=status)
    named = {name: getattr(options, name) for name in CompactForm.base_fields}
    context["form"] = form or CompactForm(named)
    return render(request, "session/compact.html", context, status=status)


def _shown(
    request: SignedIn, session: AgentSession, form: CompactForm, *, status: int
) -> HttpResponse:
    """Without a preview: the options cannot be."""
    context = {"section": "sessions", "session": session, "form": form}
    template = "session/_plan_problem.html" if request.htmx else "session/compact.html"
    problem = " ".join(str(text) for texts in form.errors.values() for text in texts)
    return render(request, template, {**context, "problem": problem}, status=status)


def _here(session: AgentSession) -> str:
    return reverse("compact", args=[session.pk])


def _chosen(said: Mapping[str, Any]) -> CompactionOptions:
    """The choices that an address or a form says; where they cannot be, none."""
    form = CompactForm(said)
    return form.options if form.is_valid() else CompactionOptions()
