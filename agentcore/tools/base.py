"""A tool, and the one exit that every result passes."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol

from agentcore.breakdown import Sizes, byte_length, measure_schemas
from agentcore.errors import ToolError, WireError
from agentcore.limits import Keep, Limits, clamp
from agentcore.messages import Cut, ToolCall, ToolStatus
from agentcore.options import Effect, Mode
from agentcore.redact import without_keys
from agentcore.wire import loads


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folder a session works in, resolved, and the limits that hold there. `closed` is a folder
    that no tool reads, lists or writes, should it lie inside; `programs` are folders in which
    commands look for programs before they look where the system keeps them."""

    root: Path
    limits: Limits = field(default_factory=Limits)
    closed: Path | None = None
    programs: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """`kind` is its media type, such as image/png."""

    kind: str
    data: bytes = field(repr=False)

    @property
    def url(self) -> str:
        return f"data:{self.kind};base64,{b64encode(self.data).decode()}"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """`text` names its subject (tool, path, command) in its first line. `captured` is the whole
    output where `text` already is a shortened form of it. `checkpoint`: the message that is born
    of this result is to be one. `pictures` stand after the text."""

    text: str
    status: ToolStatus = ToolStatus.OK
    keep: Keep = "head"
    captured: str | None = None
    checkpoint: bool = False
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What left the toolbox: the clamped text and the pictures for the message, and what was
    captured, in which a picture that is too large for it stands as its data URL, up to the limit
    on files."""

    call: ToolCall
    text: str
    status: ToolStatus
    captured: str
    seconds: float
    checkpoint: bool = False
    pictures: tuple[Picture, ...] = ()

    @property
    def cut(self) -> Cut | None:
        """Sizes of both when the message holds less than was captured."""
        if self.text == self.captured:
            return None
        return Cut(byte_length(self.captured), byte_length(self.text))


class Tool(Protocol):
    """`run` raises ToolError for what the model should read as a failure; it ends its own
    processes when it is cancelled. `parameters` is a JSON schema of type object; `check` raises
    ToolError for arguments that do not fit it. By `effect` a profile has people asked first."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def parameters(self) -> Mapping[str, Any]: ...
    @property
    def effect(self) -> Effect: ...

    def check(self, arguments: Mapping[str, Any]) -> None: ...

    async def run(self, arguments: Mapping[str, Any], workspace: Workspace) -> ToolResult: ...


class Toolbox:
    """The tools offered in one session, and the only way to call them. `refusals`: what a call of
    a tool that is not offered reads, by name; `mode`: what they are offered for. `keys`: values
    that no result may hold. Close it when the work ends: what runs in the background ends then."""

    def __init__(
        self,
        tools: Sequence[Tool],
        workspace: Workspace,
        *,
        refusals: Mapping[str, str] | None = None,
        mode: Mode = Mode.GOAL,
        keys: Collection[str] = (),
        close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._workspace = workspace
        self._refusals = refusals or {}
        self._keys = keys
        self._close = close
        self.mode = mode
        self.schemas: tuple[Mapping[str, Any], ...] = tuple(_schema(tool) for tool in tools)
        self.sizes: Sizes = measure_schemas(self.schemas)

    def check(self, call: ToolCall) -> Tool:
        """The tool that would run. Raises ToolError for a call that none would take."""
        tool = self._tools.get(call.name)
        if tool is None:
            offered = ", ".join(sorted(self._tools))
            reason = self._refusals.get(call.name, "no such tool")
            raise ToolError(f"{reason}; the tools are {offered}")
        tool.check(_arguments(call))
        return tool

    async def call(self, call: ToolCall, note: str = "") -> Outcome:
        """Run one call. Whatever goes wrong in it becomes a result that the model can read; a
        `note` stands above it."""
        started = time.monotonic()
        try:
            result = await self.check(call).run(_arguments(call), self._workspace)
        except ToolError as error:
            result = ToolResult(f"{call.name}: {error}", ToolStatus.FAILED)
        return self._outcome(call, result, note, time.monotonic() - started)

    def refused(self, call: ToolCall, text: str) -> Outcome:
        """Of a call that was not run."""
        return self._outcome(call, ToolResult(text, ToolStatus.FAILED), "", 0.0)

    async def close(self) -> None:
        if self._close:
            await self._close()

    def _outcome(self, call: ToolCall, result: ToolResult, note: str, seconds: float) -> Outcome:
        limits = self._workspace.limits
        text = without_keys(result.text or "(no output)", self._keys)
        captured = text if result.captured is None else without_keys(result.captured, self._keys)
        pictures, refused = _fitting(result.pictures, limits.picture_bytes)
        above = [without_keys(note, self._keys)] if note else []
        # In front, where no clamp of the head takes them away.
        subject, *rest = text.split("\n", 1)
        kept = [one for one in refused if len(one.data) <= (limits.file_bytes or len(one.data))]
        notes = [_refusal(one, is_kept=one in kept) for one in refused]
        told = "\n".join([*above, subject, *notes, *rest])
        return Outcome(
            call,
            clamp(told, limits.result_bytes, result.keep),
            result.status,
            "\n".join([*above, captured, *(one.url for one in kept)]),
            seconds,
            result.checkpoint,
            pictures,
        )


def counted(count: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def clipped(text: str, chars: int) -> str:
    """At most so many characters, 0 for all; a cut is marked."""
    return f"{text[:chars]}…" if 0 < chars < len(text) else text


def _fitting(
    pictures: Sequence[Picture], most: int
) -> tuple[tuple[Picture, ...], tuple[Picture, ...]]:
    """Those that one result holds, and the others: a picture is given whole or not at all."""
    sizes = accumulate(len(picture.data) for picture in pictures)
    fitting = sum(1 for size in sizes if not most or size <= most)
    return tuple(pictures[:fitting]), tuple(pictures[fitting:])


def _refusal(picture: Picture, *, is_kept: bool) -> str:
    size = f"{picture.kind}, {len(picture.data)} bytes"
    keeps = "the session keeps it" if is_kept else "too large for the session too"
    return f"… a picture ({size}) is too large for a result; {keeps}; make a smaller one"


def _schema(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    try:
        arguments = loads(call.arguments or "{}")
    except WireError as error:
        raise ToolError(f"the arguments are not JSON ({error}); send one JSON object") from error
    if not isinstance(arguments, dict):
        raise ToolError("the arguments are not a JSON object; send one JSON object")
    return arguments
