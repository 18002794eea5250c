"""The most elastic shrinks first: every row gives in proportion to elasticity x bytes, the oldest
first (spec-compaction 10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agentcore.breakdown import Category, part_category
from agentcore.compaction.cutting import cut_text, shorter_thinking
from agentcore.compaction.placeholders import original_bytes
from agentcore.compaction.plan import CompactionPlan, Fate
from agentcore.compaction.replacing import Replacements
from agentcore.compaction.strategy import Situation, is_reached
from agentcore.errors import WireError
from agentcore.limits import NOTICE_BYTES
from agentcore.messages import Message, born
from agentcore.snapshot import fresh_rows, instruction_rows
from agentcore.wire import dumps, loads

NAME = "elastic"
ELASTICITY: Mapping[Category, float] = {
    Category.TOOL_RESULTS: 1.0,
    Category.IMAGES: 0.9,
    Category.TOOL_CALLS: 0.6,
    Category.THINKING: 0.6,
    Category.ASSISTANT: 0.3,
    Category.USER: 0.1,
}
# A row keeps at least so much: enough to know what it was.
LEAST_BYTES = 300
PICTURE_GONE = "[a picture was here; the archive keeps it]"


class Elastic:
    priority = 35

    def should_trigger(self, situation: Situation) -> bool:
        return is_reached(situation)

    def compact(self, situation: Situation) -> CompactionPlan:
        """Oldest first until enough was freed; the instruction, fresh results and pins stay."""
        messages = situation.snapshot.messages
        found = Replacements(situation, NAME, Fate.CUT)
        spared = {*instruction_rows(messages), *fresh_rows(messages)}
        # A row that gives less than its notice takes would lose more text than it frees.
        rows = [
            row
            for row, one in enumerate(messages)
            if row not in spared and stretch(one) > NOTICE_BYTES
        ]
        mass = sum(stretch(messages[row]) for row in rows)
        for row in rows:
            if found.is_enough:
                break
            give = min(1.0, 2 * situation.need / mass) * stretch(messages[row])
            found.offer(row, lambda message, give=give: shrunk(message, give))  # type: ignore[misc]
        return found.plan()


def stretch(message: Message) -> float:
    """Elasticity x bytes, over the categories. What a row gave before counts, so that a second run
    at once takes nothing more."""
    size, original = message.sizes.bytes, original_bytes(message)
    mass = sum(ELASTICITY.get(key, 0.0) * part for key, part in message.sizes.breakdown.items())
    if original <= size:
        return mass
    left = mass / size * original - (original - size)
    return min(mass, left) if left > NOTICE_BYTES else 0.0


def shrunk(message: Message, give: float) -> Message:
    """The message smaller by about `give` bytes: pictures first, then thinking, arguments, text.
    The message itself where all of that frees less than a notice takes."""
    whole, parts = message, message.sizes.breakdown
    wanted = max(LEAST_BYTES, message.sizes.bytes - round(give))
    for category, shrink in (
        (Category.IMAGES, _without_pictures),
        (Category.THINKING, shorter_thinking),
        (Category.TOOL_CALLS, _shorter_arguments),
    ):
        if message.sizes.bytes > wanted and category in parts:
            message = shrink(message)
    if message.sizes.bytes > wanted:
        message = cut_text(message, wanted)
    return message if whole.sizes.bytes - message.sizes.bytes > NOTICE_BYTES else whole


def _without_pictures(message: Message) -> Message:
    value = message.value()
    value["content"] = [
        {"type": "text", "text": PICTURE_GONE} if part_category(part) is Category.IMAGES else part
        for part in value["content"]
    ]
    return _reborn(message, value)


def _shorter_arguments(message: Message) -> Message:
    """Long texts in the arguments are cut; the rest, and so the JSON, stays as it is."""
    value = message.value()
    for call in value["tool_calls"]:
        function = call["function"]
        function["arguments"] = _clipped_json(function.get("arguments"))
    return _reborn(message, value)


def _clipped_json(arguments: Any) -> Any:
    try:
        entries = loads(arguments) if isinstance(arguments, str) else None
    except WireError:
        return arguments
    if not isinstance(entries, dict):
        return arguments
    return dumps({name: _clipped(entry) for name, entry in entries.items()})


def _clipped(entry: Any) -> Any:
    if not isinstance(entry, str) or len(entry) <= LEAST_BYTES:
        return entry
    return f"{entry[:LEAST_BYTES]}… ({len(entry) - LEAST_BYTES} more chars cut)"


def _reborn(message: Message, value: dict[str, Any]) -> Message:
    made = born(value, mark=message.mark, tool=message.tool, status=message.status)
    return replace(made, turn=message.turn, original=message.original)
