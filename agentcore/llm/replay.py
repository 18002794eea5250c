"""The replies of a recorded session, given once more."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from agentcore.breakdown import byte_length
from agentcore.llm.base import OnText, Reply, ToolSchema
from agentcore.llm.openai import chat_messages
from agentcore.messages import Message, Role, as_message
from agentcore.wire import dumps

END = "The recording ends here."

Recorded: TypeAlias = Message | Mapping[str, Any] | Reply


class ReplayModel:
    """Gives the assistant messages of `recording` in order, ids of calls and usage as recorded,
    then one plain message. A Reply carries usage; messages of other roles are passed over.

    The place in the recording is read from the list, so that another worker can go on. `pace`:
    seconds before each reply.
    """

    name = "replay"

    def __init__(self, recording: Sequence[Recorded], *, pace: float = 0.0) -> None:
        replies = [one if isinstance(one, Reply) else Reply(_value(one)) for one in recording]
        spoken = [one for one in replies if one.message.get("role") == Role.ASSISTANT]
        self._replies = [*spoken, Reply({"role": "assistant", "content": END})]
        self._wires = [dumps(one.message) for one in self._replies]
        self._pace = pace
        self._given = 0

    def render(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> dict[str, Any]:
        return {"model": self.name, "tools": list(tools), "messages": chat_messages(messages)}

    async def reply(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSchema],
        on_text: OnText | None = None,
    ) -> Reply:
        await asyncio.sleep(self._pace)
        place = min(self._place(messages), len(self._replies) - 1)
        self._given = place + 1
        recorded = self._replies[place]
        text = as_message(recorded.message).text
        if on_text and text:
            await on_text(text)
        return Reply(
            recorded.message,
            recorded.usage,
            recorded.model or self.name,
            byte_length(dumps(self.render(messages, tools))),
            self._pace,
            recorded.extra,
        )

    def _place(self, messages: Sequence[Message]) -> int:
        """After the newest reply that the list shows; where it shows none, after the last given.
        A reply that stands in the recording twice is told by those before it."""
        shown = [one.wire for one in messages if one.role is Role.ASSISTANT]
        for later in range(len(shown)):
            earlier = shown[: len(shown) - later]
            if earlier[-1] in self._wires:
                ends = range(1, len(self._wires) + 1)
                return later + max(ends, key=lambda end: self._agreement(end, earlier))
        return self._given

    def _agreement(self, end: int, shown: Sequence[str]) -> int:
        """How many of the replies before `end` the list ends with."""
        count = 0
        while count < min(end, len(shown)) and self._wires[end - 1 - count] == shown[-1 - count]:
            count += 1
        return count


def _value(one: Message | Mapping[str, Any]) -> Mapping[str, Any]:
    return one.value() if isinstance(one, Message) else one
