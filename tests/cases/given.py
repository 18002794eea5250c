"""What the cases give, in terms of the code: lists, profiles, summarizers, and an agent that runs
without a network."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentcore import Profile, Snapshot
from agentcore.agent import Agent
from agentcore.compaction.result import CompactionResult
from agentcore.context import Context
from agentcore.directives import Directives, Instruction, InstructionKind
from agentcore.errors import ModelError
from agentcore.events import Event, EventKind
from agentcore.llm.scripted import ScriptedModel
from agentcore.messages import Message, Role
from agentcore.options import Stage
from agentcore.pressure import TokenCounter, Unit
from agentcore.standing import Means, Standing
from agentcore.tools.base import Toolbox, Workspace

# More than any case asks for.
REPLIES = 200


def expand(value: Any) -> Any:
    """The value with `$repeat`, `$concat` and `$bytes` written out."""
    if isinstance(value, list):
        return [expand(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "$repeat" in value:
        return value["$repeat"] * value["times"]
    if "$concat" in value:
        return "".join(expand(part) for part in value["$concat"])
    if "$bytes" in value:
        return bytes.fromhex(value["$bytes"]) * value["times"]
    return {key: expand(item) for key, item in value.items()}


def profile(given: Mapping[str, Any], **changes: Any) -> Profile:
    """Keep-recent alone, with the case's budget in characters; its test is >."""
    stage = Stage("keep_recent", at=1.0, above=True, keep=given.get("keep_recent", 10))
    settings: dict[str, Any] = {
        "budget": given.get("budget_chars", 120_000),
        "unit": Unit.CHARS,
        "reserve": 0,
        "counts_schemas": False,
        "result_share": False,
    }
    return Profile((stage,), **{**settings, **changes})


class Summarizer:
    """Answers with a text, or raises; keeps what it was asked."""

    def __init__(self, answer: str | Exception | Callable[[str], str]) -> None:
        self._answer = answer
        self.inputs: list[str] = []

    def __call__(self, text: str, *, max_words: int) -> str:
        self.inputs.append(text)
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer if isinstance(self._answer, str) else self._answer(text)


class Desk:
    """A session at work in memory: what people ask goes in by `ask`, `events` come out."""

    def __init__(
        self,
        messages: Sequence[Mapping[str, Any]],
        with_profile: Profile,
        model: ScriptedModel,
        *,
        summarizer: ScriptedModel | None = None,
        toolbox: Toolbox | None = None,
        recovered: bool = False,
    ) -> None:
        self.context = Context(Snapshot.of(messages))
        self.events: list[Event] = []
        self._model = model
        self._profile = with_profile
        self._queue: list[Instruction] = []
        self._asked = 0
        self._toolbox = toolbox or Toolbox((), Workspace(Path()))
        self._summarizer = summarizer
        self.agent = self._started(recovered)

    def restart(self) -> None:
        """Another worker takes over."""
        self.agent = self._started(recovered=False)

    def ask(self, text: str, kind: InstructionKind = InstructionKind.MESSAGE) -> None:
        self._asked += 1
        self._queue.append(Instruction(self._asked, kind, text))

    async def turn(self, text: str) -> None:
        """One instruction to its answer."""
        self.ask(text)
        await self.agent.run()

    async def compact(self) -> None:
        self.ask("", InstructionKind.COMPACT)
        await self.agent.run()

    def told(self, kind: EventKind) -> list[Any]:
        return [event for event in self.events if event.kind is kind]

    @property
    def sent(self) -> list[list[dict[str, Any]]]:
        """The list of each request."""
        return lists(self._model)

    @property
    def values(self) -> list[dict[str, Any]]:
        return [message.value() for message in self.context.messages]

    def _started(self, recovered: bool) -> Agent:
        return Agent(
            self.context,
            self._model,
            self._toolbox,
            emit=self._emit,
            poll=self._poll,
            counter=TokenCounter(),
            standing=Standing(recovered=recovered),
            means=Means(summarizer=self._summarizer),
        )

    async def _emit(self, events: Sequence[Event]) -> None:
        self.events += events
        taken = {getattr(event, "instruction", None) for event in events}
        self._queue = [one for one in self._queue if one.id not in taken]

    async def _poll(self) -> Directives:
        return Directives(self._profile, instructions=tuple(self._queue))


def speaker(text: str) -> ScriptedModel:
    """A model that always says the same."""
    return ScriptedModel([assistant(text)] * REPLIES)


def failing(text: str) -> ScriptedModel:
    return ScriptedModel([ModelError(text)] * REPLIES)


def lists(model: ScriptedModel) -> list[list[dict[str, Any]]]:
    return [[message.value() for message in asked.messages] for asked in model.requests]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def exchanges(count: int) -> list[dict[str, Any]]:
    """Short talk of a user and an assistant."""
    return [
        one
        for place in range(count)
        for one in (user(f"small talk {place}"), assistant(f"indeed {place}"))
    ]


def summaries(result: CompactionResult) -> list[Message]:
    return [message for message in result.new.messages if message.is_summary]


def unpaired(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Ids of calls and results that do not stand as pairs, nothing but results between."""
    wrong: list[str] = []
    waiting: list[str] = []
    for message in messages:
        if message["role"] == Role.TOOL:
            answered = message["tool_call_id"]
            (waiting.remove if answered in waiting else wrong.append)(answered)
            continue
        wrong += waiting
        waiting = [call["id"] for call in message.get("tool_calls") or []]
    return wrong + waiting


def text_of(messages: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps(list(messages), ensure_ascii=False)
