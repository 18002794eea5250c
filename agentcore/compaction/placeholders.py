"""What stands in a message where its content was replaced; role, call id and pairing stay."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

from agentcore.breakdown import Sizes, byte_length, measure_message
from agentcore.compaction.plan import Birth
from agentcore.messages import Cut, Message, Role, ToolStatus
from agentcore.wire import dumps

SNIPPED, MASKED = "[Tool result snipped - ", "[Result: "
_HEAD, _MIDDLE = '{"role":"tool","tool_call_id":', ',"content":'
STATUS = {
    ToolStatus.OK: "success",
    ToolStatus.FAILED: "failure",
    ToolStatus.UNKNOWN: "status unknown",
}


def snipped(message: Message, now: datetime | None = None) -> Message:
    """A result of which only tool and time are told: `now`, else its turn where that is known."""
    when = f" at turn {message.turn}" if message.turn else ""
    if now is not None:
        when = f" at {now.isoformat(timespec='seconds')}"
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
    """Written out as `born` would, without the way through JSON: a stage bears thousands."""
    wire = f"{_HEAD}{_quoted(message.tool_call_id or '')}{_MIDDLE}{_quoted(text)}}}"
    return Message(
        wire,
        Role.TOOL,
        _sizes(byte_length(wire), len(wire)),
        tool_call_id=message.tool_call_id,
        tool=message.tool,
        status=message.status,
        turn=message.turn,
        cut=Cut(original_bytes(message), byte_length(text)),
    )


def _quoted(text: str) -> str:
    """As a JSON text."""
    plain = text.isascii() and text.isprintable() and '"' not in text and "\\" not in text
    return f'"{text}"' if plain else dumps(text)


@lru_cache(maxsize=1_024)
def _sizes(size: int, chars: int) -> Sizes:
    """Of a result without parts: they depend on its length alone."""
    return measure_message({"role": Role.TOOL.value}, size, chars)
