"""What stands in a message where its content was replaced; role, call id and pairing stay."""

from __future__ import annotations

from agentcore.compaction.plan import Birth
from agentcore.messages import Cut, Message, Role, ToolStatus, born

SNIPPED, MASKED = "[Tool result snipped - ", "[Result: "
STATUS = {
    ToolStatus.OK: "success",
    ToolStatus.FAILED: "failure",
    ToolStatus.UNKNOWN: "status unknown",
}


def snipped(message: Message) -> Message:
    """A result of which only tool and turn are told; an unknown turn is left out."""
    when = f" at turn {message.turn}" if message.turn else ""
    return _result(message, f"{SNIPPED}{message.tool or 'tool'}{when}]")


def masked(message: Message) -> Message:
    """A result of which tool, status and size are told."""
    status = STATUS[message.status or ToolStatus.UNKNOWN]
    size = original_bytes(message)
    return _result(message, f"{MASKED}{message.tool or 'tool'} - {status} - {size} bytes]")


def original_bytes(message: Message) -> int:
    """Of a result before anything was cut from it."""
    return message.cut.original if message.cut else message.sizes.bytes


def in_place(row: int, message: Message, stage: str) -> Birth:
    """The birth of a message that replaces a row."""
    return Birth(row, message, None, stage, (range(row, row + 1),))


def _result(message: Message, text: str) -> Message:
    value = {"role": Role.TOOL.value, "tool_call_id": message.tool_call_id, "content": text}
    return born(
        value,
        tool=message.tool,
        status=message.status,
        turn=message.turn,
        facts=message.facts,
        cut=Cut(original_bytes(message), len(text.encode())),
    )
