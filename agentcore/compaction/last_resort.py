"""Stage 6: everything but the leading messages, pins and the instruction goes."""

from __future__ import annotations

from dataclasses import replace

from agentcore.compaction.notes import omission_with_ledger
from agentcore.compaction.plan import CompactionPlan, Fate
from agentcore.compaction.strategy import Situation, is_reached
from agentcore.compaction.summarized import summarized

NAME = "last_resort"
# The facts under the note: at most so many characters, and of what leaves at most this share.
LEDGER_CHARS, LEDGER_SHARE = 2_500, 0.25


class LastResort:
    priority = 70

    def should_trigger(self, situation: Situation) -> bool:
        return is_reached(situation)

    def compact(self, situation: Situation) -> CompactionPlan:
        """One note stands for all of it, with the facts that hold; results that no reply has seen
        stay (I8)."""
        plan = summarized(situation, len(situation.snapshot.messages), NAME)
        size = sum(message.sizes.bytes for message in plan.summarizes)
        chars = min(LEDGER_CHARS, int(size * LEDGER_SHARE))
        births = tuple(
            replace(birth, message=omission_with_ledger(plan.summarizes, chars))
            for birth in plan.births
        )
        removals = tuple(replace(cut, fate=Fate.DROPPED) for cut in plan.removals)
        return replace(plan, removals=removals, births=births, summarizes=())
