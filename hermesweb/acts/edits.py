"""What people do to the list itself: each waits in the queue for a border, as a revision."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from agentcore.compaction.edits import exclude_plan, new_topic_plan
from agentcore.compaction.result import CompactionState
from agentcore.directives import InstructionKind
from agentcore.errors import PlanError
from agentcore.events import EventKind
from hermesweb import approvals, lease, pins, wishes
from hermesweb.acts.errors import Invalid, Refused
from hermesweb.acts.naming import known
from hermesweb.acts.queue import enqueue, take_work
from hermesweb.acts.telling import act
from hermesweb.labels import words
from hermesweb.lives import snapshot_of
from hermesweb.models import AgentSession, Instruction
from hermesweb.sentences import told
from hermesweb.wake import wake


def undo(who: User | None, session: AgentSession, compaction: int | None = None) -> Instruction:
    """Take back the last change of the list, or what the compaction of that number did where it
    is the last one. Refused once a request was sent since."""

    def check(row: AgentSession) -> None:
        if compaction is not None:
            _check_is_last(row, compaction)
        if reason := wishes.why_no_undo(row):
            raise Refused(reason, "not_undoable")

    return wish(who, session, InstructionKind.UNDO, check)


def exclude(who: User | None, session: AgentSession, numbers: Collection[int]) -> Instruction:
    """Take messages out with their groups; a one-line note stands in their place. Refused for
    pins and for what the model has yet to see or answer."""

    def check(row: AgentSession) -> None:
        known(row, numbers)
        _try(lambda: exclude_plan(snapshot_of(row), numbers, pins.in_force(row)), row)

    return wish(who, session, InstructionKind.EXCLUDE, check, sorted(set(numbers)))


def restore(who: User | None, session: AgentSession, numbers: Collection[int]) -> Instruction:
    """Bring messages back with their groups, at their old places."""

    def check(row: AgentSession) -> None:
        known(row, numbers)
        alive = row.lives.filter(number__in=numbers, to_revision=None)
        if len(set(alive.values_list("number", flat=True))) == len(set(numbers)):
            raise Refused(_("it is in the list already: there is nothing to bring back"), "in_list")

    return wish(who, session, InstructionKind.RESTORE, check, sorted(set(numbers)))


def new_topic(who: User | None, session: AgentSession) -> Instruction:
    """End the context: all but the system message and the pins leaves, one note stands for it."""

    def check(row: AgentSession) -> None:
        _try(lambda: new_topic_plan(snapshot_of(row), pins.in_force(row)), row)

    return wish(who, session, InstructionKind.NEW_TOPIC, check)


def wish(
    who: User | None,
    session: AgentSession,
    kind: InstructionKind,
    check: Callable[[AgentSession], None],
    numbers: Collection[int] = (),
) -> Instruction:
    """Queue what changes the list; `check` refuses it with the row locked."""
    queued = Instruction(session=session, kind=kind, by=who)

    def change(row: AgentSession) -> Mapping[str, Any]:
        take_work(row, blocked=True)
        check(row)
        queued.options = {"revision": row.revision, "numbers": list(numbers)}
        return {**enqueue(row, queued), "numbers": list(numbers)}

    act(who, session, EventKind.INSTRUCTION_QUEUED, change, listed="numbers")
    wake(session.pk)
    return queued


def _try(plan: Any, row: AgentSession) -> None:
    """What is refused now would be at the border too, unless a worker is about to change it, or
    calls without a result are about to get one."""
    if (row.holder and row.status in lease.AT_WORK) or approvals.holds_group(row):
        return
    try:
        plan()
    except PlanError as error:
        raise Refused(told(str(error)), "protected") from error


def _check_is_last(row: AgentSession, number: int) -> None:
    found = row.stored_compactions.filter(number=number).first()
    if found is None:
        raise Invalid(_("there is no compaction %(number)s") % {"number": number}, "number")
    if found.state != CompactionState.APPLIED:
        text = _("compaction %(number)s is %(state)s: nothing to undo")
        raise Refused(text % {"number": number, "state": words(found.state)}, "not_applied")
    if wishes.made_by(row) != found.revision:
        text = _("the list was changed since compaction %(number)s: fork from before it instead")
        raise Refused(text % {"number": number}, "changed")
