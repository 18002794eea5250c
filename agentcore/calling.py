"""The tool calls of one turn: run in order, and held where a person has to allow them first."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from agentcore.context import Context
from agentcore.directives import Answer, Asked
from agentcore.errors import ToolError
from agentcore.events import (
    CallWanted,
    CheckpointSet,
    Event,
    MessageAdded,
    ToolEnded,
    TurnEnded,
)
from agentcore.halt import Halt, Halted
from agentcore.limits import head_of
from agentcore.messages import ToolCall
from agentcore.profile import Profile
from agentcore.snapshot import newest_group, open_calls
from agentcore.tools.base import Outcome, Toolbox
from agentcore.turn import result, unfinished
from agentcore.wire import dumps, loads

Check: TypeAlias = Callable[[], Awaitable[None]]

STOPPED = "[{tool} was stopped; it may have run in part]"
NOT_STARTED = "[{tool} was not run: the run was stopped]"
BEYOND = "[{tool} was not run: the run has made as many tool calls as its profile allows]"
DENIED = "[{tool} was not run: a person denied it{reason}]"
LATE = "[{tool} was not run: nobody answered{reason}, which counts as a no]"
ALTERED = "[a person altered the arguments before {tool} ran; in place of yours it ran with {now}]"
# Of altered arguments the model reads so much; what they came to stands in the result.
ALTERED_BYTES = 2_000


@dataclass(frozen=True, slots=True)
class Due:
    """A call of the newest reply without a result; `place` is its own among all of them, `answer`
    what a person said of it, None where nobody was asked."""

    place: int
    call: ToolCall
    answer: Answer | None = None

    @property
    def is_denied(self) -> bool:
        return self.answer is not None and not self.answer.allow

    @property
    def altered(self) -> ToolCall:
        """The call as it is to be run."""
        if self.answer is None or self.answer.arguments is None:
            return self.call
        return replace(self.call, arguments=self.answer.arguments)


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

    def due(self, asked: Asked) -> list[Due]:
        """What the newest reply still has to be answered, in order."""
        waiting = open_calls(self._context.messages)
        return [Due(place, call, asked.get(place)) for place, call in waiting.items()]

    def wanted(self, due: Sequence[Due], asked: Asked, profile: Profile) -> list[Due]:
        """The calls that a person has to be asked about and was not. What would not run anyway asks
        nobody."""
        effects = profile.approvals.of(self._toolbox.mode)
        if not effects:
            return []
        return [one for one in due if one.place not in asked and self._effect(one.call) in effects]

    def questions(self, wanted: Sequence[Due], so_far: TurnEnded) -> list[CallWanted]:
        """The first one tells of the turn too, unless that waited before."""
        messages = self._context.messages
        number = messages[newest_group(messages).start].number
        first = None if so_far.waited else so_far
        return [
            CallWanted(one.call, one.place, number, so_far.pressure, None if row else first)
            for row, one in enumerate(wanted)
        ]

    async def run(self, due: Sequence[Due], turn: int) -> list[Event]:
        """What is to be told of the results. Raises what `check` raises, before a tool runs."""
        events: list[Event] = []
        for one in due:
            events += self._told(await self._outcome(one), turn)
        return events

    def refuse(self, count: int, turn: int) -> list[Event]:
        """Answer the last `count` calls of the newest reply: the run may make no more."""
        events: list[Event] = []
        for one in self.due({})[-count:] if count else ():
            said = BEYOND.format(tool=one.call.name)
            events += self._told(self._toolbox.refused(one.call, said), turn)
        return events

    def deny(self, due: Sequence[Due], turn: int) -> list[Event]:
        """Answer what a person denied, or nobody allowed in time."""
        events: list[Event] = []
        for one in due:
            if one.answer and one.is_denied:
                text = LATE if one.answer.late else DENIED
                said = text.format(tool=one.call.name, reason=_reason(one.answer))
                events += self._told(self._toolbox.refused(one.call, said), turn)
        return events

    def _effect(self, call: ToolCall) -> str:
        try:
            return self._toolbox.check(call).effect
        except ToolError:
            return ""

    def _told(self, outcome: Outcome, turn: int) -> list[Event]:
        message = self._context.append(replace(result(outcome), turn=turn))
        captured = outcome.captured if outcome.cut else None
        events: list[Event] = [
            ToolEnded(outcome.call, turn, outcome.status, outcome.seconds),
            MessageAdded(message, turn, captured=captured),
        ]
        if outcome.checkpoint:
            events.append(CheckpointSet(message.number, turn))
        return events

    async def _outcome(self, due: Due) -> Outcome:
        call = due.altered
        if self._halt.is_thrown:
            return unfinished(call, NOT_STARTED, 0.0)
        if self._check:
            await self._check()
        started = time.monotonic()
        try:
            return await self._halt.race(self._toolbox.call(call, _note(due)))
        except Halted:
            return unfinished(call, STOPPED, time.monotonic() - started)


def _note(due: Due) -> str:
    """What the model has to know of a call that ran otherwise than it wrote it."""
    if due.altered == due.call:
        return ""
    return ALTERED.format(tool=due.call.name, now=_changes(due.call, due.altered))


def _changes(old: ToolCall, new: ToolCall) -> str:
    """The arguments that differ, as JSON; null for one that was left out."""
    before, after = loads(old.arguments or "{}"), loads(new.arguments or "{}")
    changed: Mapping[str, object] = {
        name: after.get(name)
        for name in {**before, **after}
        if (name in before, before.get(name)) != (name in after, after.get(name))
    }
    text = dumps(changed)
    shown = head_of(text, ALTERED_BYTES)
    left = len(text.encode()) - len(shown.encode())
    return f"{shown}… ({left} bytes more)" if left else shown


def _reason(answer: Answer) -> str:
    if not answer.reason:
        return ""
    return f" {answer.reason}" if answer.late else f": {answer.reason}"
