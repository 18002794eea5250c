"""Chat-completions JSON in the wrappers seen: a bare list of messages, a request body, a request
with its response, a list of runs with `traj`, and JSONL of successive requests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, BinaryIO

from agentcore.errors import TranscriptError
from agentcore.limits import MIB
from agentcore.messages import Role
from agentcore.said import Said
from agentcore.transcripts.base import ProblemKind, Recording
from agentcore.transcripts.chat_log import ChatLog
from agentcore.transcripts.lines import BOM, read_values

MAX_DOCUMENT_BYTES = 256 * MIB

_ROLES = frozenset(Role)
# What tells other formats with a member `messages` apart: there it is not the whole request.
_FOREIGN_KEYS = frozenset({"system", "system_prompt", "trajectory_format", "info", "history"})
_FOREIGN_PARTS = frozenset({"tool_use", "tool_result"})


def is_document(value: Any) -> bool:
    """Whether a JSON value is one of the wrappers."""
    if isinstance(value, dict):
        return not _FOREIGN_KEYS & value.keys() and _are_messages(value.get("messages"))
    return _are_messages(value) or is_list_of_runs(value)


def is_list_of_runs(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and _is_run(value[0])


def read_document(stream: BinaryIO) -> Any:
    """The JSON value of a whole file. Raises TranscriptError with the reason."""
    raw = stream.read(MAX_DOCUMENT_BYTES + 1)
    if not raw.removeprefix(BOM).strip():
        raise TranscriptError(Said("the file is empty"))
    if len(raw) > MAX_DOCUMENT_BYTES:
        said = Said("longer than {most} bytes: split it, or use JSONL", most=MAX_DOCUMENT_BYTES)
        raise TranscriptError(said)
    try:
        return json.loads(raw.removeprefix(BOM).decode())
    except UnicodeDecodeError as error:
        place = Said("not UTF-8 at byte {place}", place=error.start)
        raise TranscriptError(Said("neither JSON nor JSONL: {error}", error=place)) from error
    except (ValueError, RecursionError) as error:
        said = Said("neither JSON nor JSONL: {error}", error=str(error)[:200])
        raise TranscriptError(said) from error


def load(stream: BinaryIO) -> tuple[Recording, ...]:
    """One recording a conversation: a list of runs holds several, all else one."""
    document = read_document(stream)
    if is_list_of_runs(document):
        return tuple(_run(run, index) for index, run in enumerate(document) if _is_run(run))
    if is_document(document):
        log = ChatLog()
        _enter(log, document, None)
        return (log.recording(),)
    said = Said(
        "no chat-completions JSON: expected a list of messages, an object with `messages`, "
        "or a list of runs with `traj`"
    )
    raise TranscriptError(said)


def load_lines(stream: BinaryIO) -> tuple[Recording, ...]:
    """One recording of successive requests, one a line; one line at a time is held."""
    log = ChatLog()
    for line, value in read_values(stream, log.tape.problems):
        if is_document(value):
            _enter(log, value, line)
        else:
            log.tape.problem(line, ProblemKind.BAD_LINE, Said("no request with messages"))
    return (log.recording(),)


def _enter(log: ChatLog, value: Any, line: int | None) -> None:
    request = {"messages": value} if isinstance(value, list) else value
    log.request(request, line)
    log.response(request, line)


def _run(run: Mapping[str, Any], index: int) -> Recording:
    log = ChatLog()
    log.request({"messages": run["traj"]}, None)
    task = run.get("task_id")
    log.tape.title = f"task {task}" if isinstance(task, int | str) else f"run {index}"
    return log.recording()


def _is_run(value: Any) -> bool:
    return isinstance(value, dict) and _are_messages(value.get("traj"))


def _are_messages(value: Any) -> bool:
    """Judged by the first message; a bad one later costs itself alone."""
    if not isinstance(value, list) or not value or not isinstance(value[0], dict):
        return False
    return value[0].get("role") in list(_ROLES) and not any(map(_is_foreign, value[:10]))


def _is_foreign(message: Any) -> bool:
    content = message.get("content") if isinstance(message, dict) else None
    parts = content if isinstance(content, list) else []
    return any(isinstance(part, dict) and str(part.get("type")) in _FOREIGN_PARTS for part in parts)
