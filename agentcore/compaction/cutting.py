"""Cutting a message's text to a size, with the notice that says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agentcore.breakdown import byte_length
from agentcore.compaction.placeholders import original_bytes
from agentcore.limits import NOTICE_BYTES, clamp
from agentcore.messages import Cut, Message, born


def cut_text(message: Message, most: int) -> Message:
    """The message with at most about `most` bytes of wire form: text parts are clamped, all else
    stays. Not smaller than its envelope and the notice."""
    value = message.value()
    content = value.get("content")
    room = most - (message.sizes.bytes - _text_bytes(content)) - NOTICE_BYTES
    value["content"] = _clamped(content, max(room, 1))
    made = born(value, mark=message.mark, tool=message.tool, status=message.status)
    cut = Cut(original_bytes(message), made.sizes.bytes)
    return replace(made, turn=message.turn, cut=cut)


def _text_bytes(content: Any) -> int:
    if isinstance(content, str):
        return byte_length(content)
    parts = content if isinstance(content, list) else []
    return sum(byte_length(text) for part in parts if (text := _text(part)) is not None)


def _clamped(content: Any, room: int) -> Any:
    if isinstance(content, str):
        return clamp(content, room)
    if not isinstance(content, list):
        return content
    texts = sum(_text(part) is not None for part in content)
    share = max(room // texts, 1) if texts else 0
    return [
        part if (text := _text(part)) is None else {**part, "text": clamp(text, share)}
        for part in content
    ]


def _text(part: Any) -> str | None:
    text = part.get("text") if isinstance(part, dict) else None
    return text if isinstance(text, str) else None
