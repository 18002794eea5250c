"""The row of a compaction, from its number to its outcome."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from agentcore.compaction.result import (
    CompactionResult,
    CompactionState,
    Failure,
    Trigger,
    WrittenSummary,
)
from agentcore.compaction.summarizer import BY_PERSON
from agentcore.events import CompactionEnded, CompactionFailed, CompactionStarted, Event
from agentcore.ledger.survival import as_json as survival_json
from agentcore.said import Said, as_json
from agentcore.usage import Usage
from agentcore.verify import Verification, verify
from hermesweb import totals, wishes
from hermesweb.models import AgentSession, Compaction, InstructionState
from hermesweb.models.columns import NAME_CHARS
from hermesweb.prices import prices_of
from hermesweb.shown import shown

# Lost facts a kind that the row tells one by one; the rest is counted.
LOST_TOLD = 100


def asked_by(events: Sequence[Event]) -> int | None:
    """The instruction of the compaction that a batch tells of; None where nobody asked for it."""
    told = (
        event.instruction
        for event in events
        if isinstance(event, CompactionStarted | CompactionEnded | CompactionFailed)
    )
    return next(filter(None, told), None)


def verified(events: Iterable[Event]) -> Verification | None:
    """The proof of the compaction that is told of, where it changed the list."""
    for event in events:
        if isinstance(event, CompactionEnded) and event.result.changed:
            result = event.result
            return verify(result.old, result.new, result.plan, event.after)
    return None


def row_of(session: AgentSession, trigger: Trigger, asked: int | None) -> Compaction:
    """That of the one that was queued by the instruction `asked`, or the one that runs; else a new
    one with the next number."""
    if asked is not None:
        there = Compaction.objects.filter(instruction=asked).first()
    else:
        running = session.stored_compactions.filter(state=CompactionState.RUNNING)
        there = running.filter(trigger=trigger, instruction=None).first()
    if there:
        return there
    session.compaction_number += 1
    return Compaction(
        session=session, number=session.compaction_number, trigger=trigger, instruction_id=asked
    )


def fill(row: Compaction, event: CompactionEnded, proof: Verification | None) -> Decimal | None:
    """USD that the summaries took which were taken; None where that is not known."""
    result = event.result
    before, after = result.before, result.after
    row.state = _state(result)
    if not result.failures:
        row.failure = result.reason or row.failure
    row.turn, row.seconds = event.turn, event.seconds
    row.revision = result.revision.number if result.revision else None
    row.before, row.after = result.old.sizes.bytes, result.new.sizes.bytes
    row.breakdown_before, row.breakdown_after = totals.plain(before), totals.plain(after)
    row.used_before, row.used_after = event.pressure.used, event.after.used
    row.limit, row.unit = event.after.limit, event.after.unit
    row.stages = [asdict(stage) for stage in result.stages]
    row.left_out = result.left_out
    row.hooks = shown([asdict(report) for report in event.hooks])
    if proof:
        row.checks = shown([asdict(check) for check in proof.checks])
        survived = survival_json(proof.survival)
        row.survival = {kind: bounded(told) for kind, told in survived.items()}
    return _price(row, result)


def failed(row: Compaction, event: CompactionFailed) -> Decimal | None:
    """USD that the summary took which was not taken; None where that is not known."""
    row.state = CompactionState.FAILED
    row.failure, row.detail = event.failure, shown(event.detail)
    row.said = as_json(event.detail)
    row.turn, row.used_before = event.turn, event.pressure.used
    row.limit, row.unit = event.pressure.limit, event.pressure.unit
    row.hooks = shown([asdict(report) for report in event.hooks])
    name = row.options.get("model") or row.session.summary_model or row.session.model
    return prices_of(name).cost(event.usage) if event.usage else None


def recover(session: AgentSession) -> None:
    """What a lost worker left running: a wish that still waits is tried again, the rest is told as
    broken off."""
    running = session.stored_compactions.filter(state=CompactionState.RUNNING)
    running.filter(instruction__state=InstructionState.QUEUED).update(state=CompactionState.QUEUED)
    lost = Said("the worker was lost while it ran")
    running.update(
        state=CompactionState.FAILED, failure=Failure.CANCELLED, detail=lost, said=as_json(lost)
    )


def undone(session: AgentSession) -> None:
    """The last revision is about to be taken back: the compaction that it made, or that an undo of
    an undo brings back, changes its state."""
    number, steps = wishes.root(session)
    before, after = CompactionState.APPLIED, CompactionState.UNDONE
    if steps % 2:
        before, after = after, before
    changed = session.stored_compactions.filter(revision=number, state=before).update(state=after)
    session.compactions += -changed if after is CompactionState.UNDONE else changed


def name_turn(session: AgentSession, event: CompactionEnded) -> None:
    """The turn before a compaction names it, as the ledger does."""
    stages = event.result.stages
    session.stored_turns.filter(number=event.turn).update(
        action=stages[-1].stage if stages else "", after=event.result.new.sizes.bytes
    )


def _state(result: CompactionResult) -> CompactionState:
    """A noop is told of by hand only."""
    if result.changed:
        return CompactionState.APPLIED
    by_hand = result.trigger is Trigger.MANUAL
    return CompactionState.NOOP if by_hand else CompactionState.FAILED


def _price(row: Compaction, result: CompactionResult) -> Decimal | None:
    """As `fill`. A summary that failed is told and billed apart, and the row's own cost is not
    known beside it."""
    summaries = result.summaries
    if summaries:
        row.model = shown(summaries[-1].model)[:NAME_CHARS]
    asked = [one for one in summaries if one.usage or one.model != BY_PERSON]
    usages = [one.usage for one in asked if one.usage]
    cost: Decimal | None = None if asked else Decimal(0)
    if asked and len(usages) == len(asked):
        usage = sum(usages, Usage())
        row.usage = asdict(usage)
        cost = prices_of(_endpoint(row, asked[-1])).cost(usage)
    row.cost = None if result.failures else cost
    return cost


def _endpoint(row: Compaction, summary: WrittenSummary) -> str:
    """Under which name it was asked for: the one that a person chose, else the session's."""
    session = row.session
    return summary.endpoint or session.summary_model or session.model


def bounded(told: dict[str, Any]) -> dict[str, Any]:
    """Survival of one kind, with so many lost facts as a page tells."""
    lost = told["lost"]
    return shown({**told, "lost": lost[:LOST_TOLD], "more": max(0, len(lost) - LOST_TOLD)})
