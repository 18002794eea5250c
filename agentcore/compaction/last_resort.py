"""Stage 6: everything but the leading messages, pins and the instruction goes."""

from __future__ import annotations

from dataclasses import replace

from agentcore.compaction.plan import CompactionPlan, Fate
from agentcore.compaction.strategy import Situation, is_reached
from agentcore.compaction.summarized import summarized

NAME = "last_resort"


class LastResort:
    priority = 70

    def should_trigger(self, situation: Situation) -> bool:
        return is_reached(situation)

    def compact(self, situation: Situation) -> CompactionPlan:
        """One note stands for all of it; results that no reply has seen stay (I8)."""
        plan = summarized(situation, len(situation.snapshot.messages), NAME)
        removals = tuple(replace(cut, fate=Fate.DROPPED) for cut in plan.removals)
        return replace(plan, removals=removals, summarizes=())
