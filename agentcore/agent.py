"""The loop: instructions in, requests out, tools run, and everything told as events."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeAlias

from agentcore.answering import Answering
from agentcore.asking import Asking
from agentcore.calling import Calling
from agentcore.compaction.repair import INTERRUPTED, repair
from agentcore.compaction.result import Trigger
from agentcore.context import Context
from agentcore.directives import Asked, Directives, Instruction, InstructionKind
from agentcore.editing import EDITS, edit
from agentcore.errors import ContextTooLong, InstructionChanged, ModelError
from agentcore.events import (
    Event,
    EventKind,
    MessageAdded,
    Recovered,
    Repaired,
    RunEnd,
    RunEnded,
    RunStarted,
    ToolStarted,
    TurnEnded,
)
from agentcore.halt import Halt, Halted, Waits
from agentcore.headroom import Emit, Headroom
from agentcore.llm.base import ChatModel
from agentcore.messages import Role
from agentcore.pressure import TokenCounter, Window, WindowSource
from agentcore.profile import Profile
from agentcore.recalling import Recall
from agentcore.standing import Means, Standing
from agentcore.tools.base import Toolbox
from agentcore.turn import Request, Spent

Poll: TypeAlias = Callable[[], Awaitable[Directives]]

# Of a request that the provider refused without naming its window.
REFUSED_SHARE = 0.9


class Agent:
    """One session at work.

    `emit` stores a batch of events as one transaction; `poll` reads what the outside wants, at
    each border. All state is in the context and in what is handed in, so that another worker can
    go on from what was stored.
    """

    def __init__(
        self,
        context: Context,
        model: ChatModel,
        toolbox: Toolbox,
        *,
        emit: Emit,
        poll: Poll,
        counter: TokenCounter,
        standing: Standing | None = None,
        means: Means | None = None,
    ) -> None:
        standing, means = standing or Standing(), means or Means()
        self._context = context
        self._toolbox = toolbox
        self._emit = emit
        self._poll = poll
        self._counter = counter
        self._turn = standing.turn
        self._run = standing.run
        self._run_open = standing.run_open
        self._answered = standing.answered
        self._recovered = standing.recovered
        self._spent = standing.spent
        self._waited = standing.waited
        self._halt = Halt()
        self._answering = Answering(model, means.prices, means.tiers)
        self._asking = Asking(
            self._answering,
            toolbox,
            counter=counter,
            prefix=standing.prefix,
            halt=self._halt,
            emit=emit,
            on_text=means.on_text,
        )
        self._calling = Calling(context, toolbox, halt=self._halt, check=means.check)
        self._recall = Recall(context, means.archive)
        self._headroom = Headroom(
            context,
            toolbox,
            model=model,
            summarizer=means.summarizer,
            counter=counter,
            emit=emit,
            halt=self._halt,
            breaker=standing.breaker,
            hooks=means.hooks,
            originals=means.originals,
            contradicted=standing.contradicted,
            named=means.named,
        )

    def stop(self) -> None:
        """End the run at once: a reply is discarded, a running tool is cancelled."""
        self._halt.throw()

    async def run(self) -> RunEnd | None:
        """Work until nothing is owed, or something ends it; background tasks end with it. None: the
        run waits for a person and stays open."""
        try:
            return await self._work()
        except Waits:
            return None
        finally:
            await self._toolbox.close()

    async def _work(self) -> RunEnd:
        end, reason, usage = None, "", None
        await self._repair()
        while end is None:
            try:
                end = await self._step()
            except InstructionChanged:
                continue
            except Halted:
                end = RunEnd.STOPPED
            except ModelError as error:
                end, reason, usage = RunEnd.FAILED, str(error), error.usage
        if self._run_open:
            self._run_open = False
            cost = self._answering.now.prices.cost(usage)
            await self._emit([RunEnded(self._run, end, reason, usage, cost)])
        return end

    async def _repair(self) -> None:
        """Answer calls that a lost worker left open. They may have run; they are not run again."""
        directives = await self._poll()
        if self._waited and directives.asked:
            return
        requested = self._context.snapshot()
        plan, reasons = repair(requested, INTERRUPTED)
        events: list[Event] = []
        if not plan.is_empty:
            revision = self._context.apply(plan, EventKind.REPAIRED)
            events.append(Repaired(revision, reasons))
        if self._recovered:
            events.append(Recovered(self._turn, len(reasons)))
        if self._waited or (self._recovered and reasons):
            self._turn += 1
            request, self._waited = self._waited or self._asking.nothing(requested.state), None
            events.append(self._turn_ended(request, directives.profile))
        if events:
            await self._emit(events)

    async def _step(self) -> RunEnd | None:
        """One border and what follows it."""
        directives = await self._poll()
        if self._waited and directives.asked:
            await self._go_on(self._waited, directives)
            return None
        if directives.stop or self._halt.is_thrown:
            return RunEnd.STOPPED
        for instruction in directives.instructions:
            await self._take(instruction, directives)
        if directives.rests and not self._run_open:
            return RunEnd.STOPPED
        if not self._owes_reply():
            if self._run_open:
                await self._headroom.at_run_end(directives, self._turn)
            return RunEnd.ANSWERED
        if not self._run_open:
            await self._start_run()
        if ceiling := self._spent.ceiling(directives.profile, directives.summaries):
            await self._emit([ceiling])
            return RunEnd.LIMIT
        if not await self._headroom.make(directives, self._turn):
            return RunEnd.BLOCKED
        try:
            await self._take_turn(directives.profile)
        except ContextTooLong as error:
            return await self._refused(error, directives)
        return None

    async def _refused(self, error: ContextTooLong, directives: Directives) -> RunEnd | None:
        """One compaction and one more try; after that the run is blocked."""
        tokens = self._headroom.pressure(directives.profile).tokens
        window = error.window or int(tokens * REFUSED_SHARE)
        fits = await self._headroom.refused(
            Window(window, WindowSource.CONTRADICTED, self._answering.now.model.name),
            directives,
            self._turn,
        )
        if not fits:
            return RunEnd.BLOCKED
        try:
            await self._take_turn(directives.profile)
        except ContextTooLong:
            return RunEnd.BLOCKED
        return None

    async def _take(self, instruction: Instruction, directives: Directives) -> None:
        if instruction.kind is InstructionKind.COMPACT:
            await self._headroom.compact(
                directives, Trigger.MANUAL, turn=self._turn, asked=instruction
            )
            return
        if instruction.kind in EDITS:
            await self._emit([edit(self._context, instruction, directives.pins)])
            return
        if told := self._recall.forget(directives.profile, self._run):
            await self._emit(told)
        recalled = await self._recall.block(instruction.text, directives.profile)
        message = self._context.draft({"role": "user", "content": instruction.text})
        message = message.numbered(message.number + bool(recalled))
        added = [MessageAdded(recalled, 0)] if recalled else []
        added.append(MessageAdded(message, 0, instruction.id))
        await (self._emit(added) if self._run_open else self._start_run(*added))
        for one in added:
            self._context.append(one.message)
        self._answered = False

    async def _start_run(self, *first: Event) -> None:
        await self._emit([RunStarted(self._run + 1), *first])
        self._run += 1
        self._run_open = True
        self._spent = Spent()

    def _owes_reply(self) -> bool:
        """A compaction may have taken the answer, so the last row alone does not tell."""
        if self._answered:
            return False
        last = self._context.messages[-1] if self._context.messages else None
        return last is not None and last.role in (Role.USER, Role.TOOL)

    async def _take_turn(self, profile: Profile) -> None:
        request, message = await self._asking.reply(self._context, profile, self._spent)
        self._turn += 1
        message = self._context.append(replace(message, turn=self._turn))
        beyond = self._spent.turn(len(message.calls), profile)
        told: list[Event] = [MessageAdded(message, self._turn)]
        if not message.calls:
            self._answered = True
            await self._emit([*told, self._turn_ended(request, profile)])
            return
        told += self._calling.refuse(beyond, self._turn)
        await self._answer_calls(request, profile, told, {})

    async def _go_on(self, request: Request, directives: Directives) -> None:
        """Finish the turn that waits: with the answers, or unanswered where the run is stopped."""
        if directives.stop:
            self._halt.throw()
        elif None in directives.asked.values():
            raise Waits
        self._turn += 1
        self._spent.tool_calls += len(self._calling.due(directives.asked))
        self._waited = None
        await self._answer_calls(request, directives.profile, [], directives.asked)

    async def _answer_calls(
        self, request: Request, profile: Profile, told: list[Event], asked: Asked
    ) -> None:
        """Run the newest reply's calls in order, up to the first that a person has to be asked
        about: then all such are asked about at once. Raises Waits, and Halted after a stop.

        What was denied is answered before anything starts: from the start on the answers are used,
        and after a crash a call without a result counts as interrupted.
        """
        turn, calling = self._turn, self._calling
        told = [*told, *calling.deny(calling.due(asked), turn)]
        due = calling.due(asked)
        wanted = calling.wanted(due, asked, profile)
        ready = due[: due.index(wanted[0])] if wanted else due
        if ready and not self._halt.is_thrown:
            began = [ToolStarted(one.altered, turn, request.waited) for one in ready]
            await self._emit([*told, *began])
            told = []
        told += await calling.run(ready, turn)
        if wanted and not self._halt.is_thrown:
            so_far = self._turn_ended(request, profile)
            await self._emit([*told, *calling.questions(wanted, so_far)])
            raise Waits
        told += await calling.run(due[len(ready) :], turn)
        await self._emit([*told, self._turn_ended(request, profile)])
        if self._halt.is_thrown:
            raise Halted

    def _turn_ended(self, request: Request, profile: Profile) -> TurnEnded:
        return request.ended(
            self._turn,
            self._run,
            self._context,
            schemas=self._toolbox.sizes,
            pressure=self._headroom.pressure(profile),
            ratio=self._counter.ratio,
        )
