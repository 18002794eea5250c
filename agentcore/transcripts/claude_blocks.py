"""Content blocks of the Messages API as messages of the chat format. Thinking, pictures and
documents stay parts as they came; only what was sent to the model is taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentcore.messages import ToolStatus
from agentcore.transcripts.scalars import json_text
from agentcore.usage import Usage, count

_PLAIN = {"type", "text"}


def blocks_of(content: Any) -> list[dict[str, Any]]:
    """A text, a list of blocks or nothing, as blocks."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    if not isinstance(content, list):
        return []
    return [_block(item) for item in content]


def content_of(parts: list[dict[str, Any]]) -> Any:
    """The parts as content: a plain text alone as a string, none as an empty one."""
    if not parts:
        return ""
    first = parts[0]
    is_plain = first.get("type") == "text" and isinstance(first.get("text"), str)
    return first["text"] if len(parts) == 1 and is_plain and set(first) == _PLAIN else parts


def add_blocks(message: dict[str, Any], blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add blocks to an assistant message. Returns the calls that were among them."""
    calls = [_call(block) for block in blocks if block.get("type") == "tool_use"]
    parts = [block for block in blocks if block.get("type") != "tool_use"]
    if parts:
        message["content"] = content_of([*blocks_of(message["content"]), *parts])
    if calls:
        message.setdefault("tool_calls", []).extend(calls)
    return calls


def result_message(block: Mapping[str, Any], call_id: str) -> dict[str, Any]:
    content = content_of(blocks_of(block.get("content")))
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def result_status(block: Mapping[str, Any]) -> ToolStatus:
    """A result says so when it is an error."""
    return ToolStatus.FAILED if block.get("is_error") is True else ToolStatus.OK


def usage_of(usage: Any) -> Usage | None:
    """None for a usage without any figure: a prompt of 0 tokens was never sent."""
    if not isinstance(usage, Mapping):
        return None
    details = usage.get("output_tokens_details")
    found = Usage(
        count(usage.get("input_tokens")),
        count(usage.get("output_tokens")),
        count(usage.get("cache_read_input_tokens")),
        count(usage.get("cache_creation_input_tokens")),
        count(details.get("thinking_tokens")) if isinstance(details, Mapping) else 0,
    )
    return found if found.prompt or found.output else None


def _block(item: Any) -> dict[str, Any]:
    if isinstance(item, dict):
        return item
    return {"type": "text", "text": item if isinstance(item, str) else json_text(item)}


def _call(block: Mapping[str, Any]) -> dict[str, Any]:
    function = {
        "name": str(block.get("name") or ""),
        "arguments": json_text(block.get("input", {})),
    }
    return {"id": str(block.get("id") or ""), "type": "function", "function": function}
