"""Budget reduction: older results that take more than their share of the limit are cut to it."""

from __future__ import annotations

from agentcore.compaction.cutting import cut_text
from agentcore.compaction.plan import CompactionPlan, Fate
from agentcore.compaction.replacing import Replacements
from agentcore.compaction.strategy import Situation, is_reached
from agentcore.messages import Role
from agentcore.snapshot import newest_group

NAME = "share"
SHARE = 0.02


class Share:
    priority = 15

    def should_trigger(self, situation: Situation) -> bool:
        return is_reached(situation)

    def compact(self, situation: Situation) -> CompactionPlan:
        """Oldest first; a share is 2% of the limit, said in bytes of this list."""
        snapshot, pressure = situation.snapshot, situation.pressure
        found = Replacements(situation, NAME, Fate.CUT)
        newest = newest_group(snapshot.messages)
        most = round(SHARE * pressure.limit * snapshot.sizes.bytes / max(pressure.used, 1))
        for row, message in enumerate(snapshot.messages):
            if found.is_enough:
                break
            if message.role is Role.TOOL and row not in newest and message.sizes.bytes > most:
                found.offer(row, lambda message: cut_text(message, most))
        return found.plan()
