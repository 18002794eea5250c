"""A stage for the agent in tests: scripted model, tools that only answer, and all that it tells."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from histories import Value, answer, calls

from agentcore import PRESETS, Profile
from agentcore.agent import Agent
from agentcore.context import Context
from agentcore.directives import Answer, Directives, Instruction, InstructionKind
from agentcore.errors import ToolError
from agentcore.events import CallWanted, Event, RunEnd, RunStarted, ToolStarted, TurnEnded
from agentcore.llm.scripted import Line, ScriptedModel
from agentcore.options import Effect
from agentcore.pressure import TokenCounter
from agentcore.standing import Means, Standing
from agentcore.tools.base import Picture, Toolbox, ToolResult, Workspace
from agentcore.turn import Request

E = TypeVar("E")


@dataclass
class Echo:
    """A tool that returns its text, fails, or waits for ever."""

    name: str = "echo"
    description: str = "says it again"
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object"})
    effect: Effect = Effect.READ
    ran: int = 0

    def check(self, arguments: Mapping[str, Any]) -> None:
        if arguments.get("wrong"):
            raise ToolError("wrong arguments")

    async def run(self, arguments: Mapping[str, Any], workspace: Workspace) -> ToolResult:
        self.ran += 1
        if arguments.get("fail"):
            raise ToolError("it would not")
        if arguments.get("wait"):
            await asyncio.sleep(3_600)
        text = str(arguments.get("text", "ok")) * int(arguments.get("times", 1))
        shown = (Picture("image/png", b"pixels"),) if arguments.get("picture") else ()
        return ToolResult(text, pictures=shown)


@dataclass
class Stage:
    """Queue instructions, run, look at `told`: one list of events a transaction."""

    lines: Sequence[Line]
    profile: Profile = PRESETS["nanohermes"]
    context: Context = field(default_factory=Context)
    pins: frozenset[int] = frozenset()
    summarizer: ScriptedModel | None = None
    stop: bool = False
    hold: bool = False
    allowed: bool | None = None
    tool: Echo = field(default_factory=Echo)
    others: Sequence[Echo] = ()
    asked: dict[int, Answer | None] = field(default_factory=dict)
    summaries: Decimal = Decimal(0)
    stands: dict[str, Any] = field(default_factory=dict)
    queue: list[Instruction] = field(default_factory=list)
    told: list[list[Event]] = field(default_factory=list)
    on_emit: Callable[[Sequence[Event]], None] | None = None

    def __post_init__(self) -> None:
        self.model = ScriptedModel(self.lines)
        if not self.context.messages:
            self.context.append({"role": "system", "content": "be careful"})

    def say(self, text: str = "go") -> Stage:
        self.queue.append(Instruction(len(self.queue) + 1, InstructionKind.MESSAGE, text))
        return self

    def compact(self) -> Stage:
        self.queue.append(Instruction(len(self.queue) + 1, InstructionKind.COMPACT))
        return self

    def agent(self, **options: Any) -> Agent:
        """`options`: fields of Standing and Means."""
        stands = {one.name for one in fields(Standing)} & options.keys()
        means = {name: options[name] for name in options.keys() - stands}
        toolbox = Toolbox([self.tool, *self.others], Workspace(Path("/"), self.profile.limits))
        return Agent(
            self.context,
            self.model,
            toolbox,
            emit=self._emit,
            poll=self._poll,
            counter=TokenCounter(),
            standing=Standing(**{name: options[name] for name in stands}),
            means=Means(**{"summarizer": self.summarizer, **means}),
        )

    async def run(self, **options: Any) -> RunEnd | None:
        return await self.agent(**options).run()

    async def go_on(self, **options: Any) -> RunEnd | None:
        """Another worker, from what was told so far."""
        return await self.run(**{**self.stands, **options})

    def events(self, kind: type[E]) -> list[E]:
        return [event for batch in self.told for event in batch if isinstance(event, kind)]

    @property
    def kinds(self) -> list[list[str]]:
        return [[str(event.kind) for event in batch] for batch in self.told]

    async def _emit(self, events: Sequence[Event]) -> None:
        if self.on_emit:
            self.on_emit(events)
        self.told.append(list(events))
        taken = {getattr(event, "instruction", None) for event in events}
        self.queue = [one for one in self.queue if one.id not in taken]
        for event in events:
            self._keep(event)

    def _keep(self, event: Event) -> None:
        """What is stored of a turn that waits, as long as it does."""
        if isinstance(event, RunStarted):
            self.stands = {"run": event.run, "run_open": True}
        elif isinstance(event, CallWanted):
            self.asked[event.place] = None
            if event.turn:
                kept = {one.name: getattr(event.turn, one.name) for one in fields(Request)}
                self.stands["waited"] = Request(**{**kept, "waited": True})
        elif isinstance(event, ToolStarted) and event.waited:
            self.asked.clear()
        elif isinstance(event, TurnEnded):
            self.asked.clear()
            self.stands |= {"turn": event.turn, "waited": None}

    async def _poll(self) -> Directives:
        return Directives(
            self.profile,
            self.pins,
            instructions=tuple(self.queue),
            stop=self.stop,
            hold=self.hold,
            compaction_allowed=self.allowed,
            asked=dict(self.asked),
            summaries=self.summaries,
        )

    def edit(self, text: str) -> None:
        self.queue = [replace(one, text=text) for one in self.queue]


def use(*arguments: str, said: str | None = None) -> Value:
    """A reply that calls the echo tool once for each JSON text."""
    value = calls(*(f"e{abs(hash(arguments))}_{n}" for n in range(len(arguments))), text=said)
    for call, text in zip(value["tool_calls"], arguments, strict=True):
        call["function"] = {"name": "echo", "arguments": text}
    return value


DONE = answer("done")
