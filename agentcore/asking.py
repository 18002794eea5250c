"""Requests to the model that answers: what was sent, and what came back. Passing faults are tried
again, and told."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace

from agentcore.answering import Answering
from agentcore.breakdown import Category
from agentcore.context import Context
from agentcore.errors import ModelError
from agentcore.events import RequestRetried
from agentcore.halt import Halt
from agentcore.headroom import Emit
from agentcore.llm.base import OnText, Reply
from agentcore.llm.pictures import without_pictures
from agentcore.messages import Message
from agentcore.prefix import Prefix
from agentcore.pressure import TokenCounter
from agentcore.profile import Profile
from agentcore.said import Said
from agentcore.snapshot import Snapshot, State
from agentcore.tools.base import Toolbox
from agentcore.turn import Request, Spent, accepted

TRIES = 3
BACKOFF_SECONDS = 1.0


class Asking:
    """Three tries with growing waits and jitter; Retry-After is obeyed. A server that refuses
    pictures is asked without them from then on. The counter learns from what is heard."""

    def __init__(
        self,
        answering: Answering,
        toolbox: Toolbox,
        *,
        counter: TokenCounter,
        prefix: Prefix,
        halt: Halt,
        emit: Emit,
        on_text: OnText | None,
    ) -> None:
        self._answering = answering
        self._toolbox = toolbox
        self._counter = counter
        self._prefix = prefix
        self._halt = halt
        self._emit = emit
        self._on_text = on_text
        self._blind: set[str] = set()

    async def reply(
        self, context: Context, profile: Profile, spent: Spent
    ) -> tuple[Request, Message]:
        """The request for the list as it is, and the reply as a message; what it cost is spent, and
        what a broken one cost is told too. Raises ModelError when it is final, or after the last
        try."""
        sent = context.snapshot()
        estimate = self._counter.count(sent.sizes + self._toolbox.sizes)
        self._answering.choose(estimate, spent.left(profile))
        request = self._request(sent, context, estimate)
        reply, message = await self._tried(sent, spent)
        self._answering.heard(reply.usage)
        request = request.answered(reply)
        spent.bill(request.cost)
        if reply.usage:
            self._counter.learn(reply.usage.prompt, sent.sizes + self._toolbox.sizes)
        return request, message

    def nothing(self, state: State) -> Request:
        """What there is to say of a turn that sent none."""
        asked = self._answering.now
        return Request(
            requested=state,
            requested_model=asked.model.name,
            model=asked.model.name,
            routed=asked.reason,
            prices=asked.prices,
            schemas=self._prefix.schemas,
        )

    def _request(self, sent: Snapshot, context: Context, estimate: int) -> Request:
        stable, reason = self._prefix.advance(
            sent,
            self._toolbox.schemas,
            self._toolbox.sizes,
            model=self._answering.now.model.name,
            causes=context.take_causes(),
        )
        return replace(
            self.nothing(sent.state),
            estimate=estimate,
            stable_prefix=stable,
            break_reason=reason,
            break_number=self._prefix.break_number,
        )

    async def _tried(self, sent: Snapshot, spent: Spent) -> tuple[Reply, Message]:
        attempt, model, schemas = 1, self._answering.now.model, self._toolbox.schemas
        while True:
            sees = model.name not in self._blind
            messages = sent.messages if sees else without_pictures(sent.messages)
            try:
                reply = await self._halt.race(model.reply(messages, schemas, self._on_text))
                return reply, accepted(reply, sent.state.last_number)
            except ModelError as error:
                if sees and error.over_pictures and Category.IMAGES in sent.sizes.breakdown:
                    self._blind.add(model.name)
                    said = Said("{error}; asked again without pictures", error=str(error))
                    await self._retried(said, error, spent)
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
