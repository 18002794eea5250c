"""What stands in a message where its content was replaced; role, call id and pairing stay."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

import orjson

from agentcore.breakdown import Sizes, measure_message
from agentcore.messages import Message, Role, ToolStatus, make_message
from agentcore.wire import encoded

SNIPPED, MASKED = "[Tool result snipped - ", "[Result: "
_TOOL = Role.TOOL
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
    return message.sizes.bytes if message.original is None else message.original


def _result(message: Message, text: str) -> Message:
    """As `born` would make it, without what is known beforehand: a stage bears thousands."""
    value = {"role": "tool", "tool_call_id": message.tool_call_id or "", "content": text}
    try:
        raw = orjson.dumps(value)
    except TypeError:
        raw = encoded(value)
    wire = raw.decode()
    return make_message(
        wire,
        _TOOL,
        _sizes(len(raw), len(wire)),
        0,
        (),
        message.tool_call_id,
        None,
        message.tool,
        message.status,
        message.sizes.bytes if message.original is None else message.original,
        message.turn,
        message.number or message.replaces,
    )


@lru_cache(maxsize=1_024)
def _sizes(size: int, chars: int) -> Sizes:
    """Of a result without parts: they depend on its length alone."""
    return measure_message({"role": _TOOL.value}, size, chars)
