from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from agentcore.errors import TranscriptError
from hermesweb.access import session_or_404
from hermesweb.forms import ImportFile
from hermesweb.http import SignedIn
from hermesweb.imports import PROBLEMS_KEPT, WAIT_SECONDS, import_recording
from hermesweb.models import SessionKind


@require_http_methods(["GET", "POST"])
@login_required
def new(request: SignedIn) -> HttpResponse:
    sent = request.method == "POST"
    form = ImportFile(request.POST, request.FILES) if sent else ImportFile()
    if form.is_valid():
        file = form.cleaned_data["file"]
        try:
            session = import_recording(request.user, file.read(), file.name, seconds=WAIT_SECONDS)
        except TranscriptError as error:
            form.add_refusal(file.name, error)
        else:
            return redirect("imported", session.pk)
    context = {"section": "sessions", "form": form}
    return render(request, "imports/new.html", context, status=422 if form.errors else 200)


@require_GET
@login_required
def imported(request: SignedIn, id: str) -> HttpResponse:
    session = session_or_404(request.user, id)
    if session.kind != SessionKind.IMPORTED:
        raise Http404(f"session {id} was not imported")
    context = {"section": "sessions", "session": session, "most": PROBLEMS_KEPT}
    return render(request, "imports/done.html", context)
