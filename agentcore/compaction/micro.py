"""Stage 2: tool results shrink to their status, and thinking to its beginning."""

from __future__ import annotations

from agentcore.breakdown import Category
from agentcore.compaction.cutting import shorter_thinking
from agentcore.compaction.placeholders import masked
from agentcore.compaction.plan import CompactionPlan, Fate
from agentcore.compaction.replacing import Replacements, is_short
from agentcore.compaction.strategy import Situation, is_reached
from agentcore.messages import Role
from agentcore.snapshot import newest_group

NAME = "micro"


class Micro:
    priority = 30

    def should_trigger(self, situation: Situation) -> bool:
        return is_reached(situation)

    def compact(self, situation: Situation) -> CompactionPlan:
        """Oldest first; the newest group keeps its results and its thinking."""
        messages = situation.snapshot.messages
        found = Replacements(situation, NAME, Fate.MASKED)
        newest = newest_group(messages)
        tool, thinking = Role.TOOL, Category.THINKING
        may_think = thinking in situation.snapshot.sizes.breakdown
        for row, message in enumerate(messages):
            thinks = may_think and thinking in message.sizes.breakdown
            if message.role is not tool and not thinks:
                continue
            if row in newest or is_short(message):
                continue
            if found.is_enough:
                break
            if message.role is tool:
                found.offer(row, masked)
            else:
                found.offer(row, shorter_thinking, Fate.CUT)
        return found.plan()
