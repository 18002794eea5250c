"""The explorer as a model of the loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from agentcore.breakdown import byte_length
from agentcore.errors import ModelError
from agentcore.llm.base import OnText, Reply, ToolSchema
from agentcore.llm.explorer.errands import is_on_errand, next_errand
from agentcore.llm.explorer.itinerary import Call, next_move
from agentcore.llm.explorer.report import last_word
from agentcore.llm.explorer.view import view
from agentcore.llm.openai import chat_messages
from agentcore.messages import Message
from agentcore.said import Said
from agentcore.wire import dumps

PIECES = 4


class ExplorerModel:
    """Explores a workspace with the tools it is offered and reports what it saw.

    The next turn follows from the list alone, so that it can be killed and resumed. It reports no
    usage, since there is no provider. `pace`: seconds a reply takes.
    """

    name = "explorer"

    def __init__(self, pace: float = 0.0) -> None:
        self._pace = pace

    def render(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> dict[str, Any]:
        return {"model": self.name, "tools": list(tools), "messages": chat_messages(messages)}

    async def reply(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSchema],
        on_text: OnText | None = None,
    ) -> Reply:
        started = time.monotonic()
        message = _answer(messages, {str(schema["function"]["name"]) for schema in tools})
        await self._say(message["content"], on_text)
        size = byte_length(dumps(self.render(messages, tools)))
        return Reply(
            message,
            model=self.name,
            request_bytes=size,
            seconds=time.monotonic() - started,
        )

    async def _say(self, text: str, on_text: OnText | None) -> None:
        size = max(1, -(-len(text) // PIECES))
        for start in range(0, len(text), size):
            await asyncio.sleep(self._pace / PIECES)
            if on_text:
                await on_text(text[start : start + size])


def _answer(messages: Sequence[Message], offered: set[str]) -> dict[str, Any]:
    if not offered:
        raise ModelError(Said("the explorer was offered no tools, and it can only look with tools"))
    seen = view(messages)
    move = None if is_on_errand(seen) else next_move(seen, offered)
    move = move or next_errand(seen, offered)
    if move is None:
        return {"role": "assistant", "content": last_word(seen)}
    number = messages[-1].number or len(messages)
    calls = [_call(f"explorer_{number + 1}_{place}", one) for place, one in enumerate(move.calls)]
    return {"role": "assistant", "content": move.text, "tool_calls": calls}


def _call(call_id: str, call: Call) -> dict[str, Any]:
    name, arguments = call
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": dumps(arguments)},
    }
