"""The row of a compaction, from its number to its outcome."""

from __future__ import annotations

from dataclasses import asdict

from django.utils import timezone

from agentcore.compaction.result import Trigger
from agentcore.events import CompactionEnded
from hermesweb import totals
from hermesweb.models import AgentSession, Compaction, Instruction, InstructionState


def row_of(session: AgentSession, trigger: Trigger, asked: int | None) -> Compaction:
    """That of the one that was queued by the instruction `asked`, which is taken by this; else a
    new one with the next number."""
    if asked is not None:
        Instruction.objects.filter(pk=asked).update(
            state=InstructionState.TAKEN, taken_at=timezone.now()
        )
        queued = Compaction.objects.filter(instruction=asked).first()
        if queued:
            return queued
    session.compaction_number += 1
    return Compaction(
        session=session, number=session.compaction_number, trigger=trigger, instruction_id=asked
    )


def fill(row: Compaction, event: CompactionEnded) -> None:
    result = event.result
    before, after = result.breakdowns
    row.turn, row.seconds = event.turn, event.seconds
    row.revision = result.revision.number if result.revision else None
    row.before, row.after = result.before.sizes.bytes, result.after.sizes.bytes
    row.breakdown_before, row.breakdown_after = totals.plain(before), totals.plain(after)
    row.used_before, row.used_after = event.pressure.used, event.after.used
    row.limit, row.unit = event.after.limit, event.after.unit
    row.stages = [asdict(stage) for stage in result.stages]


def name_turn(session: AgentSession, event: CompactionEnded) -> None:
    """The turn before a compaction names it, as the ledger does."""
    stages = event.result.stages
    session.stored_turns.filter(number=event.turn).update(
        action=stages[-1].stage if stages else "", after=event.result.after.sizes.bytes
    )
