"""Stage 2: tool results shrink to their status, and thinking to its beginning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agentcore.breakdown import THINKING_KEYS, Category, part_category
from agentcore.compaction.placeholders import masked
from agentcore.compaction.plan import CompactionPlan, Fate
from agentcore.compaction.replacing import Replacements
from agentcore.compaction.strategy import Situation, is_reached
from agentcore.messages import Message, Role, born
from agentcore.snapshot import newest_group

NAME = "micro"
THINKING_CHARS = 200


class Micro:
    priority = 30

    def should_trigger(self, situation: Situation) -> bool:
        return is_reached(situation)

    def compact(self, situation: Situation) -> CompactionPlan:
        """Oldest first; the newest group keeps its results and its thinking."""
        messages = situation.snapshot.messages
        found = Replacements(situation, NAME, Fate.MASKED)
        newest = newest_group(messages)
        for row, message in enumerate(messages):
            if found.is_enough:
                break
            if row in newest:
                continue
            if message.role is Role.TOOL:
                found.offer(row, masked)
            elif Category.THINKING in message.sizes.breakdown:
                found.offer(row, shorter_thinking, Fate.CUT)
        return found.plan()


def shorter_thinking(message: Message) -> Message:
    """Unsigned thinking keeps its first characters and a notice; signed or redacted thinking
    cannot be cut and goes whole."""
    value = message.value()
    for key in THINKING_KEYS:
        if isinstance(value.get(key), str):
            value[key] = _beginning(value[key])
        elif value.get(key):
            del value[key]
    if isinstance(value.get("content"), list):
        parts = (_shorter_part(part) for part in value["content"])
        value["content"] = [part for part in parts if part is not None]
    made = born(value, mark=message.mark)
    return replace(made, turn=message.turn)


def _shorter_part(part: Any) -> Any:
    if part_category(part) is not Category.THINKING:
        return part
    return _unsigned(part)


def _unsigned(part: Mapping[str, Any]) -> Mapping[str, Any] | None:
    text = part.get("thinking")
    if part.get("type") != "thinking" or part.get("signature") or not isinstance(text, str):
        return None
    return {**part, "thinking": _beginning(text)}


def _beginning(text: str) -> str:
    left = len(text) - THINKING_CHARS
    return text if left <= 0 else f"{text[:THINKING_CHARS]}… ({left} more chars of thinking cut)"
