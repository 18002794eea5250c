"""The list as strict providers want it: system texts apart, a user first, no role twice in a row,
nothing blank. The stored list keeps its own shape; only the rendered one is joined."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from agentcore.breakdown import Category, part_category
from agentcore.compaction.repair import NO_OUTPUT
from agentcore.errors import WireError
from agentcore.messages import Message, Role, ToolCall
from agentcore.wire import dumps, loads

CONTINUED = "[The conversation goes on here; what came before is told in the system message]"
JOINT = "\n\n"

_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_SURROGATE = re.compile("[\ud800-\udfff]")

Part: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """One message to send: its parts as stored, thinking included, blank texts left out."""

    role: Role
    parts: tuple[Part, ...]
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    reasoning: str = ""

    @property
    def visible(self) -> tuple[Part, ...]:
        """The parts without thinking."""
        return tuple(part for part in self.parts if part_category(part) is not Category.THINKING)


@dataclass(frozen=True, slots=True)
class StrictList:
    """`leading` are the texts of the system messages in front, `notes` those of all later ones
    (summaries, notes), in order. `newest` is the index of the first entry after the last user's."""

    leading: tuple[str, ...]
    notes: tuple[str, ...]
    entries: tuple[Entry, ...]
    newest: int


def strict(messages: Sequence[Message]) -> StrictList:
    """Expects a legal list (every call answered, in its place)."""
    leading: list[str] = []
    notes: list[str] = []
    entries: list[Entry] = []
    in_front = True
    for message in messages:
        in_front = in_front and message.is_leading
        if message.role in (Role.SYSTEM, Role.DEVELOPER):
            (leading if in_front else notes).append(sendable(message.text))
        else:
            _append(entries, _entry(message))
    if not entries or entries[0].role is not Role.USER:
        entries.insert(0, Entry(Role.USER, (_text_part(CONTINUED),)))
    newest = max(index for index, entry in enumerate(entries) if entry.role is Role.USER) + 1
    return StrictList(_spoken(leading), _spoken(notes), tuple(entries), newest)


def joined_text(parts: Sequence[Part]) -> str:
    """The parts as one text; what is no text stands there by its kind, as in `[image]`."""
    return JOINT.join(str(part.get("text") or f"[{_kind(part)}]") for part in parts)


def name_of(call: ToolCall) -> str:
    """The tool's name in the letters that providers accept; models invent others."""
    return _NOT_IN_NAMES.sub("_", call.name)[:64] or "unnamed"


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """The arguments as an object. A text that is none is handed on inside one: servers that
    parse it would refuse this and every later request."""
    try:
        arguments = loads(call.arguments or "{}")
    except WireError:
        arguments = None
    if not isinstance(arguments, dict):
        arguments = {"not_an_object": call.arguments}
    cleaned: dict[str, Any] = sendable(arguments)
    return cleaned


def arguments_text(call: ToolCall) -> str:
    """The arguments as JSON text: as the model wrote it, where that is an object."""
    try:
        is_object = isinstance(loads(call.arguments), dict)
    except WireError:
        is_object = False
    return sendable(call.arguments) if is_object else dumps(arguments_of(call))


def sendable(value: Any) -> Any:
    """Halves of characters have no UTF-8; each becomes the replacement character."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {sendable(key): sendable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [sendable(item) for item in value]
    return value


def _entry(message: Message) -> Entry:
    value = message.value()
    if "\\ud" in message.wire:
        value = sendable(value)
    parts = _parts(value.get("content"))
    if message.role is Role.USER:
        return Entry(Role.USER, parts)
    if message.role is Role.TOOL:
        result = Entry(Role.TOOL, parts, call_id=sendable(message.tool_call_id))
        return result if result.visible else replace(result, parts=(_text_part(NO_OUTPUT),))
    reasoning = value.get("reasoning_content")
    thought = reasoning if isinstance(reasoning, str) else ""
    return Entry(Role.ASSISTANT, parts, message.calls, reasoning=thought)


def _parts(content: Any) -> tuple[Part, ...]:
    items = content if isinstance(content, list) else [_text_part(content)]
    return tuple(item for item in items if isinstance(item, Mapping) and not _is_blank(item))


def _text_part(text: Any) -> Part:
    return {"type": "text", "text": text if isinstance(text, str) else ""}


def _is_blank(part: Part) -> bool:
    return part.get("type") == "text" and not str(part.get("text") or "").strip()


def _append(entries: list[Entry], entry: Entry) -> None:
    """Add the entry, joined to the last one of its role. What says nothing is left out."""
    if not entry.visible and not entry.calls:
        return
    last = entries[-1] if entries else None
    if last is None or last.role is not entry.role or last.role is Role.TOOL or last.calls:
        entries.append(entry)
    else:
        entries[-1] = replace(entry, parts=last.visible + entry.parts)


def _spoken(texts: list[str]) -> tuple[str, ...]:
    return tuple(text for text in texts if text.strip())


def _kind(part: Part) -> str:
    return str(part.get("type") or "part").removesuffix("_url").removeprefix("input_")
