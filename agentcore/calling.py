"""The tool calls of one turn, run in order."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from agentcore.context import Context
from agentcore.events import CheckpointSet, Event, MessageAdded, ToolEnded
from agentcore.halt import Halt, Halted
from agentcore.messages import ToolCall
from agentcore.tools.base import Outcome, Toolbox
from agentcore.turn import result, unfinished

Check: TypeAlias = Callable[[], Awaitable[None]]

STOPPED = "[{tool} was stopped; it may have run in part]"
NOT_STARTED = "[{tool} was not run: the run was stopped]"


class Calling:
    """Each result is appended to the context. A stop cancels the tool that runs; those after it are
    answered without running."""

    def __init__(
        self, context: Context, toolbox: Toolbox, *, halt: Halt, check: Check | None
    ) -> None:
        self._context = context
        self._toolbox = toolbox
        self._halt = halt
        self._check = check

    async def run(self, calls: Sequence[ToolCall], turn: int) -> list[Event]:
        """What is to be told of the results. Raises what `check` raises, before a tool runs."""
        events: list[Event] = []
        for call in calls:
            outcome = await self._outcome(call)
            message = self._context.append(replace(result(outcome), turn=turn))
            captured = outcome.captured if outcome.cut else None
            events += [
                ToolEnded(call, turn, outcome.status, outcome.seconds),
                MessageAdded(message, turn, captured=captured),
            ]
            if outcome.checkpoint:
                events.append(CheckpointSet(message.number, turn))
        return events

    async def _outcome(self, call: ToolCall) -> Outcome:
        if self._halt.is_thrown:
            return unfinished(call, NOT_STARTED, 0.0)
        if self._check:
            await self._check()
        started = time.monotonic()
        try:
            return await self._halt.race(self._toolbox.call(call))
        except Halted:
            return unfinished(call, STOPPED, time.monotonic() - started)
