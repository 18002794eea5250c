"""Stage 4: a model writes a structured summary of the middle (spec-compaction 4)."""

from __future__ import annotations

from dataclasses import replace

from agentcore.compaction.plan import CompactionPlan
from agentcore.compaction.strategy import Situation, is_reached
from agentcore.compaction.summarized import summarized
from agentcore.compaction.tail import tail_start

NAME = "auto"


class Auto:
    priority = 50

    def should_trigger(self, situation: Situation) -> bool:
        return is_reached(situation)

    def compact(self, situation: Situation) -> CompactionPlan:
        """All but the leading messages and the last `keep`, pins and instructions excepted."""
        stop = tail_start(situation.snapshot.messages, situation.stage.keep)
        return replace(summarized(situation, stop, NAME), structured=True)
