"""Facts in the arguments of tool calls: paths that were read or changed, commands, to-dos."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agentcore.errors import WireError
from agentcore.facts import ALL_DONE, TODO_SUBJECT, Fact, FactKind
from agentcore.messages import ToolCall
from agentcore.wire import loads

PATHS_OF_A_CALL, TODOS = 20, 20
COMMAND_CHARS, PATH_CHARS = 300, 300
# Arguments beyond this hold a file's content; the path is looked for in front of it.
PARSED_CHARS = 2_000_000

_PATH_KEYS = frozenset(
    {
        *("path", "file_path", "filename", "file", "filepath", "notebook_path", "target_file"),
        *("old_path", "new_path", "from_path", "to_path", "paths", "files", "directory"),
        *("dir_path", "absolute_path", "relative_path"),
    }
)
# These may name other things than files: taken where they look like a path.
_ENDS = frozenset({"source", "destination", "src", "dst"})
_COMMAND_KEYS = frozenset({"command", "cmd", "shell_command", "bash_command"})
_CHANGING = re.compile(
    r"write|edit|create|patch|replace|insert|delete|remove|move|rename|save|append|update"
)
_LOOKING = frozenset({"view", "open", "read"})
_EDITOR_ACTS = frozenset({"create", "str_replace", "insert", "undo_edit", "edit", "write"})
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (\S.{0,300})$", re.MULTILINE)
# What a shell line writes to: `> a`, `tee a`, `sed -i ... a`, `rm a`, `mv a b`, `touch a`.
_SHELL_WRITES = re.compile(
    r"(?<![0-9&<>=-])>{1,2}\s?([\w./~-]{1,200})"
    r"|(?:^|[\s;&|])(?:tee(?: -a)?|touch|rm(?: -[rf]{1,2})?|mv|git mv|git rm) "
    r"([\w./~-]{1,200}(?: [\w./~][\w./~-]{0,200}){0,5})"
    r"|(?:^|[\s;&|])sed -i[^\n;&|]{0,300}? ([\w./~-]{1,200})(?=$|[\n;&|])"
)
_DONE = frozenset({"completed", "done", "cancelled", "canceled"})


def facts_of_call(call: ToolCall, number: int) -> Iterator[Fact]:
    """Arguments that do not parse hold no facts."""
    arguments = _arguments(call)
    command = _command(arguments)
    changes = bool(_CHANGING.search(call.name.lower()))
    act = arguments.get("command")
    if isinstance(act, str) and act in _LOOKING | _EDITOR_ACTS:
        changes, command = act in _EDITOR_ACTS, None
    kind = FactKind.CHANGED_PATH if changes else FactKind.READ_PATH
    for path in _first(_paths(arguments)):
        yield _path(kind, path, number, call)
    if command:
        said = " ".join(command.split())[:COMMAND_CHARS]
        yield Fact(FactKind.COMMAND, said, number, said, call=call.id)
    for path in _first(_written(arguments, command)):
        yield _path(FactKind.CHANGED_PATH, path, number, call)
    for item in _open_items(arguments.get("todos") or arguments.get("plan")):
        yield Fact(FactKind.STATE, item, number, item, TODO_SUBJECT, call=call.id)


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    if len(call.arguments) > PARSED_CHARS:
        return {}
    try:
        arguments = loads(call.arguments)
    except WireError:
        return {}
    return arguments if isinstance(arguments, dict) else {}


def _command(arguments: Mapping[str, Any]) -> str | None:
    """The command line; of a list of words the last, which is the script where there is one."""
    for key in _COMMAND_KEYS:
        command = arguments.get(key)
        if isinstance(command, list):
            words = [word for word in command if isinstance(word, str)]
            has_shell = len(words) == 3 and words[1] in ("-c", "-lc")
            command = words[-1] if has_shell else " ".join(words)
        if isinstance(command, str) and command.strip():
            return command
    return None


def _paths(arguments: Mapping[str, Any]) -> Iterator[str]:
    for key, value in arguments.items():
        if key in _PATH_KEYS:
            yield from value if isinstance(value, list) else [value]
        elif key in _ENDS and isinstance(value, str) and ("/" in value or "." in value):
            yield value


def _written(arguments: Mapping[str, Any], command: str | None) -> Iterator[str]:
    """Paths that a patch names or a shell line writes to."""
    for key in ("input", "patch", "diff"):
        text = arguments.get(key)
        if isinstance(text, str):
            yield from _PATCHED.findall(text)
    if command:
        yield from _PATCHED.findall(command)
        for found in _SHELL_WRITES.finditer(command[: 10 * COMMAND_CHARS]):
            yield from " ".join(filter(None, found.groups())).split()


def _first(paths: Iterable[Any]) -> list[str]:
    """Each once, those that can be paths, not too many."""
    found = dict.fromkeys(
        path.strip() for path in paths if isinstance(path, str) and _is_path(path.strip())
    )
    return list(found)[:PATHS_OF_A_CALL]


def _is_path(path: str) -> bool:
    return 0 < len(path) <= PATH_CHARS and "\n" not in path and not path.startswith("/dev/")


def _path(kind: FactKind, path: str, number: int, call: ToolCall) -> Fact:
    return Fact(kind, path, number, path, call=call.id)


def _open_items(items: Any) -> Iterator[str]:
    """The to-dos of a list of them that are not done; of a list all done one line that says so."""
    listed = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    still_open = [item for item in listed if item.get("status") not in _DONE]
    if listed and not still_open:
        yield ALL_DONE
    for item in still_open[:TODOS]:
        text = item.get("content") or item.get("step") or item.get("text")
        if isinstance(text, str) and text.strip():
            yield " ".join(text.split())[:COMMAND_CHARS]
