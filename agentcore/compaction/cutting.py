"""Cutting a message's text or thinking to a size, with the notice that says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agentcore.breakdown import THINKING_KEYS, Category, byte_length, part_category
from agentcore.compaction.placeholders import original_bytes
from agentcore.limits import NOTICE_BYTES, clamp
from agentcore.messages import Message, born

THINKING_CHARS = 200
THINKING_CUT = " more chars of thinking cut)"


def cut_text(message: Message, most: int) -> Message:
    """The message with at most about `most` bytes of wire form: text parts are clamped, all else
    stays. Not smaller than its envelope and the notice."""
    value = message.value()
    content = value.get("content")
    room = most - (message.sizes.bytes - _text_bytes(content)) - NOTICE_BYTES
    value["content"] = _clamped(content, max(room, 1))
    made = born(value, mark=message.mark, tool=message.tool, status=message.status)
    return replace(made, turn=message.turn, original=original_bytes(message))


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
    if left <= 0 or text.endswith(THINKING_CUT):
        return text
    return f"{text[:THINKING_CHARS]}… ({left}{THINKING_CUT}"
