"""Keep the newest messages; what is older becomes one summary or note (spec-compaction 3)."""

from __future__ import annotations

from collections.abc import Sequence

from agentcore.compaction.plan import CompactionPlan
from agentcore.compaction.strategy import Situation, is_reached
from agentcore.compaction.summarized import summarized
from agentcore.messages import Message, Role
from agentcore.snapshot import Snapshot, group_at

NAME = "keep_recent"
# Bytes that a summary or note may take beside the tail when a target is aimed at.
SUMMARY_ROOM = 3_000


class KeepRecent:
    priority = 10

    def should_trigger(self, situation: Situation) -> bool:
        return is_reached(situation) and (
            len(situation.snapshot.messages) > situation.stage.keep + 1
        )

    def compact(self, situation: Situation) -> CompactionPlan:
        """Empty where nothing but standing summaries and notes could leave."""
        snapshot = situation.snapshot
        start = _cut(snapshot.messages, situation.stage.keep)
        if situation.stage.to_target:
            room = snapshot.sizes.bytes - situation.need
            start = _move_to_target(snapshot, start, room)
        return summarized(situation, start, NAME)


def _cut(messages: Sequence[Message], keep: int) -> int:
    """The first kept row: never inside a tool group. The newest group is kept whole, an older one
    that the cut falls into goes whole."""
    row = max(0, len(messages) - keep)
    if row == len(messages) or messages[row].role is not Role.TOOL:
        return row
    group = group_at(messages, row)
    newest = not any(message.calls for message in messages[group.stop :])
    return group.start if newest else max(group.stop, row + 1)


def _move_to_target(snapshot: Snapshot, start: int, room: int) -> int:
    """Go on group by group until what is kept fits the room; the newest group stays."""
    messages = snapshot.messages
    fixed = sum(message.sizes.bytes for message in messages[: snapshot.leading]) + SUMMARY_ROOM
    kept = fixed + sum(message.sizes.bytes for message in messages[start:])
    while kept > room:
        group = group_at(messages, start)
        if group.stop >= len(messages):
            break
        kept -= sum(message.sizes.bytes for message in messages[start : group.stop])
        start = group.stop
    return start
