from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from agentcore.errors import WireError
from agentcore.wire import loads
from hermesweb import acts, approvals, questions
from hermesweb.access import session_or_404
from hermesweb.acts import Invalid, Refused
from hermesweb.http import SignedIn
from hermesweb.labels import sentence
from hermesweb.models import AgentSession, Instruction
from hermesweb.reading import can_steer
from hermesweb.sentences import told
from hermesweb.views.answers import answer


@require_http_methods(["GET", "POST"])
@never_cache
@login_required
def call(request: SignedIn, id: str, question: int) -> HttpResponse:
    """The page of a question about a tool call; a post answers it, from here or the session."""
    session = session_or_404(request.user, id)
    row = session.instructions.filter(pk=question, options__has_key="tool").first()
    if row is None:
        raise Http404(f"there is no question {question}")
    if request.method == "GET":
        return _page(request, session, row)
    allow = request.POST.get("allow") == "yes"
    if request.htmx:
        return answer(request, session, lambda: _answer(request, session, row, allow))
    try:
        _answer(request, session, row, allow)
    except Refused as refusal:
        return _page(request, session, row, str(refusal), 409)
    except Invalid as problem:
        return _page(request, session, row, str(problem), 400)
    said = _("The run goes on with this call.") if allow else _("The run goes on without it.")
    messages.success(request, said)
    return redirect("session", session.pk)


@require_POST
@login_required
def compaction(request: SignedIn, id: str) -> HttpResponse:
    session = session_or_404(request.user, id)
    allow = request.POST.get("allow") == "yes"
    return answer(
        request,
        session,
        lambda: acts.answer(request.user, session, approvals.COMPACTION, allow),
        said=_("The run goes on, compacted.") if allow else _("The run goes on as it is."),
    )


def _answer(request: SignedIn, session: AgentSession, row: Instruction, allow: bool) -> None:
    acts.answer(
        request.user,
        session,
        row.options["what"],
        allow,
        reason=request.POST.get("reason", ""),
        arguments=_entered(request.POST.get("arguments")) if allow else None,
        question=row.pk,
    )


def _entered(text: str | None) -> Mapping[str, Any] | None:
    """None where the form has no arguments. Raises Invalid."""
    if text is None:
        return None
    try:
        entered = loads(text)
    except WireError as error:
        text = _("the arguments are %(error)s") % {"error": told(str(error))}
        raise Invalid(text, "arguments") from error
    if not isinstance(entered, dict):
        raise Invalid(_("the arguments are one JSON object, in braces"), "arguments")
    return entered


def _page(
    request: SignedIn,
    session: AgentSession,
    row: Instruction,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    row.refresh_from_db()
    question = questions.of(session, row)
    context = {
        "section": "sessions",
        "session": session,
        "question": question,
        "entered": request.POST.get("arguments", question.json),
        "reason": request.POST.get("reason", ""),
        "problem": sentence(problem) if problem else "",
        "is_open": row.state == "queued" and can_steer(session) and not session.stop_requested,
    }
    return render(request, "session/approval.html", context, status=status)
