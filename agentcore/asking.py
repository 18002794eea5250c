"""One reply of the model that answers: passing faults are tried again, and told."""

from __future__ import annotations

import asyncio
import random

from agentcore.answering import Answering
from agentcore.breakdown import Category
from agentcore.errors import ModelError
from agentcore.events import RequestRetried
from agentcore.halt import Halt
from agentcore.headroom import Emit
from agentcore.llm.base import OnText, Reply, ToolSchema
from agentcore.llm.pictures import without_pictures
from agentcore.messages import Message
from agentcore.snapshot import Snapshot
from agentcore.turn import Spent, accepted

TRIES = 3
BACKOFF_SECONDS = 1.0


class Asking:
    """Three tries with growing waits and jitter; Retry-After is obeyed. A server that refuses
    pictures is asked without them from then on."""

    def __init__(
        self, answering: Answering, *, halt: Halt, emit: Emit, on_text: OnText | None
    ) -> None:
        self._answering = answering
        self._halt = halt
        self._emit = emit
        self._on_text = on_text
        self._blind: set[str] = set()

    async def reply(
        self, sent: Snapshot, schemas: tuple[ToolSchema, ...], spent: Spent
    ) -> tuple[Reply, Message]:
        """The reply and its message; what a broken one cost is told and spent. Raises ModelError
        when it is final, or after the last try."""
        attempt, model = 1, self._answering.now.model
        while True:
            sees = model.name not in self._blind
            messages = sent.messages if sees else without_pictures(sent.messages)
            try:
                reply = await self._halt.race(model.reply(messages, schemas, self._on_text))
                return reply, accepted(reply, sent.state.last_number)
            except ModelError as error:
                if sees and error.over_pictures and Category.IMAGES in sent.sizes.breakdown:
                    self._blind.add(model.name)
                    await self._retried(f"{error}; asked again without pictures", error, spent)
                    continue
                if not error.retryable or attempt == TRIES:
                    raise
                wait = error.retry_after or BACKOFF_SECONDS * 2**attempt * random.uniform(0.5, 1)
                await self._retried(str(error), error, spent, attempt=attempt, wait=wait)
            await self._halt.race(asyncio.sleep(wait))
            attempt += 1

    async def _retried(
        self, reason: str, error: ModelError, spent: Spent, *, attempt: int = 1, wait: float = 0.0
    ) -> None:
        cost = spent.bill(self._answering.now.prices.cost(error.usage))
        await self._emit([RequestRetried(attempt, wait, reason, error.usage, cost)])
