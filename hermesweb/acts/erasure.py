from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils.translation import gettext as _

from agentcore.directives import InstructionKind
from agentcore.events import EventKind
from hermesweb import approvals, erasing
from hermesweb.acts.edits import wish
from hermesweb.acts.errors import Refused
from hermesweb.acts.naming import known
from hermesweb.acts.telling import act
from hermesweb.models import AgentSession, Instruction, InstructionState
from hermesweb.recorder import locked


def erase(who: User, session: AgentSession, number: int) -> Mapping[str, Any] | Instruction:
    """Replace a message's text by its length and hash, for good: what is told of it. A worker that
    has the session holds the text and does it at its next border: what waits for that. Raises
    PermissionDenied for all but staff."""
    if not who.is_staff:
        text = _("Only staff may erase a text: ask whoever runs this installation.")
        raise PermissionDenied(text)
    with transaction.atomic():
        row = locked(session.pk)
        if row.holder:
            return wish(
                who, session, InstructionKind.ERASE, lambda row: _check(row, number), [number]
            )
        return _at_once(who, session, number)


def _at_once(who: User, session: AgentSession, number: int) -> Mapping[str, Any]:
    """Nobody has the session while its row is locked; whoever takes it next reads what is left."""
    facts: dict[str, Any] = {}

    def change(row: AgentSession) -> Mapping[str, Any]:
        _check(row, number)
        facts.update(erasing.erase(row, number))
        return facts

    act(who, session, EventKind.ERASED, change)
    return facts


def _check(row: AgentSession, number: int) -> None:
    known(row, [number])
    if row.messages.filter(number=number, erased=True).exists():
        raise Refused(_("message %(number)s was erased before") % {"number": number}, "erased")
    if approvals.on_message(row, number).filter(state=InstructionState.QUEUED).exists():
        text = _("a call of message %(number)s waits for an answer: give it, or stop the run")
        raise Refused(text % {"number": number}, "waiting")
    if erasing.is_waiting(row, number):
        text = _("message %(number)s waits to be erased already")
        raise Refused(text % {"number": number}, "queued")
