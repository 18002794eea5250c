"""Asking a model for a summary: a fork of its own, bounded, timed, and broken off when it fails."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeAlias

from agentcore.compaction.breaker import Breaker
from agentcore.compaction.pipeline import SummaryOutcome
from agentcore.compaction.result import Failure, SummaryFailed, WrittenSummary
from agentcore.compaction.summarizer import SummaryRequest, accept
from agentcore.errors import ContextTooLong, ModelError
from agentcore.halt import Halt
from agentcore.llm.base import ChatModel, Tempered
from agentcore.messages import born
from agentcore.said import Said
from agentcore.usage import Usage

# Tries for a summary that comes out too long, and for one whose input was too long.
LENGTH_TRIES, INPUT_TRIES = 2, 4
# Of a structured summary; a short one is asked for at 0.
TEMPERATURE = 0.3

# The model of that name. Raises ModelError where there is none.
Named: TypeAlias = Callable[[str], Awaitable[ChatModel]]


class SummaryWriter:
    """`model` None: there is none to ask. `breaker` is that of the session and this model; `named`
    finds another one that a person wants it of."""

    def __init__(
        self,
        model: ChatModel | None,
        halt: Halt,
        breaker: Breaker,
        named: Named | None = None,
    ) -> None:
        self._model = model
        self._halt = halt
        self._named = named
        self.breaker = breaker

    @property
    def is_there(self) -> bool:
        return self._model is not None

    async def write(
        self, request: SummaryRequest, *, override: bool, name: str = ""
    ) -> SummaryOutcome:
        """The summary, or why there is none. `override`: a person asks, whatever the breaker;
        `name`: of that model, whose failures are not those that the breaker counts."""
        if name:
            return await self._by(name, request)
        if self._model is None:
            return None
        now = time.monotonic()
        if not override and not self.breaker.allows(now):
            left = self.breaker.seconds_left(now)
            said = Said("no summary is asked for {seconds:.0f} s", seconds=left)
            return SummaryFailed(Failure.BREAKER_OPEN, said)
        answer = await self._timed(request, self._model)
        if isinstance(answer, SummaryFailed):
            self.breaker = self.breaker.failed(time.monotonic())
        else:
            self.breaker = self.breaker.succeeded()
        return answer

    async def _by(self, name: str, request: SummaryRequest) -> SummaryOutcome:
        if self._named is None:
            said = Said("the model {name} cannot be asked here", name=name)
            return SummaryFailed(Failure.ERROR, said)
        try:
            model = await self._named(name)
        except ModelError as error:
            return SummaryFailed(Failure.ERROR, str(error))
        answer = await self._timed(request, model)
        return replace(answer, endpoint=name) if isinstance(answer, WrittenSummary) else answer

    async def _timed(
        self, request: SummaryRequest, model: ChatModel
    ) -> WrittenSummary | SummaryFailed:
        if isinstance(model, Tempered):
            model = model.tempered(TEMPERATURE if request.structured else 0.0)
        billed: list[Usage] = []
        answer: WrittenSummary | SummaryFailed
        try:
            async with asyncio.timeout(request.options.seconds):
                answer = await self._halt.race(_tried(request, model, billed))
        except TimeoutError:
            said = Said("no summary within {seconds} s", seconds=request.options.seconds)
            answer = SummaryFailed(Failure.TIMEOUT, said)
        except ModelError as error:
            billed += [error.usage] if error.usage else []
            answer = SummaryFailed(Failure.ERROR, str(error))
        return replace(answer, usage=sum(billed, Usage())) if billed else answer


async def _tried(
    request: SummaryRequest, model: ChatModel, billed: list[Usage]
) -> WrittenSummary | SummaryFailed:
    """Asked again once when it is too long, and with less input while that was too long. Each
    reply is billed, whether or not it is taken."""
    first, lengths, inputs = request, 0, 0
    while True:
        try:
            answer = await _asked(request, model, request.left_out - first.left_out)
        except ContextTooLong:
            inputs += 1
            if inputs == INPUT_TRIES:
                raise
            request = request.shorter()
            continue
        lengths += 1
        billed += [answer.usage] if answer.usage else []
        too_long = isinstance(answer, SummaryFailed) and answer.reason is Failure.TOO_LONG
        if not too_long or lengths == LENGTH_TRIES:
            return answer


async def _asked(
    request: SummaryRequest, model: ChatModel, left_out: int
) -> WrittenSummary | SummaryFailed:
    reply = await model.reply(request.messages(), ())
    message = born(reply.message)
    accepted = accept(message.text, bool(message.calls), request)
    if isinstance(accepted, SummaryFailed):
        return replace(accepted, usage=reply.usage)
    name = reply.model or model.name
    return WrittenSummary(accepted, left_out, name, reply.usage, reply.seconds)
