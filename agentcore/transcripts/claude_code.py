"""Sessions of Claude Code: JSONL, one record a line, linked to a tree by uuid and parentUuid."""

from __future__ import annotations

from typing import Any, BinaryIO

from agentcore.errors import WireError
from agentcore.messages import content_text
from agentcore.said import Said
from agentcore.transcripts.base import Format, Problem, ProblemKind, Recording
from agentcore.transcripts.claude_talk import Talk
from agentcore.transcripts.lines import read_values
from agentcore.transcripts.tape import Draft
from agentcore.transcripts.writing import write
from agentcore.wire import loads

_TYPES = frozenset(
    {"user", "assistant", "system", "summary", "progress", "attachment", "queue-operation"}
    | {"file-history-snapshot", "ai-title", "custom-title"}
)
_TITLES = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}
_MARKS = frozenset({"uuid", "sessionId", "leafUuid", "messageId"})


def is_record(value: Any) -> bool:
    """Whether a JSON value looks like a record of this format."""
    if not isinstance(value, dict) or str(value.get("type")) not in _TYPES:
        return False
    return bool(_MARKS & value.keys()) or isinstance(value.get("message"), dict)


def load(stream: BinaryIO) -> tuple[Recording, ...]:
    """One recording; its subagents are in it. A subagent's own file is a session like any other."""
    session = _Session()
    problems: list[Problem] = []
    for line, value in read_values(stream, problems):
        if isinstance(value, dict):
            session.take(value, line)
        else:
            detail = Said("{kind} instead of a record", kind=type(value).__name__)
            problems.append(Problem(line, ProblemKind.BAD_LINE, detail))
    return (session.recording(problems),)


class _Session:
    """Sorts the records of a file into the main talk and those of subagents."""

    def __init__(self) -> None:
        self._main = Talk()
        self._sides: list[Talk] = []
        self._by_agent: dict[str, Talk] = {}
        self._titles: dict[str, str] = {}

    def take(self, record: dict[str, Any], line: int) -> None:
        self._take_title(record)
        inner = _agent_progress(record)
        if inner:
            self._main.pass_over(record, "progress")
            self._side(inner).take(inner, line)
        elif record.get("isSidechain") is True:
            self._side(record).take(record, line)
        else:
            self._main.take(record, line)

    def recording(self, problems: list[Problem]) -> Recording:
        """A file of a subagent alone is a session like any other."""
        for talk in (self._main, *self._sides):
            talk.finish()
        sides = [side for side in self._sides if not side.tape.is_empty]
        main = sides.pop(0) if sides and self._main.tape.is_empty else self._main
        if sides:
            _link(main, sides)
        main.tape.problems.extend(problems)
        main.tape.title = self._title()
        if main is not self._main:
            main.tape.skipped.update(self._main.tape.skipped)
        subagents = tuple(write(side.tape, Format.CLAUDE_CODE) for side in sides)
        return write(main.tape, Format.CLAUDE_CODE, subagents=subagents)

    def _side(self, record: dict[str, Any]) -> Talk:
        parent, agent = record.get("parentUuid"), str(record.get("agentId") or "")
        if agent in self._by_agent:
            return self._by_agent[agent]
        known = [talk for talk in self._sides if talk.knows(str(parent))]
        if not known and not agent and (parent is not None or record.get("type") != "user"):
            known = self._sides
        if known:
            return known[-1]
        talk = Talk()
        talk.tape.call_id = _text(record.get("parentToolUseID"))
        self._sides.append(talk)
        if agent:
            self._by_agent[agent] = talk
        return talk

    def _take_title(self, record: dict[str, Any]) -> None:
        """A summary names the session that its leaf belongs to, which may be another one."""
        kind = str(record.get("type"))
        title = _text(record.get(_TITLES.get(kind, "")))
        if title:
            self._titles[str(record.get("leafUuid")) if kind == "summary" else kind] = title

    def _title(self) -> str:
        named = [self._titles.get("ai-title"), self._titles.get("custom-title")]
        own = [title for leaf, title in self._titles.items() if self._main.knows(leaf)]
        return next((title for title in reversed([*own, *named]) if title), "")


def _link(main: Talk, sides: list[Talk]) -> None:
    """Find the call that started each subagent: it carries the subagent's first prompt."""
    asked = [
        (call_id, prompt, talk)
        for talk in (main, *sides)
        for draft in talk.replies
        for call_id, prompt in _prompts(draft)
    ]
    taken = {side.tape.call_id for side in sides}
    for side in (side for side in sides if side.tape.call_id is None):
        first = side.tape.first
        told = content_text(first.value.get("content")).strip() if first else ""
        fitting = (
            call_id
            for call_id, prompt, talk in asked
            if prompt == told and talk is not side and call_id not in taken
        )
        side.tape.call_id = next(fitting, None)
        taken.add(side.tape.call_id)


def _agent_progress(record: dict[str, Any]) -> dict[str, Any] | None:
    """The subagent's record that a progress record of the main file wraps."""
    data = record.get("data")
    if record.get("type") != "progress" or not isinstance(data, dict):
        return None
    inner = data.get("message")
    if data.get("type") != "agent_progress" or not isinstance(inner, dict):
        return None
    call_id = record.get("parentToolUseID")
    agent = data.get("agentId") or call_id
    return {**inner, "isSidechain": True, "agentId": agent, "parentToolUseID": call_id}


def _prompts(draft: Draft) -> list[tuple[str, str]]:
    found = []
    for call in draft.value.get("tool_calls", []):
        try:
            arguments = loads(call["function"]["arguments"])
        except WireError:
            continue
        prompt = arguments.get("prompt") if isinstance(arguments, dict) else None
        if isinstance(prompt, str) and call["id"]:
            found.append((call["id"], prompt.strip()))
    return found


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
