"""Observation masking: tool outputs older than the last turns shrink to their status; reasoning
and decisions stay as they are."""

from __future__ import annotations

from agentcore.compaction.placeholders import masked
from agentcore.compaction.plan import CompactionPlan, Fate
from agentcore.compaction.replacing import Replacements
from agentcore.compaction.strategy import Situation, is_reached
from agentcore.compaction.tail import turn_start
from agentcore.messages import Role

NAME = "mask"


class Mask:
    priority = 25

    def should_trigger(self, situation: Situation) -> bool:
        return is_reached(situation)

    def compact(self, situation: Situation) -> CompactionPlan:
        """Every result before the last `keep` turns: all at once, so that the prefix breaks
        once."""
        messages = situation.snapshot.messages
        found = Replacements(situation, NAME, Fate.MASKED)
        old, tool = messages[: turn_start(messages, situation.stage.keep)], Role.TOOL
        found.offer_all((row for row, one in enumerate(old) if one.role is tool), masked)
        return found.plan()
