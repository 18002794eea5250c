"""One message of the OpenAI chat format, frozen, with the wire text it was born with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeAlias

import orjson

from agentcore.breakdown import Category, Mark, Sizes, byte_length, measure_message
from agentcore.errors import MessageError
from agentcore.facts import Fact
from agentcore.frozen import maker
from agentcore.said import Said
from agentcore.wire import dumps, encoded, loads


class Role(StrEnum):
    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class ToolStatus(StrEnum):
    """How a tool call ended: metadata, never guessed from text."""

    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """`arguments` is the JSON text the model wrote; it may not parse."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Cut:
    """Bytes of a tool's output as captured, and of what the message keeps of it."""

    original: int
    kept: int


@dataclass(frozen=True, slots=True)
class Message:
    """`number` is its place in the session's history, from 1, for ever; 0 before it has one.

    `turn` is the one that bore it, 0 outside one or where it is not known; `tool` and `status`
    belong to results, `original` (bytes of what there was) to those that hold less of it,
    `replaces` (a number) and `stands_for` (numbers) to messages that a compaction bears. `facts`
    follow from the rest: None until they are looked for. `value()` parses the wire text anew at
    each call.
    """

    wire: str
    role: Role
    sizes: Sizes
    number: int = 0
    calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    mark: Mark | None = None
    tool: str | None = None
    status: ToolStatus | None = None
    original: int | None = None
    turn: int = 0
    replaces: int | None = None
    stands_for: tuple[range, ...] = ()
    facts: Sequence[Fact] | None = field(default=None, repr=False, compare=False)

    def value(self) -> dict[str, Any]:
        """The message as a dict, equal to the one it was made from."""
        value: dict[str, Any] = loads(self.wire)
        return value

    @property
    def text(self) -> str:
        """The plain text of the content; parts without text are left out."""
        return content_text(_loaded(self.wire).get("content"))

    @property
    def cut(self) -> Cut | None:
        """What there was and what the message keeps of it; None where it is whole."""
        return None if self.original is None else Cut(self.original, byte_length(self.text))

    @property
    def is_summary(self) -> bool:
        """A summary or note of ours, or one that a reader marked."""
        return Category.SUMMARY in self.sizes.breakdown

    @property
    def is_recalled(self) -> bool:
        """A block of what was recalled from the archive."""
        parts = self.sizes.breakdown
        return Category.MEMORY in parts and Category.SYSTEM_PROMPT not in parts

    @property
    def is_leading(self) -> bool:
        ours = self.is_summary or self.is_recalled
        return self.role in (Role.SYSTEM, Role.DEVELOPER) and not ours

    @property
    def is_instruction(self) -> bool:
        return self.role is Role.USER and self.mark is None

    @property
    def is_final_answer(self) -> bool:
        return self.role is Role.ASSISTANT and not self.calls

    def born_as(self, number: int, replaces: int | None, stands_for: tuple[range, ...]) -> Message:
        """A copy that a plan puts into a list; many times as fast as `replace`, since a plan may
        bear thousands. Facts of its own get its number."""
        facts = self.facts
        if number and not self.number and isinstance(facts, tuple):
            facts = tuple(fact if fact.number else replace(fact, number=number) for fact in facts)
        return make_message(
            self.wire,
            self.role,
            self.sizes,
            number,
            self.calls,
            self.tool_call_id,
            self.mark,
            self.tool,
            self.status,
            self.original,
            self.turn,
            replaces,
            stands_for,
            facts,
        )

    def numbered(self, number: int) -> Message:
        """With this number, its own facts too; facts that a note carries for others keep theirs."""
        if not self.facts:
            return replace(self, number=number)
        own = self.number
        facts = (
            replace(fact, number=number) if fact.number == own else fact for fact in self.facts
        )
        return replace(self, number=number, facts=tuple(facts))


make_message = maker(Message)
MessageLike: TypeAlias = Message | Mapping[str, Any]


def born(
    value: Mapping[str, Any],
    *,
    mark: Mark | None = None,
    sections: Sequence[tuple[Category, str]] = (),
    **known: Any,
) -> Message:
    """A message from its dict, measured once. `known`: further fields of Message.

    Raises MessageError for what is not a chat message, WireError for what has no wire form.
    """
    role = _role(value)
    raw = encoded(value)
    wire = raw.decode()
    sizes = measure_message(value, len(raw), len(wire), mark=mark, sections=sections)
    return _build(value, role, wire, sizes, mark=mark, known=known)


def read(
    wire: str, sizes: Sizes | None = None, *, mark: Mark | None = None, **known: Any
) -> Message:
    """A message from its stored wire text, which stays as it is; measured only without `sizes`."""
    value = _loaded(wire)
    role = _role(value)
    if sizes is None:
        sizes = measure_message(value, byte_length(wire), len(wire), mark=mark)
    return _build(value, role, wire, sizes, mark=mark, known=known)


def as_message(value: MessageLike) -> Message:
    return value if isinstance(value, Message) else born(value)


def content_text(content: Any) -> str:
    """The text of a string or a list of parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (part.get("text") for part in content if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def _loaded(wire: str) -> Any:
    """The value, with large numbers rounded: fast, and good for all but giving it back."""
    try:
        return orjson.loads(wire)
    except orjson.JSONDecodeError:
        return loads(wire)


def _role(value: Any) -> Role:
    if not isinstance(value, Mapping):
        kind = type(value).__name__
        raise MessageError(Said("a message is an object, not {kind}", kind=kind))
    try:
        return Role(str(value.get("role")))
    except ValueError:
        roles = ", ".join(Role)
        name = repr(value.get("role"))
        said = Said("unknown role {name}: use one of {known}", name=name, known=roles)
        raise MessageError(said) from None


def _build(
    value: Mapping[str, Any],
    role: Role,
    wire: str,
    sizes: Sizes,
    *,
    mark: Mark | None,
    known: Mapping[str, Any],
) -> Message:
    return Message(
        wire,
        role,
        sizes,
        calls=_calls(value) if role is Role.ASSISTANT else (),
        tool_call_id=_call_id(value) if role is Role.TOOL else None,
        mark=mark,
        **known,
    )


def _calls(value: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    calls = value.get("tool_calls") or []
    if not isinstance(calls, list):
        text = f"{calls!r:.80}"
        raise MessageError(Said("tool_calls is a list of calls, not {value}", value=text))
    return tuple(_call(call) for call in calls)


def _call(call: Any) -> ToolCall:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        text = f"{call!r:.80}"
        raise MessageError(Said("a tool call has an id and a function, not {value}", value=text))
    arguments = function.get("arguments", "")
    if not isinstance(arguments, str):
        arguments = dumps(arguments)
    return ToolCall(str(call.get("id") or ""), str(function.get("name") or ""), arguments)


def _call_id(value: Mapping[str, Any]) -> str:
    return str(value.get("tool_call_id") or "")
