"""The newest results together do not fit: each is cut to its fair share, head and notice kept."""

from __future__ import annotations

from collections.abc import Sequence

from agentcore.compaction.cutting import cut_text
from agentcore.compaction.plan import CompactionPlan, Fate
from agentcore.compaction.replacing import Replacements
from agentcore.compaction.strategy import Situation, is_reached
from agentcore.messages import Role
from agentcore.snapshot import newest_group

NAME = "fair_share"
# What a result keeps at least: enough to be read on from.
LEAST_BYTES = 400


class FairShare:
    priority = 80

    def should_trigger(self, situation: Situation) -> bool:
        return is_reached(situation)

    def compact(self, situation: Situation) -> CompactionPlan:
        """Only the newest group, and only down to the limit: it is what the reply is about."""
        messages = situation.snapshot.messages
        found = Replacements(situation, NAME, Fate.CUT)
        rows = [row for row in newest_group(messages) if messages[row].role is Role.TOOL]
        rows = [row for row in rows if messages[row].number not in situation.pins]
        share = fair_share([messages[row].sizes.bytes for row in rows], situation.need)
        for row in rows:
            if messages[row].sizes.bytes > share:
                found.offer(row, lambda message: cut_text(message, share))
        return found.plan()


def fair_share(sizes: Sequence[int], need: int) -> int:
    """The size above which everything is cut, so that `need` is freed; small ones stay whole."""
    left, room = sorted(sizes), sum(sizes) - need
    while left and left[0] * len(left) <= room:
        room -= left.pop(0)
    return max(LEAST_BYTES, room // len(left) if left else 0)
