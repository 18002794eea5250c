"""What the loop needs of a model: a pure rendering of the list, and a reply."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from agentcore.messages import Message

ToolSchema = Mapping[str, Any]
OnText = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request as the provider reported them, normalized: `input` holds neither
    cache figure, so the prompt is input + cache_read + cache_write. `reasoning` is part of output."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    @property
    def prompt(self) -> int:
        return self.input + self.cache_read + self.cache_write


@dataclass(frozen=True, slots=True)
class Reply:
    """One accepted answer. `message` is an assistant message of the OpenAI chat format;
    `request_bytes` the bytes of the rendered body; `seconds` from request to last byte."""

    message: Mapping[str, Any]
    usage: Usage | None = None
    model: str = ""
    request_bytes: int = 0
    seconds: float = 0.0
    extra: Mapping[str, Any] = field(default_factory=dict)


class ChatModel(Protocol):
    """`render` is pure: the request body for a list, with strict-role rules obeyed.
    `reply` raises ModelError; it can be cancelled at any await."""

    @property
    def name(self) -> str: ...

    def render(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema]
    ) -> dict[str, Any]: ...

    async def reply(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSchema],
        on_text: OnText | None = None,
    ) -> Reply: ...
