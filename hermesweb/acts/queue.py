"""The queue of a session, and what starts and stops work on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext as _

from agentcore.compaction.asked import CompactionOptions
from agentcore.compaction.result import CompactionState, Failure, Trigger
from agentcore.directives import InstructionKind
from agentcore.events import EventKind, RunEnd
from agentcore.kinds import shown
from hermesweb import approvals, lease, steering, wishes
from hermesweb.acts.errors import Invalid, Refused, read_only
from hermesweb.acts.telling import act
from hermesweb.labels import words
from hermesweb.models import (
    AgentSession,
    Compaction,
    Instruction,
    InstructionState,
    SessionKind,
    Status,
)
from hermesweb.shown import storable
from hermesweb.wake import wake

MOST_BYTES = 1_000_000
DEFAULT = CompactionOptions()


def send(who: User | None, session: AgentSession, text: str) -> Instruction:
    """Queue an instruction. Raises Invalid for the text, Refused for the session."""
    text = _checked(text)
    queued = Instruction(session=session, kind=InstructionKind.MESSAGE, text=text, by=who)

    def change(row: AgentSession) -> Mapping[str, Any]:
        take_work(row)
        return enqueue(row, queued)

    act(who, session, EventKind.INSTRUCTION_QUEUED, change, quotes=["text"])
    wake(session.pk)
    return queued


def edit(who: User | None, session: AgentSession, instruction_id: int, text: str) -> Instruction:
    text = _checked(text)
    waiting = _waiting(session, instruction_id, InstructionKind.MESSAGE)

    def change(row: AgentSession) -> Mapping[str, Any]:
        if not _still_queued(waiting).update(text=text):
            raise _too_late(waiting)
        return {"instruction": waiting.pk, "text": shown(text)}

    act(who, session, EventKind.INSTRUCTION_EDITED, change, quotes=["text"])
    waiting.text = text
    return waiting


def withdraw(who: User | None, session: AgentSession, instruction_id: int) -> None:
    waiting = _waiting(session, instruction_id)

    def change(row: AgentSession) -> Mapping[str, Any]:
        compaction = Compaction.objects.filter(instruction=waiting)
        if compaction.filter(state=CompactionState.RUNNING).exists():
            raise _too_late(waiting)
        if not _still_queued(waiting).update(state=InstructionState.WITHDRAWN):
            raise _too_late(waiting)
        compaction.update(state=CompactionState.FAILED, failure=Failure.CANCELLED)
        return {"instruction": waiting.pk}

    act(who, session, EventKind.INSTRUCTION_WITHDRAWN, change)


def compact_now(
    who: User | None,
    session: AgentSession,
    options: CompactionOptions = DEFAULT,
    *,
    preview: str = "",
) -> Compaction:
    """Queue a compaction; it is made at the next border, by the plan of that preview where one is
    named. Refused while another one waits."""
    asked = storable(asdict(options))
    queued = Instruction(
        session=session,
        kind=InstructionKind.COMPACT,
        text=asked["focus"],
        options={"asked": asked, "preview": preview},
        by=who,
    )
    made: list[Compaction] = []

    def change(row: AgentSession) -> Mapping[str, Any]:
        take_work(row)
        unfinished = (CompactionState.QUEUED, CompactionState.RUNNING)
        if waiting := row.stored_compactions.filter(state__in=unfinished).first():
            text = _("compaction %(number)s is %(state)s already")
            told = {"number": waiting.number, "state": words(waiting.state)}
            raise Refused(text % told, "running")
        facts = enqueue(row, queued)
        row.compaction_number += 1
        made.append(
            Compaction.objects.create(
                session=row,
                number=row.compaction_number,
                state=CompactionState.QUEUED,
                trigger=Trigger.MANUAL,
                by=who,
                instruction=queued,
                options=asked,
                turn=row.turns,
            )
        )
        return {**facts, "compaction": row.compaction_number}

    act(who, session, EventKind.INSTRUCTION_QUEUED, change)
    wake(session.pk)
    return made[0]


def stop(who: User | None, session: AgentSession) -> None:
    """End the run at once: between two pieces of a reply, or with the running command killed. One
    that waits for a person ends with its calls unanswered. One that has not begun is taken back;
    its instructions wait in the queue."""

    def change(row: AgentSession) -> Mapping[str, Any]:
        if row.status not in (*lease.AT_WORK, Status.QUEUED, Status.WAITING):
            text = _("nothing runs here: the session is %(status)s")
            raise Refused(text % {"status": words(row.status)}, "not_running")
        if row.status not in lease.AT_WORK:
            row.asked_at = timezone.now()
        row.stop_requested = row.run_open or row.status in lease.AT_WORK
        row.status = Status.STOPPING if row.stop_requested else Status.IDLE
        if row.runs and not row.run_end and not row.run_open:
            row.run_end = RunEnd.STOPPED
        return {}

    act(who, session, EventKind.STOP_REQUESTED, change)
    if session.stop_requested and not session.holder:
        wake(session.pk)


def resume(who: User | None, session: AgentSession) -> None:
    """Go on with the queue, with a run that did not end with an answer, and with automatic
    compaction."""

    def change(row: AgentSession) -> Mapping[str, Any]:
        if approvals.holds_group(row):
            raise Refused(_("the run waits for an answer: give it, or stop the run"), "waiting")
        held = row.hold or row.thrash
        waiting = wishes.queued(row).exists()
        unfinished = waiting or row.run_open or row.run_end not in ("", RunEnd.ANSWERED)
        if not held and not unfinished:
            raise Refused(_("there is nothing to resume: the last run was answered"), "answered")
        row.thrash = False
        steering.end_hold(row)
        if unfinished:
            row.run_end = ""
            take_work(row, blocked=True)
        return {"run": row.runs if unfinished else None}

    act(who, session, EventKind.RESUMED, change)
    if session.status == Status.QUEUED:
        wake(session.pk)


def take_work(row: AgentSession, *, blocked: bool = False) -> None:
    """Queue the session unless a worker holds it, or calls of its list wait for a person: then the
    wish waits with them."""
    if row.kind != SessionKind.RUN:
        raise read_only(row.kind)
    if row.status == Status.ARCHIVED:
        raise Refused(_("the session is archived: take it out of the archive first"), "archived")
    if row.status == Status.BLOCKED and not blocked:
        raise Refused(
            _(
                "the next request does not fit the window: unpin, exclude, compact or choose a "
                "larger window, then resume"
            ),
            "blocked",
        )
    if row.status not in lease.AT_WORK and not approvals.holds_group(row):
        row.status = Status.QUEUED
        row.stop_requested = False
        row.asked_at = timezone.now()


def enqueue(row: AgentSession, queued: Instruction) -> dict[str, Any]:
    queued.save()
    return {
        "instruction": queued.pk,
        "kind": queued.kind,
        "place": wishes.queued(row).count(),
        "text": shown(queued.text),
    }


def _checked(text: str) -> str:
    if not text.strip():
        raise Invalid(_("an instruction cannot be empty: write what is to be done"), "text")
    text = str(storable(text))
    if (size := len(text.encode())) > MOST_BYTES:
        raise Invalid(
            _(
                "%(size)s bytes are over the %(most)s of an instruction: put the text into a file "
                "of the workspace and name it"
            )
            % {"size": f"{size:,}", "most": f"{MOST_BYTES:,}"},
            "text",
        )
    return text


def _waiting(
    session: AgentSession, instruction_id: int, kind: InstructionKind | None = None
) -> Instruction:
    queued = session.instructions.exclude(kind=InstructionKind.APPROVAL)
    found = queued.filter(pk=instruction_id).first()
    if found is None or (kind and found.kind != kind):
        text = _("there is no queued instruction %(id)s here")
        raise Invalid(text % {"id": instruction_id}, "id")
    return found


def _still_queued(waiting: Instruction) -> Any:
    return Instruction.objects.filter(pk=waiting.pk, state=InstructionState.QUEUED)


def _too_late(waiting: Instruction) -> Refused:
    text = _("instruction %(id)s is no longer in the queue")
    return Refused(text % {"id": waiting.pk}, "taken")
