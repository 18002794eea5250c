"""What a border makes of an instruction that changes the list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from agentcore.compaction.edits import exclude_plan, new_topic_plan, restore_plan, undo_plan
from agentcore.compaction.plan import CompactionPlan
from agentcore.context import Context
from agentcore.directives import Instruction, InstructionKind
from agentcore.errors import PlanError
from agentcore.events import Edited, Erased, EventKind, InstructionRefused
from agentcore.snapshot import Snapshot

Plan: TypeAlias = Callable[[Snapshot, Instruction, frozenset[int]], CompactionPlan]

PLANS: Mapping[InstructionKind, tuple[EventKind, Plan]] = {
    InstructionKind.UNDO: (
        EventKind.UNDONE,
        lambda snapshot, asked, pins: undo_plan(
            snapshot, asked.returning, frozenset(asked.numbers)
        ),
    ),
    InstructionKind.RESTORE: (
        EventKind.RESTORED,
        lambda snapshot, asked, pins: restore_plan(
            snapshot, asked.returning, frozenset(asked.numbers), pins
        ),
    ),
    InstructionKind.EXCLUDE: (
        EventKind.EXCLUDED,
        lambda snapshot, asked, pins: exclude_plan(snapshot, asked.numbers, pins),
    ),
    InstructionKind.NEW_TOPIC: (
        EventKind.TOPIC_STARTED,
        lambda snapshot, asked, pins: new_topic_plan(snapshot, pins),
    ),
}

EDITS = frozenset({*PLANS, InstructionKind.ERASE})


def edit(
    context: Context, instruction: Instruction, pins: frozenset[int]
) -> Edited | Erased | InstructionRefused:
    """Change the list, or say why it cannot be changed so. The list is as it was then."""
    if instruction.kind is InstructionKind.ERASE:
        (number,) = instruction.numbers
        return Erased(number, context.erase(number), instruction.id)
    kind, plan_of = PLANS[instruction.kind]
    snapshot = context.snapshot()
    if instruction.revision is not None and instruction.revision != snapshot.state.revision:
        reason = f"the list moved on to revision {snapshot.state.revision}: look at it again"
        return InstructionRefused(instruction.id, reason)
    if instruction.against:
        return InstructionRefused(instruction.id, instruction.against)
    try:
        plan = plan_of(snapshot, instruction, pins)
    except PlanError as error:
        return InstructionRefused(instruction.id, str(error))
    return Edited(kind, snapshot, plan, context.apply(plan, kind), context.sizes, instruction.id)
