from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from hermesweb import acts, memory
from hermesweb.choices import MemoryChoice
from hermesweb.forms import Correction, NewEntry
from hermesweb.http import SignedIn
from hermesweb.models import MemoryEntry

PAGE_ENTRIES, RUNS = 50, 30


@require_http_methods(["GET", "POST"])
@never_cache
@login_required
def page(request: SignedIn) -> HttpResponse:
    """All entries of the person who looks; a post adds one."""
    workspaces = list(
        memory.of_owner(request.user).order_by().values_list("workspace", flat=True).distinct()
    )
    form = NewEntry(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            acts.remember(request.user, **form.cleaned_data)
        except acts.Invalid as problem:
            form.add_invalid(problem)
        else:
            messages.success(request, _("The entry is kept for sessions in its folder."))
            return redirect("memory")
    choice = MemoryChoice(request.GET, workspaces=workspaces, auto_id="filter_%s")
    most = memory.most_given()
    found = Paginator(_chosen(request, choice), PAGE_ENTRIES).get_page(request.GET.get("page"))
    context: dict[str, Any] = {
        "section": "memory",
        "form": form,
        "choice": choice,
        "workspaces": workspaces,
        "entries": found,
        "most_given": most,
        "most_given_words": ", ".join(str(one) if one else _("any number") for one in most),
        "injections": memory.injections(request.user, RUNS),
    }
    return render(request, "memory/page.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
@never_cache
@login_required
def entry(request: SignedIn, id: int) -> HttpResponse:
    found = _entry(request, id)
    sent = request.POST if request.method == "POST" else None
    form = Correction(sent, initial={"kind": found.kind, "text": found.text})
    if form.is_valid():
        try:
            acts.correct(request.user, found, **form.cleaned_data)
        except acts.Invalid as problem:
            form.add_invalid(problem)
        else:
            messages.success(request, _("The entry is changed."))
            return redirect("memory")
    context = {"section": "memory", "entry": _entry(request, id), "form": form}
    return render(request, "memory/entry.html", context, status=422 if form.errors else 200)


@require_POST
@login_required
def forget(request: SignedIn, id: int) -> HttpResponse:
    acts.forget(request.user, _entry(request, id))
    messages.success(request, _("The entry is deleted; no later run is given it."))
    return redirect("memory")


def _chosen(request: SignedIn, choice: MemoryChoice) -> QuerySet[MemoryEntry]:
    entries = memory.of_owner(request.user).select_related("source").order_by("-at", "-pk")
    chosen = choice.cleaned_data if choice.is_valid() else {}
    if chosen.get("workspace"):
        entries = entries.filter(workspace=chosen["workspace"])
    if chosen.get("kind"):
        entries = entries.filter(kind=chosen["kind"])
    if chosen.get("q"):
        entries = entries.filter(text__icontains=chosen["q"])
    return entries


def _entry(request: SignedIn, id: int) -> MemoryEntry:
    found = memory.of_owner(request.user).select_related("source").filter(pk=id).first()
    if found is None:
        raise Http404(f"there is no entry {id}")
    return found
