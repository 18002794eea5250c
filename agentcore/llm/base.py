"""What the loop needs of a model: a pure rendering of the list, and a reply."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from agentcore.messages import Message
from agentcore.usage import Usage, count

ToolSchema = Mapping[str, Any]
OnText = Callable[[str], Awaitable[None]]


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


@runtime_checkable
class Tempered(Protocol):
    """A model that can be asked at a temperature: itself, where the provider takes none of it."""

    def tempered(self, temperature: float) -> ChatModel: ...


def tokens_of(figures: object, name: str) -> int:
    """Of what a provider reports, which SDKs pass on unchecked; what is none counts as 0."""
    return count(getattr(figures, name, 0))
