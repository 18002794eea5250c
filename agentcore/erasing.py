"""What stays of a message whose text was erased: its form, and length and hash of what it was."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

from agentcore.breakdown import Mark
from agentcore.messages import Message, ToolCall, born


def digest(message: Message) -> str:
    """SHA-256 of the wire form, as hexadecimal text."""
    return hashlib.sha256(message.wire.encode("utf-8", "surrogatepass")).hexdigest()


def erased(message: Message) -> Message:
    """The same message without what it said. Role, call ids and tool names stay, so that a list
    with it is as legal as before; arguments, thinking and unknown fields go."""
    said = f"[erased: {message.sizes.bytes:,} bytes, sha256 {digest(message)}]"
    value: dict[str, Any] = {"role": str(message.role), "content": said}
    if message.tool_call_id is not None:
        value["tool_call_id"] = message.tool_call_id
    if message.calls:
        value["tool_calls"] = [_call(call) for call in message.calls]
    # A header told that it is ours and none of the leading messages; without it only a mark does.
    ours = message.is_summary or message.is_recalled
    made = born(value, mark=Mark.SUMMARY if ours else message.mark)
    return replace(
        made,
        number=message.number,
        turn=message.turn,
        tool=message.tool,
        status=message.status,
        replaces=message.replaces,
        stands_for=message.stands_for,
        facts=(),
    )


def _call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": "{}"}
    return {"id": call.id, "type": "function", "function": function}
