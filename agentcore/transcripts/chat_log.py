"""Successive requests and responses of one chat-completions conversation, put on a tape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from agentcore.messages import Role, ToolStatus
from agentcore.said import Said
from agentcore.snapshot import PLACES_A_NUMBER
from agentcore.transcripts.base import ChangeKind, Format, ProblemKind, Recording
from agentcore.transcripts.scalars import iso_time, json_text
from agentcore.transcripts.tape import Draft, Tape, TurnDraft
from agentcore.transcripts.writing import write
from agentcore.usage import Usage, count

Values = Sequence[dict[str, Any]]

_LEADING = frozenset({Role.SYSTEM, Role.DEVELOPER})


class ChatLog:
    """Each request brings the whole list again: what is new at its end was said since, what is
    gone or new elsewhere was changed by the agent. No marker says why."""

    def __init__(self) -> None:
        self.tape = Tape()
        self._tools: tuple[dict[str, Any], ...] = ()
        self._model = ""
        self._at: str | None = None
        self._callers: dict[str, tuple[Draft, str]] = {}
        self._likeness: dict[Draft, str] = {}
        self._order: dict[Draft, tuple[int, int]] = {}

    def request(self, request: Mapping[str, Any], line: int | None) -> None:
        values = self._messages(request.get("messages"), line)
        self._model = str(request.get("model") or "")
        self._at = iso_time(request.get("timestamp"))
        tools = request.get("tools")
        if isinstance(tools, list):
            self._tools = tuple(tool for tool in tools if isinstance(tool, dict))
        known = [self._likeness[draft] for draft in self.tape.live]
        told = [_likeness(value) for value in values]
        if told[: len(known)] != known:
            new = self._rewrite(values, SequenceMatcher(None, known, told, autojunk=False), line)
        else:
            new = values[len(known) :]
        for value in new:
            self.tape.append(self._said(value, line))

    def response(self, entry: Mapping[str, Any], line: int | None) -> None:
        """The reply that stands beside a request, if there is one."""
        response = entry.get("response")
        if not isinstance(response, Mapping):
            return
        choices = response.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, Mapping) else None
        if not isinstance(message, dict):
            detail = Said("a response without a message")
            self.tape.problem(line, ProblemKind.BAD_MESSAGE, detail)
            return
        draft = self.tape.append(self._said({**message, "role": "assistant"}, line))
        draft.at = iso_time(response.get("created")) or self._at
        draft.turn = TurnDraft(
            str(response.get("id") or "") or None,
            str(response.get("model") or self._model),
            usage_of(response.get("usage")),
            at=draft.at,
        )

    def recording(self) -> Recording:
        return write(self.tape, Format.OPENAI_CHAT, model=self._model, tools=self._tools)

    def _messages(self, values: Any, line: int | None) -> list[dict[str, Any]]:
        found = []
        for index, value in enumerate(values if isinstance(values, list) else []):
            if isinstance(value, dict):
                found.append(value)
            else:
                detail = Said(
                    "entry {index}: {kind} instead of a message",
                    index=index,
                    kind=type(value).__name__,
                )
                self.tape.problem(line, ProblemKind.BAD_MESSAGE, detail)
        return found

    def _said(self, value: dict[str, Any], line: int | None) -> Draft:
        """A message that was said, as opposed to one that a change of the list put in."""
        draft = self._draft(value, line)
        if value.get("role") == Role.ASSISTANT:
            draft.turn = TurnDraft(model=self._model)
        elif draft.owner:
            draft.turn = draft.owner.turn
        return draft

    def _draft(
        self, value: dict[str, Any], line: int | None, place: tuple[Draft | None, int] | None = None
    ) -> Draft:
        draft = Draft(value, line=line, place=place)
        number = len(self._order) + 1
        self._likeness[draft] = _likeness(value)
        self._order[draft] = (number * PLACES_A_NUMBER, number)
        if place:
            beside, offset = place
            self._order[draft] = ((self._order[beside][0] if beside else 0) + offset, number)
        if value.get("role") == Role.ASSISTANT:
            self._callers.update((call_id, (draft, name)) for call_id, name in _calls(value))
        elif value.get("role") == Role.TOOL:
            draft.owner, name = self._callers.get(str(value.get("tool_call_id")), (None, ""))
            draft.status, draft.tool = ToolStatus.UNKNOWN, name or None
        return draft

    def _rewrite(self, values: Values, matcher: SequenceMatcher[str], line: int | None) -> Values:
        """Change the list to the one told. Returns what stands behind it and was said since."""
        after: list[Draft] = []
        new: Values = ()
        for tag, start, stop, first, last in matcher.get_opcodes():
            told = values[first:last]
            if tag == "equal":
                after += self.tape.live[start:stop]
            elif tag == "insert" and start == len(self.tape.live):
                new = told
            else:
                after += self._put_in(told, start, stop, line)
        if [self._order[draft] for draft in after] != sorted(self._order[one] for one in after):
            head = matcher.get_opcodes()[0]
            kept = head[2] if head[0] == "equal" else 0
            new = ()
            after = self.tape.live[:kept]
            after += [self._draft(value, line) for value in values[kept:]]
        self.tape.rewrite(self._kind(after), after, at=self._at)
        return new

    def _put_in(self, values: Values, start: int, stop: int, line: int | None) -> list[Draft]:
        """Drafts in the place of rows `start` to `stop` of the list."""
        live = self.tape.live
        behind = live[start - 1] if start else None
        place = (live[start], 0) if start < stop else (behind, 1)
        drafts = []
        for value in values:
            replaced = [one for one in live[start:stop] if _answers_the_same(one.value, value)]
            draft = self._draft(value, line, (replaced[0], 0) if replaced else place)
            draft.replaces = replaced[0] if replaced else None
            drafts.append(draft)
        return drafts

    def _kind(self, after: Sequence[Draft]) -> ChangeKind:
        """A list that lost more than it gained, and not only in its leading messages."""
        kept = set(after)
        ended = [draft for draft in self.tape.live if draft not in kept]
        gone = sum(len(self._likeness[draft]) for draft in ended)
        come = sum(len(self._likeness[draft]) for draft in after if not draft.live)
        is_talk = any(draft.value.get("role") not in _LEADING for draft in ended)
        return ChangeKind.COMPACTION if is_talk and come < gone else ChangeKind.REWRITE


def usage_of(usage: Any) -> Usage | None:
    """Cached tokens are inside the prompt count here; ours are beside it."""
    if not isinstance(usage, Mapping):
        return None
    prompt, output = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
    read = _detail(usage, "prompt_tokens_details", "cached_tokens")
    read = read or count(usage.get("cache_read_input_tokens"))
    written = count(usage.get("cache_creation_input_tokens"))
    reasoning = _detail(usage, "completion_tokens_details", "reasoning_tokens")
    if not prompt and not output:
        return None
    return Usage(max(prompt - read - written, 0), output, read, written, reasoning)


def _detail(usage: Mapping[str, Any], member: str, key: str) -> int:
    details = usage.get(member)
    return count(details.get(key)) if isinstance(details, Mapping) else 0


def _likeness(value: dict[str, Any]) -> str:
    """Equal for messages that say the same: replies come back with members added or left out."""
    if value.get("role") == Role.ASSISTANT:
        return json_text([value.get("role"), value.get("content") or "", _calls(value)])
    return json_text(value)


def _calls(value: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Ids and names, with what is malformed left to the message itself to refuse."""
    calls = value.get("tool_calls")
    found = []
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping):
            found.append((str(call.get("id") or ""), str(function.get("name") or "")))
    return found


def _answers_the_same(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    is_result = old.get("role") == new.get("role") == Role.TOOL
    return is_result and old.get("tool_call_id") == new.get("tool_call_id")
