"""Room for the next request: when the list is compacted, by whom, and when it is left alone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from agentcore.compaction.pipeline import Answer, Pipeline, run_pipeline
from agentcore.compaction.result import CompactionResult, Failure, SummaryFailed, Trigger
from agentcore.compaction.summarizer import SummaryRequest, accept
from agentcore.context import Context
from agentcore.directives import Directives
from agentcore.errors import ModelError
from agentcore.events import (
    Blocked,
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    Event,
    OverBudget,
)
from agentcore.halt import Halt, Halted
from agentcore.llm.base import ChatModel
from agentcore.messages import born
from agentcore.options import Automatic
from agentcore.pressure import Pressure, TokenCounter
from agentcore.profile import Profile
from agentcore.snapshot import Snapshot
from agentcore.tools.base import Toolbox

Emit: TypeAlias = Callable[[Sequence[Event]], Awaitable[None]]
SUMMARY_TRIES = 2


class Headroom:
    """Measures one session's list, and compacts it. `summarizer` None: notes without summaries."""

    def __init__(
        self,
        context: Context,
        toolbox: Toolbox,
        *,
        model: ChatModel,
        summarizer: ChatModel | None,
        counter: TokenCounter,
        emit: Emit,
        halt: Halt,
    ) -> None:
        self._context = context
        self._toolbox = toolbox
        self._model = model
        self._summarizer = summarizer
        self._counter = counter
        self._emit = emit
        self._halt = halt
        # Automatic attempts rest until this much is used: what did nothing is not tried again.
        self._rests_until = 0
        self._profile: Profile | None = None

    def pressure(self, profile: Profile, snapshot: Snapshot | None = None) -> Pressure:
        """Of the next request, were it sent now; of another list where one is given."""
        window = profile.window_for(self._model.name)
        return self._counter.pressure(
            snapshot.sizes if snapshot else self._context.sizes,
            self._toolbox.sizes,
            budget=profile.budget_for(window),
            window=window,
            reserve=profile.reserve_for(window),
            counts_schemas=profile.counts_schemas,
        )

    async def make(self, directives: Directives, turn: int) -> bool:
        """Compact where it is due. False when the next request cannot be sent."""
        profile = directives.profile
        if profile != self._profile:
            self._profile, self._rests_until = profile, 0
        if profile.automatic is Automatic.ON:
            await self._compact_if_due(directives, turn)
        pressure = self.pressure(profile)
        if pressure.fits_window or not pressure.window.is_known:
            return True
        if profile.automatic is Automatic.ON:
            await self.compact(directives, Trigger.OVERFLOW, turn=turn)
            pressure = self.pressure(profile)
        if pressure.fits_window:
            return True
        await self._emit([Blocked(pressure)])
        return False

    async def compact(
        self,
        directives: Directives,
        trigger: Trigger,
        *,
        turn: int,
        instruction: int | None = None,
    ) -> CompactionResult:
        """Run the pipeline on the list as it is, and swap the result in."""
        profile, started = directives.profile, time.monotonic()
        before = self.pressure(profile)
        told = [CompactionStarted(trigger, before, instruction)]
        run = run_pipeline(
            self._context.snapshot(),
            profile,
            pressure_of=lambda snapshot: self.pressure(profile, snapshot),
            trigger=trigger,
            pins=directives.pins,
        )
        try:
            result = await self._drive(run, told)
        except Halted:
            detail = "the run was stopped while the summary was written"
            failed = CompactionFailed(trigger, Failure.CANCELLED, detail, turn, before, instruction)
            await self._emit([*told, failed])
            raise
        if result.changed:
            revision = self._context.apply(result.plan)
            result = replace(result, after=self._context.snapshot(), revision=revision)
        events = self._outcome(
            result, (before, self.pressure(profile)), turn, time.monotonic() - started, instruction
        )
        if events:
            await self._emit([*told, *events])
        return result

    async def _compact_if_due(self, directives: Directives, turn: int) -> None:
        profile = directives.profile
        pressure = self.pressure(profile)
        first = profile.stages[0]
        at = profile.threshold(first)
        due = pressure.fraction > at if first.above else pressure.fraction >= at
        if not due or pressure.used < self._rests_until:
            return
        result = await self.compact(directives, Trigger.THRESHOLD, turn=turn)
        pressure = self.pressure(profile)
        over = pressure.used > pressure.limit
        if over or not result.changed:
            self._rests_until = pressure.used + max(1, round(profile.min_gain * pressure.limit))
        if over:
            largest = max(self._context.messages, key=lambda message: message.sizes.bytes)
            await self._emit([OverBudget(pressure, largest.number, largest.sizes.bytes)])

    async def _drive(self, run: Pipeline, told: list[CompactionStarted]) -> CompactionResult:
        """Answer the pipeline's requests. A start that takes a while is told at once."""
        try:
            request = next(run)
            while True:
                if self._summarizer is not None and told:
                    await self._emit([told.pop()])
                request = run.send(await self._summary(request))
        except StopIteration as stop:
            result: CompactionResult = stop.value
            return result

    async def _summary(self, request: SummaryRequest) -> Answer:
        if self._summarizer is None:
            return None
        answer: Answer = None
        for _ in range(SUMMARY_TRIES):
            answer = await self._one_summary(request, self._summarizer)
            if not isinstance(answer, SummaryFailed) or answer.reason is not Failure.TOO_LONG:
                break
        return answer

    async def _one_summary(self, request: SummaryRequest, model: ChatModel) -> Answer:
        try:
            async with asyncio.timeout(request.options.seconds):
                reply = await self._halt.race(model.reply(request.messages(), ()))
        except TimeoutError:
            detail = f"no summary within {request.options.seconds} s"
            return SummaryFailed(Failure.TIMEOUT, detail)
        except ModelError as error:
            return SummaryFailed(Failure.ERROR, str(error))
        message = born(reply.message)
        return accept(message.text, bool(message.calls), request.options)

    @staticmethod
    def _outcome(
        result: CompactionResult,
        pressures: tuple[Pressure, Pressure],
        turn: int,
        seconds: float,
        instruction: int | None,
    ) -> list[Event]:
        """Failures always; the end where the list changed or a person asked."""
        told = instruction if not result.changed else None
        events: list[Event] = [
            CompactionFailed(result.trigger, one.reason, one.detail, turn, pressures[0], told)
            for one in result.failures
        ]
        asked = result.trigger is Trigger.MANUAL and not events
        if result.changed or asked:
            events.append(CompactionEnded(result, *pressures, turn, seconds, instruction))
        return events
