"""What people answer to a run that waits for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext as _

from agentcore.events import EventKind
from hermesweb import approvals, steering
from hermesweb.acts.errors import Invalid, Refused
from hermesweb.acts.telling import act
from hermesweb.models import AgentSession, InstructionState, Status
from hermesweb.wake import wake


def answer(
    who: User | None, session: AgentSession, what: str, allow: bool, *, reason: str = ""
) -> None:
    """Let the run go on: with the compaction, or without it until the list has grown. Refused
    where nothing waits, so that of two answers the first one holds."""
    if what != approvals.COMPACTION:
        text = _("nothing of the name %(name)s waits: use %(known)s")
        facts = {"name": f"{what!r:.80}", "known": approvals.COMPACTION}
        raise Invalid(text % facts, "call")

    def change(row: AgentSession) -> Mapping[str, Any]:
        asked = approvals.pending(row)
        if asked is None:
            raise Refused(_("no compaction waits for an answer: it was given already"), "answered")
        asked.options = {**asked.options, "allow": allow}
        asked.state, asked.by = InstructionState.TAKEN, who
        asked.save(update_fields=["options", "state", "by"])
        if not allow:
            steering.hold(row)
        if row.status == Status.WAITING:
            row.status, row.asked_at = Status.QUEUED, timezone.now()
        return {"what": what, "allow": allow, "reason": reason}

    act(who, session, EventKind.APPROVAL_GIVEN, change)
    wake(session.pk)


def refuse_overdue() -> None:
    """Nobody answered in time: as a no."""
    for asked in approvals.overdue():
        try:
            answer(None, asked.session, asked.options["what"], False, reason="nobody answered")
        except Refused:
            continue
