"""What the results in a list still show. Their text is data: paths and names are taken from it,
nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentcore.errors import WireError
from agentcore.messages import Message, Role, ToolCall, ToolStatus
from agentcore.wire import loads

EVERYTHING = "**/*"

_HIT = re.compile(r"^([^…].*?):\d+:")
_WEIGHED = re.compile(r"^(\d+) \./(.+)$", re.MULTILINE)
_COUNTED = re.compile(r"^ *(\d+) \./(.+)$", re.MULTILINE)
_STARTED = re.compile(r"start_task (task-\d+) ")
_COMMIT = re.compile(r"^[0-9a-f]{7,40} .+$", re.MULTILINE)
_LENGTH = re.compile(r"(\d+) lines?, \d+ bytes|lines \d+-\d+ of (\d+)")
_DEFINED = re.compile(
    r"^\s*(?:class|def|func|fn|function|interface|struct|type) +(\w{5,})", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Sighting:
    """A call and the result that the list shows of it."""

    tool: str
    arguments: Mapping[str, Any]
    text: str

    @property
    def body(self) -> str:
        """The result without its first line, which names the subject."""
        return self.text.partition("\n")[2]

    @property
    def is_whole(self) -> bool:
        """Whether no notice says that something was left out."""
        return not any(line.startswith("…") for line in self.text.splitlines())


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of the workspace as `glob` gave them; all of them, or the first ones."""

    paths: tuple[str, ...]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class Hits:
    """The files in which a search found something, one for each hit; all, or the first ones."""

    paths: tuple[str, ...]
    is_complete: bool

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.paths))

    @property
    def count(self) -> str:
        return f"{len(self.paths)}{'' if self.is_complete else '+'}"


def sightings(messages: Sequence[Message]) -> tuple[Sighting, ...]:
    """In order; failures and placeholders left out."""
    seen: list[Sighting] = []
    calls: dict[str, ToolCall] = {}
    for message in messages:
        if message.role is Role.ASSISTANT:
            calls = {call.id: call for call in message.calls}
        call = calls.get(message.tool_call_id or "") if message.role is Role.TOOL else None
        if call and message.status is not ToolStatus.FAILED and not message.text.startswith("["):
            seen.append(Sighting(call.name, _arguments(call), message.text))
    return tuple(seen)


def listing(seen: Sequence[Sighting]) -> Listing | None:
    """The newest list of all files, if it is in view."""
    for one in reversed(seen):
        if one.tool == "glob" and one.arguments.get("pattern") == EVERYTHING:
            lines = one.body.splitlines()
            paths = tuple(line for line in lines if line and not line.startswith("…"))
            return Listing(paths, one.is_whole)
    return None


def of_search(seen: Sequence[Sighting], pattern: str) -> Hits | None:
    """The hits of the newest search for a pattern; None where it is not in view."""
    for one in reversed(seen):
        if one.tool == "grep" and one.arguments.get("pattern") == pattern:
            return hits(one)
    return None


def hits(search: Sighting) -> Hits:
    found = (_HIT.match(line) for line in search.body.splitlines())
    return Hits(tuple(one[1] for one in found if one), search.is_whole)


def lines_of(reading: Sighting) -> int | None:
    """Lines of the file that was read, as the result's first line says."""
    found = _LENGTH.search(reading.text.partition("\n")[0])
    return int(found[1] or found[2]) if found else None


def defined_in(reading: Sighting) -> tuple[str, ...]:
    """Names that the text of a file defines, ordinary words and tests left out."""
    names = dict.fromkeys(_DEFINED.findall(reading.body))
    return tuple(name for name in names if looks_like_a_name(name) and not name.startswith("test_"))


def looks_like_a_name(word: str) -> bool:
    """Whether a word was made for code: `part_two`, `PartTwo`, `part2`."""
    return "_" in word or any(letter.isupper() for letter in word[1:]) or word[-1].isdigit()


def of_command(seen: Sequence[Sighting], command: str) -> str | None:
    """The newest output of a command, if it is in view."""
    for one in reversed(seen):
        if one.tool == "run_command" and one.arguments.get("command") == command:
            return one.body
    return None


def weighed(output: str) -> tuple[tuple[int, str], ...]:
    """(bytes, path) pairs, the heaviest first."""
    return tuple(
        sorted(((int(size), path) for size, path in _WEIGHED.findall(output)), reverse=True)
    )


def started_task(seen: Sequence[Sighting]) -> str | None:
    """The name of the background task started last, if that is in view."""
    for one in reversed(seen):
        if one.tool == "start_task" and (found := _STARTED.match(one.text)):
            return found[1]
    return None


def counted_lines(seen: Sequence[Sighting]) -> tuple[tuple[int, str], ...]:
    """(lines, path) pairs of the newest look into a background task, the longest first."""
    for one in reversed(seen):
        if one.tool == "read_task":
            pairs = ((int(lines), path) for lines, path in _COUNTED.findall(one.body))
            return tuple(sorted(pairs, reverse=True))
    return ()


def commits(output: str) -> tuple[str, ...]:
    return tuple(_COMMIT.findall(output))


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    try:
        arguments = loads(call.arguments or "{}")
    except WireError:
        return {}
    return arguments if isinstance(arguments, dict) else {}
