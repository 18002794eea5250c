"""Where the newest part of a list begins."""

from __future__ import annotations

from collections.abc import Sequence

from agentcore.messages import Message, Role
from agentcore.snapshot import group_at


def tail_start(messages: Sequence[Message], keep: int) -> int:
    """The row from which the last `keep` messages without system ones stand, widened to a whole
    tool group."""
    row = len(messages)
    while row > 0 and keep > 0:
        row -= 1
        if messages[row].role not in (Role.SYSTEM, Role.DEVELOPER):
            keep -= 1
    return group_at(messages, row).start if row < len(messages) else row


def turn_start(messages: Sequence[Message], turns: int) -> int:
    """The row at which the last `turns` replies begin."""
    row = len(messages)
    while row > 0 and turns > 0:
        row -= 1
        turns -= messages[row].role is Role.ASSISTANT
    return row
