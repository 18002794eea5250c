"""Stage 5: one short summary made from the ledger, so that it works while the model is down."""

from __future__ import annotations

from dataclasses import replace

from agentcore.compaction.notes import ledger_note
from agentcore.compaction.plan import CompactionPlan, Origin
from agentcore.compaction.strategy import Situation, is_reached
from agentcore.compaction.summarized import summarized
from agentcore.compaction.tail import tail_start
from agentcore.options import Direction

NAME = "partial"
SUMMARY_CHARS = 2_500


class Partial:
    priority = 60

    def should_trigger(self, situation: Situation) -> bool:
        return is_reached(situation)

    def compact(self, situation: Situation) -> CompactionPlan:
        """From the head up to the kept tail, or up to the last checkpoint before it."""
        messages = situation.snapshot.messages
        stop = tail_start(messages, situation.stage.keep)
        if situation.stage.direction is Direction.UP_TO:
            marked = situation.snapshot.indexes_of(situation.checkpoints)
            stop = max((row for row in marked if row < stop), default=stop)
        plan = summarized(situation, stop, NAME)
        births = tuple(
            replace(
                birth,
                message=ledger_note(plan.summarizes, SUMMARY_CHARS),
                origin=Origin.SUMMARY,
            )
            for birth in plan.births
        )
        return replace(plan, births=births, summarizes=())
