"""What a batch of events comes to in rows; only the recorder hands them in, with the row locked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import Any

from django.db.models import F

from agentcore.compaction.breaker import Breaker
from agentcore.compaction.plan import Fate
from agentcore.compaction.result import CompactionState, Trigger
from agentcore.events import (
    ApprovalWanted,
    CallWanted,
    CheckpointSet,
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    Edited,
    Erased,
    Event,
    EventKind,
    InstructionRefused,
    MemoryInjected,
    MessageAdded,
    OverBudget,
    Recovered,
    Repaired,
    RequestRetried,
    RunEnd,
    RunEnded,
    RunStarted,
    SystemRebuilt,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from agentcore.pressure import Pressure
from agentcore.said import as_json
from agentcore.usage import Usage
from agentcore.verify import Verification
from hermesweb import approvals, attempts, changes, lives, queued, spending, steering, totals
from hermesweb.models import AgentSession, Compaction, MemoryEntry, Status
from hermesweb.shown import shown

REPAIR_STAGE = "repair"
REBUILT = lives.End(Fate.REBUILT, "")
# Acts that say: what compaction did was not wanted.
HOLDING = (EventKind.UNDONE, EventKind.RESTORED)
STATUS_AFTER = {RunEnd.BLOCKED: Status.BLOCKED, RunEnd.FAILED: Status.FAILED}


class Batch:
    """`births` wait so that many messages are stored at once. A batch tells of one compaction at
    most: summaries that failed and what was put in their place belong to the same `attempt`."""

    def __init__(
        self, session: AgentSession, events: Sequence[Event], verified: Verification | None = None
    ) -> None:
        self.session = session
        self.verified = verified
        self.births: list[lives.Birth] = []
        self.attempt: Compaction | None = None
        self.asked = attempts.asked_by(events)
        # As they were run: a person may have altered what the message says.
        self.ran = {one.call.id: one.call for one in events if isinstance(one, ToolEnded)}

    def take(self, event: Event) -> dict[str, Any]:
        """Change rows and totals; the facts to be told."""
        return {**event.facts, **_apply(event, self)}

    def flush(self) -> None:
        if self.births:
            lives.store(self.session, self.births, self.ran)
            self.births = []


@singledispatch
def _apply(event: Event, batch: Batch) -> Mapping[str, Any]:
    """What an event changes besides being told; facts that only the rows know."""
    return {}


@_apply.register
def _(event: RunStarted, batch: Batch) -> Mapping[str, Any]:
    session = batch.session
    session.runs, session.run_open = event.run, True
    session.run_end, session.run_reason, session.run_said = "", "", {}
    session.status = _working(session)
    return {}


@_apply.register
def _(event: RunEnded, batch: Batch) -> Mapping[str, Any]:
    session = batch.session
    session.run_open = session.stop_requested = False
    approvals.end(session)
    if event.usage:
        spending.bill(session, event.usage, event.cost)
    session.run_end, session.run_reason = event.end, shown(event.reason)
    session.run_said = as_json(event.reason)
    session.status = STATUS_AFTER.get(event.end, Status.IDLE)
    return {}


@_apply.register
def _(event: MessageAdded, batch: Batch) -> Mapping[str, Any]:
    session, message = batch.session, event.message
    if event.instruction is not None:
        queued.become(event.instruction, message)
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
    approvals.end(session)
    session.turns = event.turn
    session.status = _working(session)
    _keep_turn(session, event)
    return {"near": steering.nears(session)}


@_apply.register
def _(event: RequestRetried, batch: Batch) -> Mapping[str, Any]:
    if event.usage:
        spending.bill(batch.session, event.usage, event.cost)
    return {}


@_apply.register
def _(event: Repaired | SystemRebuilt, batch: Batch) -> Mapping[str, Any]:
    end = lives.End(Fate.REPAIRED, REPAIR_STAGE) if isinstance(event, Repaired) else REBUILT
    batch.flush()
    changes.rebuilt(batch.session, event.revision, cause=event.kind, end=end)
    return {}


@_apply.register
def _(event: MemoryInjected, batch: Batch) -> Mapping[str, Any]:
    if event.revision:
        batch.flush()
        changes.rebuilt(batch.session, event.revision, cause=event.kind, end=REBUILT)
    used = MemoryEntry.objects.filter(pk__in=[id for id, _ in event.entries])
    used.update(uses=F("uses") + 1)
    return {}


@_apply.register
def _(event: ApprovalWanted, batch: Batch) -> Mapping[str, Any]:
    approvals.ask_compaction(batch.session, event.hook)
    return {}


@_apply.register
def _(event: CallWanted, batch: Batch) -> Mapping[str, Any]:
    if event.turn:
        _keep_turn(batch.session, event.turn)
    return approvals.ask_call(batch.session, event)


@_apply.register
def _(event: ToolStarted, batch: Batch) -> Mapping[str, Any]:
    if event.waited:
        approvals.use(batch.session)
    return {}


@_apply.register
def _(event: OverBudget, batch: Batch) -> Mapping[str, Any]:
    _measured(batch.session, event.pressure)
    batch.session.over_budget = True
    return {}


@_apply.register
def _(event: Edited, batch: Batch) -> Mapping[str, Any]:
    session = batch.session
    batch.flush()
    if event.kind in (EventKind.EXCLUDED, EventKind.TOPIC_STARTED):
        changes.check_pins(session, event.revision)
    if event.kind == EventKind.UNDONE:
        attempts.undone(session)
    changes.by_plan(session, event.before, event.plan, event.revision, cause=event.kind)
    if event.kind in HOLDING:
        steering.hold(session)
    elif event.kind == EventKind.TOPIC_STARTED and session.hold_until:
        # It was there to keep what came back, which has left now.
        steering.end_hold(session)
    queued.take(event.instruction)
    return {"used": session.used, "limit": session.limit, "unit": session.unit}


@_apply.register
def _(event: Erased, batch: Batch) -> Mapping[str, Any]:
    batch.flush()
    return queued.erase(batch.session, event)


@_apply.register
def _(event: InstructionRefused, batch: Batch) -> Mapping[str, Any]:
    queued.take(event.instruction, refusal=shown(event.reason))
    return {}


@_apply.register
def _(event: CompactionStarted, batch: Batch) -> Mapping[str, Any]:
    row = _attempt(batch, event.trigger)
    row.state = CompactionState.RUNNING
    row.turn = batch.session.turns
    row.save()
    batch.session.status = Status.COMPACTING
    return {"compaction": row.number}


@_apply.register
def _(event: CompactionFailed, batch: Batch) -> Mapping[str, Any]:
    row = _attempt(batch, event.trigger)
    approvals.use(batch.session)
    cost = attempts.failed(row, event)
    row.save()
    if event.usage:
        spending.bill(batch.session, event.usage, cost)
    queued.take(batch.asked)
    steering.keep_breaker(batch.session, event.breaker)
    batch.session.status = _working(batch.session)
    return {"compaction": row.number, "cost": spending.usd(cost)}


@_apply.register
def _(event: CompactionEnded, batch: Batch) -> Mapping[str, Any]:
    session, result = batch.session, event.result
    row = _attempt(batch, result.trigger)
    approvals.use(session)
    cost = attempts.fill(row, event, batch.verified)
    row.save()
    if result.summaries:
        spending.bill(session, Usage(**row.usage) if row.usage else None, cost)
    queued.take(batch.asked)
    if result.changed and result.revision:
        batch.flush()
        changes.check_pins(session, result.revision)
        changes.by_plan(
            session, result.old, result.plan, result.revision, cause=EventKind.COMPACTION_ENDED
        )
        session.compactions += 1
        attempts.name_turn(session, event)
    if result.summaries and not result.failures:
        steering.keep_breaker(session, Breaker())
    session.thrash = session.thrash or event.thrash
    _measured(session, event.after)
    session.status = _working(session)
    return {
        "compaction": row.number,
        "state": row.state,
        "near": steering.nears(session),
        "cost": spending.usd(cost),
    }


@_apply.register
def _(event: Recovered, batch: Batch) -> Mapping[str, Any]:
    attempts.recover(batch.session)
    return {}


def _working(session: AgentSession) -> Status:
    return Status.STOPPING if session.stop_requested else Status.RUNNING


def _keep_turn(session: AgentSession, event: TurnEnded) -> None:
    session.ratio = event.ratio
    session.breakdown = totals.plain(event.breakdown)
    _measured(session, event.pressure)
    spending.keep_turn(session, event)


def _measured(session: AgentSession, pressure: Pressure) -> None:
    totals.read(session, pressure)
    session.over_budget = session.over_budget and pressure.used > pressure.limit
    steering.grown(session)


def _attempt(batch: Batch, trigger: Trigger) -> Compaction:
    if batch.attempt is None:
        batch.attempt = attempts.row_of(batch.session, trigger, batch.asked)
    return batch.attempt
