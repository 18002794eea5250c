"""Room for the next request: when the list is compacted, by whom, and when it is left alone."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from agentcore.compaction.asked import CompactionOptions
from agentcore.compaction.breaker import Breaker
from agentcore.compaction.hooks import AfterTurn, BeforeCompaction, Hooks
from agentcore.compaction.pipeline import Pipeline, run_pipeline
from agentcore.compaction.result import CompactionResult, Failure, HookReport, Trigger
from agentcore.compaction.summarizer import accept_written, sources_of
from agentcore.context import Context
from agentcore.directives import Directives, Instruction
from agentcore.errors import StalePlan
from agentcore.events import (
    ApprovalWanted,
    Blocked,
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    Event,
    OverBudget,
)
from agentcore.halt import Halt, Halted, Waits
from agentcore.hooking import Heard, Hooking
from agentcore.llm.base import ChatModel
from agentcore.messages import Message
from agentcore.options import Automatic, SummarySource
from agentcore.outcome import outcome
from agentcore.pressure import Pressure, TokenCounter, Window
from agentcore.profile import Profile
from agentcore.rest import Rest
from agentcore.said import Said
from agentcore.snapshot import Snapshot
from agentcore.tools.base import Toolbox
from agentcore.writer import Named, SummaryWriter

# The messages of these numbers, and of summaries among them what those were made from; the newest.
Originals: TypeAlias = Callable[[Sequence[range]], Awaitable[Sequence[Message]]]
Emit: TypeAlias = Callable[[Sequence[Event]], Awaitable[None]]


class Headroom:
    """Measures one session's list, and compacts it; without `summarizer` from the ledger."""

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
        breaker: Breaker,
        hooks: Hooks,
        originals: Originals | None,
        contradicted: Window | None,
        named: Named | None,
    ) -> None:
        self._context = context
        self._toolbox = toolbox
        self._model = model
        self._writer = SummaryWriter(summarizer, halt, breaker, named)
        self._counter = counter
        self._emit = emit
        self._hooking = Hooking(hooks, context)
        self._originals = originals
        self._rest = Rest()
        self._contradicted = contradicted
        self._heard_after = 0

    def pressure(self, profile: Profile, snapshot: Snapshot | None = None) -> Pressure:
        """Of the next request, were it sent now; of another list where one is given."""
        window = profile.window_for(self._model.name).corrected(self._contradicted)
        sizes = snapshot.sizes if snapshot else self._context.sizes
        return profile.pressure(self._counter, window, sizes, self._toolbox.sizes)

    async def make(self, directives: Directives, turn: int) -> bool:
        """Compact where it is due. False when the next request cannot be sent."""
        profile = directives.profile
        self._rest.begin(profile, directives.pins, directives.hold)
        if profile.automatic is not Automatic.OFF:
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

    async def refused(self, window: Window, directives: Directives, turn: int) -> bool:
        """The provider refused the length: believe it, compact once, and say whether it fits."""
        self._contradicted = window
        if directives.profile.automatic is Automatic.ON:
            await self.compact(directives, Trigger.OVERFLOW, turn=turn)
        pressure = self.pressure(directives.profile)
        if not pressure.fits_window:
            await self._emit([Blocked(pressure)])
        return pressure.fits_window

    async def at_run_end(self, directives: Directives, turn: int) -> None:
        """Compact at the border of a task rather than when the budget bursts."""
        profile = directives.profile
        at = profile.compact_at_run_end
        if at is None or profile.automatic is not Automatic.ON:
            return
        if self.pressure(profile).fraction >= at:
            await self.compact(directives, Trigger.RUN_END, turn=turn)

    async def compact(
        self,
        directives: Directives,
        trigger: Trigger,
        *,
        turn: int,
        asked: Instruction | None = None,
        wish: HookReport | None = None,
    ) -> CompactionResult | None:
        """Run the pipeline on the list as it is, or take the plan that a person was shown, and swap
        the result in. None: a hook aborted, or that plan no longer fits."""
        instruction = asked.id if asked else None
        heard = await self._asked_hooks(directives, trigger, turn, instruction, wish)
        if heard.abort:
            return None
        profile, started = directives.profile, time.monotonic()
        before = self.pressure(profile)
        told = [CompactionStarted(trigger, before, instruction)]
        try:
            result = await self._result(directives, trigger, told, asked)
        except (Halted, StalePlan) as end:
            why = Failure.CANCELLED if isinstance(end, Halted) else Failure.STALE
            detail = str(end) or Said("the run was stopped while the summary was written")
            breaker = self._writer.breaker
            failed = CompactionFailed(
                trigger, why, detail, turn, before, instruction, breaker, heard.reports
            )
            await self._emit([*told, failed])
            if why is Failure.STALE:
                return None
            raise
        after = self.pressure(profile)
        result = replace(result, pressure=after) if result.changed else result
        thrash = trigger is not Trigger.MANUAL and self._rest.ran(result, before, after, profile)
        seconds = time.monotonic() - started
        then = await self._hooking.after(result, turn)
        hooks = (*heard.reports, *then.reports)
        ended = CompactionEnded(result, before, after, turn, seconds, instruction, thrash, hooks)
        if events := outcome(ended, self._writer.breaker, was_told=not told):
            await self._emit([*told, *events, *then.events])
        return result

    async def _result(
        self,
        directives: Directives,
        trigger: Trigger,
        told: list[CompactionStarted],
        asked: Instruction | None,
        *,
        again: bool = False,
    ) -> CompactionResult:
        """Applied; computed once more where the list was revised meanwhile."""
        snapshot, profile = self._context.snapshot(), directives.profile
        if asked and asked.against:
            raise StalePlan(asked.against)
        if asked and asked.prepared:
            return self._context.applied(asked.prepared.on(snapshot, directives.pins, trigger))
        options = asked.options if asked else CompactionOptions()
        profile = options.applied_to(profile)
        begin = partial(
            run_pipeline,
            snapshot,
            profile,
            pressure_of=lambda after: self.pressure(profile, after),
            trigger=trigger,
            pins=directives.pins | options.held(snapshot),
            checkpoints=directives.checkpoints,
        )
        result = await self._drive(begin, profile, told, options, manual=trigger is Trigger.MANUAL)
        try:
            return self._context.applied(result)
        except StalePlan:
            if again:
                raise
        return await self._result(directives, trigger, told, asked, again=True)

    async def _summarized_so_far(self, profile: Profile) -> Mapping[int, Message] | None:
        """What the standing summaries stand for, where summaries are made from the archive."""
        if self._originals is None or profile.summary.source is not SummarySource.ARCHIVE:
            return None
        runs = [run for message in self._context.messages for run in sources_of(message)]
        return {one.number: one for one in await self._originals(runs)} if runs else None

    async def _asked_hooks(
        self,
        directives: Directives,
        trigger: Trigger,
        turn: int,
        instruction: int | None,
        wish: HookReport | None,
    ) -> Heard:
        """They may abort, or add messages to what is compacted."""
        pressure = self.pressure(directives.profile)
        event = BeforeCompaction(trigger, self._context.snapshot(), pressure)
        heard = await self._hooking.before(event, turn, wish)
        events = list(heard.events)
        if heard.abort:
            failed = CompactionFailed(
                trigger, Failure.ABORTED, heard.abort.reason, turn, pressure, instruction
            )
            events.append(replace(failed, hooks=heard.reports))
            self._rest.until_grown(pressure, directives.profile)
        if events:
            await self._emit(events)
        return heard

    async def _compact_if_due(self, directives: Directives, turn: int) -> None:
        profile = directives.profile
        pressure = self.pressure(profile)
        if directives.hold or pressure.used < directives.hold_until:
            return
        trigger, wish = self._rest.trigger(pressure, profile), None
        if trigger is None:
            wish = await self._wish(profile, pressure, turn)
            trigger = Trigger.HOOK if wish else None
        if trigger is None:
            return
        asks = profile.automatic is Automatic.ASK
        if asks and not await self._is_allowed(directives, pressure, wish):
            return
        await self.compact(directives, trigger, turn=turn, wish=wish)
        pressure = self.pressure(profile)
        if wish:
            self._rest.until_grown(pressure, profile)
        if pressure.used > pressure.limit:
            self._rest.until_grown(pressure, profile)
            largest = max(self._context.messages, key=lambda message: message.sizes.bytes)
            await self._emit([OverBudget(pressure, largest.number, largest.sizes.bytes)])

    async def _wish(self, profile: Profile, pressure: Pressure, turn: int) -> HookReport | None:
        """Hooks are heard once after each turn, and not while compaction rests."""
        if turn == self._heard_after or self._rest.holds(pressure, profile):
            return None
        self._heard_after = turn
        event = AfterTurn(turn, self._context.snapshot(), pressure)
        heard = await self._hooking.after_turn(event)
        if heard.events:
            await self._emit(heard.events)
        return heard.wish

    async def _is_allowed(
        self, directives: Directives, pressure: Pressure, wish: HookReport | None
    ) -> bool:
        """Where a person decides: ask, and wait without holding the worker; a no rests."""
        if directives.compaction_allowed is None:
            await self._emit([ApprovalWanted("compaction", pressure, wish)])
            raise Waits
        if not directives.compaction_allowed:
            self._rest.until_grown(pressure, directives.profile)
        return directives.compaction_allowed

    async def _drive(
        self,
        begin: Callable[..., Pipeline],
        profile: Profile,
        told: list[CompactionStarted],
        options: CompactionOptions,
        *,
        manual: bool,
    ) -> CompactionResult:
        """Only where a model is asked is the start told and the archive read, for another run."""
        run = begin()
        try:
            request = next(run)
            asks = options.summary is None and (self._writer.is_there or bool(options.model))
            if asks and (originals := await self._summarized_so_far(profile)):
                run = begin(originals=originals)
                request = next(run)
            while True:
                if options.summary is not None:
                    request = run.send(accept_written(options.summary, request))
                    continue
                if asks and told:
                    await self._emit([told.pop()])
                request = replace(request, focus=options.focus)
                answer = await self._writer.write(request, override=manual, name=options.model)
                request = run.send(answer)
        except StopIteration as stop:
            result: CompactionResult = stop.value
            return result
