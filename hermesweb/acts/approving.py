"""What people answer to a run that waits for them."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext as _

from agentcore.errors import ToolError, WireError
from agentcore.events import EventKind
from agentcore.kinds import shown
from agentcore.messages import ToolCall
from agentcore.redact import MASKED
from agentcore.wire import dumps, loads
from hermesweb import approvals, steering
from hermesweb.acts.errors import Invalid, Refused
from hermesweb.acts.naming import usable
from hermesweb.acts.telling import act
from hermesweb.models import AgentSession, Instruction, InstructionState, Status
from hermesweb.sentences import told
from hermesweb.shown import storable
from hermesweb.tools import toolbox_of
from hermesweb.wake import wake

REASON_CHARS = 2_000
ARGUMENTS_BYTES = 1_000_000
# Facts of an answer on a call that a message says too.
QUOTED = ("reason", "old", "new")


def answer(
    who: User | None,
    session: AgentSession,
    what: str,
    allow: bool,
    *,
    reason: str = "",
    arguments: Mapping[str, Any] | None = None,
    question: int | None = None,
    late: bool = False,
) -> None:
    """Let the run go on: with what it asked for, or without. `what` is `compaction` or the id of a
    call, of several alike the newest; `question` names one for certain. `arguments` are run in
    place of the model's, `reason` is read by it; `late`: nobody answered. Refused where nothing
    waits, so that of two answers the first one holds."""
    if len(reason) > REASON_CHARS:
        text = _("a reason has at most %(most)s characters")
        raise Invalid(text % {"most": f"{REASON_CHARS:,}"}, "reason")
    reason = str(storable(reason)).strip()
    quotes: list[str] = []

    def change(row: AgentSession) -> Mapping[str, Any]:
        asked = _asked(row, what, question)
        given = {"allow": allow, "reason": reason, "late": late}
        facts: Mapping[str, Any] = {"what": asked.options["what"], **given}
        if approvals.is_on_call(asked):
            facts = {**facts, **_on_call(row, asked, arguments if allow else None)}
            quotes.extend(QUOTED)
        elif not allow:
            steering.hold(row)
        asked.options = {**asked.options, **given}
        asked.state, asked.by = InstructionState.TAKEN, who
        asked.save(update_fields=["options", "state", "by", "text"])
        if row.status == Status.WAITING and not approvals.pending(row).exists():
            row.status, row.asked_at = Status.QUEUED, timezone.now()
        return facts

    act(who, session, EventKind.APPROVAL_GIVEN, change, quotes=quotes)
    if session.status == Status.QUEUED:
        wake(session.pk)


def refuse_overdue() -> None:
    """Nobody answered in time: as a no."""
    for asked in approvals.overdue():
        reason = "nobody answered"
        if approvals.is_on_call(asked):
            reason = f"within {approvals.minutes(asked)} minutes"
        try:
            answer(
                None,
                asked.session,
                asked.options["what"],
                False,
                reason=reason,
                question=asked.pk,
                late=True,
            )
        except Refused:
            continue


def _asked(row: AgentSession, what: str, question: int | None) -> Instruction:
    """The question that is answered; with the row locked."""
    found = approvals.named(row, what, question)
    if found is None:
        text = _("nothing of the name %(name)s was asked here")
        raise Invalid(text % {"name": f"{what!r:.80}"}, "call")
    if found.state == InstructionState.WITHDRAWN:
        raise Refused(_("the answer is no longer wanted: the run ended"), "ended")
    if found.state != InstructionState.QUEUED:
        raise Refused(_said(found), "answered")
    if row.stop_requested:
        raise Refused(_("the run is being stopped: its calls are not run"), "stopping")
    return found


def _said(answered: Instruction) -> str:
    if not answered.by:
        return _("it was answered already: nobody did in time, which counts as a no")
    if answered.options["allow"]:
        return _("it was answered already: %(name)s allowed it") % {"name": answered.by}
    return _("it was answered already: %(name)s denied it") % {"name": answered.by}


def _on_call(
    row: AgentSession, asked: Instruction, arguments: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Keep what the call is to be run with; what is told of it. Raises Invalid for arguments that
    the tool does not take."""
    call = approvals.calls_of(row, [asked])[asked.pk]
    altered = None if arguments is None else _altered(call, arguments)
    if altered is not None:
        _check(row, ToolCall(call.id, call.name, altered))
        asked.text = altered
        asked.options = {**asked.options, "altered": True}
    return {
        "question": asked.pk,
        "tool": asked.options["tool"],
        "message": asked.options["message"],
        "old": shown(call.arguments),
        "new": None if altered is None else shown(altered),
        "sha256": {"old": _digest(call.arguments), "new": altered and _digest(altered)},
    }


def _altered(call: ToolCall, arguments: Mapping[str, Any]) -> str | None:
    """The JSON that a person wants it to be run with; None for what the model wrote. A value that
    is left as it was shown stays as it was, its masked secrets too."""
    before, seen = loads(call.arguments or "{}"), approvals.readable(call)[0]
    wanted = {}
    for name, value in arguments.items():
        is_masked = name in before and seen.get(name) != before[name]
        if name in before and seen.get(name) == value:
            wanted[name] = before[name]
        elif is_masked and MASKED in dumps(value):
            text = _(
                "%(name)s holds %(mask)s in place of a secret: write the whole value, or leave it "
                "as it was shown"
            )
            raise Invalid(text % {"name": name, "mask": MASKED}, "arguments")
        else:
            wanted[name] = value
    try:
        return None if wanted == before else dumps(wanted)
    except WireError as error:
        text = _("the arguments have no JSON form: %(error)s")
        raise Invalid(text % {"error": told(str(error))}, "arguments") from error


def _check(row: AgentSession, call: ToolCall) -> None:
    if (size := len(call.arguments.encode("utf-8", "surrogatepass"))) > ARGUMENTS_BYTES:
        text = _("%(size)s bytes are over the %(most)s of arguments")
        raise Invalid(text % {"size": f"{size:,}", "most": f"{ARGUMENTS_BYTES:,}"}, "arguments")
    try:
        profile = usable(row.version_in_force).value
        toolbox_of(row, profile).check(call)
    except ToolError as error:
        text = _("%(tool)s does not take them: %(error)s")
        raise Invalid(text % {"tool": call.name, "error": told(str(error))}, "arguments") from error


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
