"""A model that says what it was told to say: the model of the tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from agentcore.breakdown import byte_length
from agentcore.errors import ModelError
from agentcore.llm.base import OnText, Reply, ToolSchema
from agentcore.llm.openai import chat_messages
from agentcore.messages import Message, content_text
from agentcore.wire import dumps

ReplyLike: TypeAlias = Mapping[str, Any] | Reply
Line: TypeAlias = ReplyLike | Exception | Callable[[Sequence[Message]], ReplyLike]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it reached the model."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...]


class ScriptedModel:
    """Gives its lines in order: an assistant message, a Reply (with usage), an exception to raise,
    or a function of the list that makes one of the first two. `requests` holds what it was asked.
    """

    name = "scripted"

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = tuple(lines)
        self.requests: list[Asked] = []

    def render(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> dict[str, Any]:
        return {"model": self.name, "tools": list(tools), "messages": chat_messages(messages)}

    async def reply(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSchema],
        on_text: OnText | None = None,
    ) -> Reply:
        place = len(self.requests)
        self.requests.append(Asked(tuple(messages), tuple(tools)))
        if place >= len(self._lines):
            raise ModelError(f"the script has {place} lines and was asked for one more: add it")
        line = self._lines[place]
        if isinstance(line, Exception):
            raise line
        answer = line(messages) if callable(line) else line
        message = answer.message if isinstance(answer, Reply) else answer
        text = content_text(message.get("content"))
        if on_text and text:
            await on_text(text)
        if isinstance(answer, Reply):
            return answer
        size = byte_length(dumps(self.render(messages, tools)))
        return Reply(answer, model=self.name, request_bytes=size)
