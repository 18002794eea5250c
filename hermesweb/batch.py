"""What a batch of events comes to in rows; only the recorder hands them in, with the row locked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import singledispatch
from typing import Any

from django.db.models import F
from django.utils import timezone

from agentcore.breakdown import total
from agentcore.compaction.plan import Fate, Origin
from agentcore.compaction.plan import Revision as RevisionValue
from agentcore.compaction.result import CompactionResult, CompactionState, Trigger
from agentcore.errors import InstructionChanged, StalePlan
from agentcore.events import (
    CheckpointSet,
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    Event,
    EventKind,
    MemoryInjected,
    MessageAdded,
    OverBudget,
    Repaired,
    RunEnd,
    RunEnded,
    RunStarted,
    SystemRebuilt,
    TurnEnded,
)
from agentcore.messages import Message
from agentcore.pressure import Pressure
from hermesweb import attempts, lives, totals
from hermesweb.models import (
    AgentSession,
    Compaction,
    Instruction,
    InstructionState,
    MemoryEntry,
    Status,
    StoredTurn,
)
from hermesweb.shown import shown

REPAIR_STAGE = "repair"
STATUS_AFTER = {RunEnd.BLOCKED: Status.BLOCKED, RunEnd.FAILED: Status.FAILED}


class Batch:
    """`births` wait so that many messages are stored at once. A batch tells of one compaction at
    most: summaries that failed and what was put in their place belong to the same `attempt`."""

    def __init__(self, session: AgentSession, events: Sequence[Event]) -> None:
        self.session = session
        self.births: list[lives.Birth] = []
        self.attempt: Compaction | None = None
        self.asked = next(
            (
                event.instruction
                for event in events
                if isinstance(event, CompactionEnded | CompactionFailed) and event.instruction
            ),
            None,
        )

    def take(self, event: Event) -> dict[str, Any]:
        """Change rows and totals; the facts to be told."""
        return {**event.facts, **_apply(event, self)}

    def flush(self) -> None:
        if self.births:
            lives.store(self.session, self.births)
            self.births = []


@singledispatch
def _apply(event: Event, batch: Batch) -> Mapping[str, Any]:
    """What an event changes besides being told; facts that only the rows know."""
    return {}


@_apply.register
def _(event: RunStarted, batch: Batch) -> Mapping[str, Any]:
    session = batch.session
    session.runs = event.run
    session.run_open = True
    session.run_end = session.run_reason = ""
    session.status = _working(session)
    return {}


@_apply.register
def _(event: RunEnded, batch: Batch) -> Mapping[str, Any]:
    session = batch.session
    session.run_open = session.stop_requested = False
    session.run_end, session.run_reason = event.end, shown(event.reason)
    session.status = STATUS_AFTER.get(event.end, Status.IDLE)
    return {}


@_apply.register
def _(event: MessageAdded, batch: Batch) -> Mapping[str, Any]:
    session, message = batch.session, event.message
    if event.instruction is not None:
        _became(event.instruction, message)
    batch.births.append(lives.appended(message, session.revision, event.turn, event.captured))
    session.last_number = message.number
    session.messages_alive += 1
    totals.weigh(session, message.sizes)
    return {"preview": lives.preview_of(message), "instruction": event.instruction}


@_apply.register
def _(event: CheckpointSet, batch: Batch) -> Mapping[str, Any]:
    batch.flush()
    batch.session.messages.filter(number=event.number).update(checkpoint=True)
    return {}


@_apply.register
def _(event: TurnEnded, batch: Batch) -> Mapping[str, Any]:
    session = batch.session
    session.turns = event.turn
    session.ratio = event.ratio
    session.breakdown = totals.plain(event.breakdown)
    session.status = _working(session)
    _measured(session, event.pressure)
    StoredTurn.objects.create(**_turn(event), session=session, **totals.gauge(session))
    return {}


@_apply.register
def _(event: Repaired, batch: Batch) -> Mapping[str, Any]:
    _revise(batch, event.revision, cause=event.kind, end=lives.End(Fate.REPAIRED, REPAIR_STAGE))
    return {}


@_apply.register
def _(event: SystemRebuilt, batch: Batch) -> Mapping[str, Any]:
    _revise(batch, event.revision, cause=event.kind, end=lives.End(Fate.REBUILT, ""))
    return {}


@_apply.register
def _(event: MemoryInjected, batch: Batch) -> Mapping[str, Any]:
    if event.revision:
        _revise(batch, event.revision, cause=event.kind, end=lives.End(Fate.REBUILT, ""))
    used = MemoryEntry.objects.filter(pk__in=[id for id, _ in event.entries])
    used.update(uses=F("uses") + 1)
    return {}


@_apply.register
def _(event: OverBudget, batch: Batch) -> Mapping[str, Any]:
    _measured(batch.session, event.pressure)
    batch.session.over_budget = True
    return {}


@_apply.register
def _(event: CompactionStarted, batch: Batch) -> Mapping[str, Any]:
    batch.session.status = Status.COMPACTING
    queued = Compaction.objects.filter(instruction=event.instruction or 0)
    queued.update(state=CompactionState.RUNNING)
    return {}


@_apply.register
def _(event: CompactionFailed, batch: Batch) -> Mapping[str, Any]:
    row = _attempt(batch, event.trigger)
    row.state = CompactionState.FAILED
    row.failure, row.detail = event.failure, shown(event.detail)
    row.turn, row.used_before = event.turn, event.pressure.used
    row.limit, row.unit = event.pressure.limit, event.pressure.unit
    row.save()
    batch.session.status = _working(batch.session)
    return {"compaction": row.number}


@_apply.register
def _(event: CompactionEnded, batch: Batch) -> Mapping[str, Any]:
    session, result = batch.session, event.result
    row = _attempt(batch, result.trigger)
    row.state = CompactionState.APPLIED if result.changed else CompactionState.NOOP
    row.failure = result.reason or row.failure
    attempts.fill(row, event)
    row.save()
    if result.changed and result.revision:
        _apply_result(batch, result, result.revision)
        session.compactions += 1
        attempts.name_turn(session, event)
    _measured(session, event.after)
    session.status = _working(session)
    return {"compaction": row.number}


def _working(session: AgentSession) -> Status:
    return Status.STOPPING if session.stop_requested else Status.RUNNING


def _measured(session: AgentSession, pressure: Pressure) -> None:
    totals.read(session, pressure)
    session.over_budget = session.over_budget and pressure.used > pressure.limit


def _became(instruction_id: int, message: Message) -> None:
    """Mark the instruction as taken, unless a person changed it after it was read."""
    waiting = Instruction.objects.filter(pk=instruction_id, state=InstructionState.QUEUED)
    asked = waiting.first()
    if asked is None or asked.text != message.value().get("content"):
        raise InstructionChanged(
            f"instruction {instruction_id} was edited or withdrawn: poll again"
        )
    waiting.update(state=InstructionState.TAKEN, taken_at=timezone.now(), number=message.number)


def _turn(event: TurnEnded) -> dict[str, Any]:
    return {
        "number": event.turn,
        "run": event.run,
        "requested_revision": event.requested.revision,
        "requested_number": event.requested.last_number,
        "ended_revision": event.ended.revision,
        "ended_number": event.ended.last_number,
        "usage": asdict(event.usage) if event.usage else None,
        "request_bytes": event.request_bytes,
        "stable_prefix": event.stable_prefix,
        "break_reason": event.break_reason or "",
        "seconds": event.seconds,
        "model": shown(event.model)[:200],
    }


def _revise(batch: Batch, revision: RevisionValue, *, cause: EventKind, end: lives.End) -> None:
    """A change whose plan the event does not carry: what stands for nothing was added."""
    births = [
        lives.Birth(
            message,
            place,
            revision.number,
            origin=None if message.replaces is not None else Origin.INJECTED,
            stage=end.stage,
        )
        for message, place in revision.begun
    ]
    _change(batch, revision, cause, dict.fromkeys(revision.ended, end), births)


def _apply_result(batch: Batch, result: CompactionResult, revision: RevisionValue) -> None:
    ends = {
        message.number: lives.End(cut.fate, cut.stage)
        for cut in result.plan.removals
        for message in result.before.messages[cut.start : cut.stop]
    }
    _check_pins(batch.session, ends)
    births = [
        lives.Birth(message, place, revision.number, origin=birth.origin, stage=birth.stage)
        for birth, (message, place) in zip(result.plan.births, revision.begun, strict=True)
    ]
    _change(batch, revision, EventKind.COMPACTION_ENDED, ends, births)


def _check_pins(session: AgentSession, ends: Mapping[int, lives.End]) -> None:
    """A pin that was set while the plan was made counts as well."""
    pinned = session.messages.filter(pinned=True).values_list("number", flat=True)
    if taken := sorted(ends.keys() & set(pinned)):
        raise StalePlan(f"messages {taken} were pinned meanwhile: compute the plan again")


def _change(
    batch: Batch,
    revision: RevisionValue,
    cause: EventKind,
    ends: Mapping[int, lives.End],
    births: list[lives.Birth],
) -> None:
    session = batch.session
    batch.flush()
    gone = lives.revise(session, revision, cause=cause, ends=ends, births=births)
    totals.weigh(session, gone, -1)
    totals.weigh(session, total(birth.message.sizes for birth in births))
    session.messages_alive += len(births) - len(revision.ended)
    session.revision, session.last_number = revision.number, revision.last_number


def _attempt(batch: Batch, trigger: Trigger) -> Compaction:
    if batch.attempt is None:
        batch.attempt = attempts.row_of(batch.session, trigger, batch.asked)
    return batch.attempt
