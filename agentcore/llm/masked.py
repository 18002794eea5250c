"""A model that is not the session's own: secrets are masked before text goes to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentcore.llm.base import ChatModel, OnText, Reply, Tempered, ToolSchema
from agentcore.messages import Message, read
from agentcore.redact import mask


class MaskedModel:
    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    def render(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> dict[str, Any]:
        return self._model.render(_masked(messages), tools)

    async def reply(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSchema],
        on_text: OnText | None = None,
    ) -> Reply:
        return await self._model.reply(_masked(messages), tools, on_text)

    def tempered(self, temperature: float) -> MaskedModel:
        if not isinstance(self._model, Tempered):
            return self
        return MaskedModel(self._model.tempered(temperature))


def _masked(messages: Sequence[Message]) -> list[Message]:
    return [read(mask(message.wire)[0], mark=message.mark) for message in messages]
