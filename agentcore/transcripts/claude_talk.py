"""One talk of a Claude Code file, the main one or a subagent's: its records, put on a tape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentcore.breakdown import Mark
from agentcore.messages import content_text
from agentcore.said import Said
from agentcore.transcripts.base import ChangeKind, ProblemKind, TurnStatus
from agentcore.transcripts.branches import branch
from agentcore.transcripts.claude_blocks import (
    add_blocks,
    blocks_of,
    content_of,
    result_message,
    result_status,
    usage_of,
)
from agentcore.transcripts.scalars import iso_time
from agentcore.transcripts.tape import Draft, Tape, TurnDraft
from agentcore.usage import count

SYNTHETIC = "<synthetic>"
CLEARED = "[Tool result cleared in the recorded session]"
_INTERRUPTED = "[Request interrupted by user"
_PROGRAM_TEXTS = ("<local-command-stdout>", "<local-command-stderr>", "<local-command-caveat>")

Record = dict[str, Any]


class Talk:
    """`replies` are the assistant messages. The live branch is the one that the newest record
    reaches; a record that goes on elsewhere rewinds the list to its parent."""

    def __init__(self) -> None:
        self.tape = Tape()
        self.replies: list[Draft] = []
        self._by_uuid: dict[str, Draft | None] = {}
        self._contents: dict[str, Any] = {}
        self._by_response: dict[str, Draft] = {}
        self._turns: dict[str, TurnDraft] = {}
        self._callers: dict[str, tuple[Draft, str]] = {}
        self._boundary: _Boundary | None = None

    def knows(self, uuid: str) -> bool:
        return uuid in self._by_uuid

    def take(self, record: Record, line: int) -> None:
        kind, subtype = record.get("type"), record.get("subtype")
        if kind in ("user", "assistant") and isinstance(record.get("message"), dict):
            self._take_message(record, line)
        elif kind == "system" and subtype == "compact_boundary":
            self._open_boundary(record, line)
        elif kind == "system" and subtype == "microcompact_boundary":
            self._microcompact(record)
        else:
            self.pass_over(record, f"{kind}/{subtype}" if subtype else str(kind))

    def pass_over(self, record: Record, kind: str) -> None:
        """A record that belongs to no list; what follows it follows what it followed."""
        self.tape.skipped[kind[:80]] += 1
        self._remember(record, self._parent(record))

    def finish(self) -> None:
        self._close_boundary()

    def _take_message(self, record: Record, line: int) -> None:
        if self._is_repeated(record):
            detail = Said("the record {record} again", record=f"{record['uuid']!r:.80}")
            self.tape.problem(line, ProblemKind.REPEATED_RECORD, detail)
        elif record.get("isCompactSummary") is True:
            self._summary(record, line)
        elif record["type"] == "assistant":
            self._close_boundary()
            self._assistant(record, line)
        else:
            self._close_boundary()
            self._user(record, line)

    def _is_repeated(self, record: Record) -> bool:
        """Whether a record with this id and content was there before. An id alone can repeat."""
        uuid, content = record.get("uuid"), record["message"].get("content")
        if not isinstance(uuid, str):
            return False
        is_repeated = uuid in self._contents and self._contents[uuid] == content
        self._contents[uuid] = content
        return is_repeated

    def _user(self, record: Record, line: int) -> None:
        blocks = blocks_of(record["message"].get("content"))
        last: Draft | None = None
        for block in blocks:
            if block.get("type") == "tool_result":
                last = self._result(record, block, line)
        parts = [block for block in blocks if block.get("type") != "tool_result"]
        if parts or last is None:
            parent = last or branch(self.tape, self._parent(record, is_prompt=True))
            last = self._draft(record, line, {"role": "user", "content": content_of(parts)})
            last.parent = parent
            self._tell_program_text(record, last)
            self.tape.append(last)
        self._remember(record, last)

    def _tell_program_text(self, record: Record, draft: Draft) -> None:
        """What the program put in is no instruction; a note of it ends the turn before."""
        text = content_text(draft.value["content"])
        if record.get("isMeta") is True or text.startswith(_PROGRAM_TEXTS):
            draft.mark = Mark.OBSERVATION
            if draft.parent and draft.parent.value["role"] == "tool":
                draft.owner = draft.parent
        tip = self.tape.tip
        if text.startswith(_INTERRUPTED) and tip and tip.turn:
            tip.turn.status = TurnStatus.ABORTED

    def _result(self, record: Record, block: Mapping[str, Any], line: int) -> Draft:
        call_id = str(block.get("tool_use_id") or record.get("sourceToolUseID") or "")
        caller, tool = self._callers.get(call_id, (None, ""))
        draft = self._draft(record, line, result_message(block, call_id))
        draft.status, draft.tool = result_status(block), tool or None
        if caller is None:
            draft.parent = branch(self.tape, self._parent(record))
            return self.tape.append(draft)
        draft.owner = draft.parent = caller
        draft.turn = caller.turn
        if caller.live:
            return self._join_group(draft, caller)
        self.tape.append(draft)
        self.tape.rewrite(ChangeKind.REWIND, self.tape.live[:-1], at=draft.at)
        return draft

    def _join_group(self, draft: Draft, caller: Draft) -> Draft:
        """Results stand right behind their call, in the order they came."""
        behind = next(
            one for one in reversed(self.tape.live) if one is caller or one.owner is caller
        )
        if behind is self.tape.tip:
            return self.tape.append(draft)
        return self.tape.insert(draft, behind)

    def _assistant(self, record: Record, line: int) -> None:
        message = record["message"]
        is_synthetic = message.get("model") == SYNTHETIC
        if is_synthetic and record.get("isApiErrorMessage") is True:
            self.pass_over(record, "assistant/api_error")
            return
        response = "" if is_synthetic else str(message.get("id") or record.get("requestId") or "")
        draft = self._by_response.get(response)
        if draft is None or not draft.live:
            parent = branch(self.tape, self._parent(record))
            draft = self._draft(record, line, {"role": "assistant", "content": ""})
            draft.parent = parent
            draft.turn = None if is_synthetic else self._turn(response)
            self.replies.append(self.tape.append(draft))
            if response:
                self._by_response[response] = draft
        self._add(draft, record)
        self._remember(record, draft)

    def _add(self, draft: Draft, record: Record) -> None:
        message = record["message"]
        for call in add_blocks(draft.value, blocks_of(message.get("content"))):
            self._callers[call["id"]] = (draft, call["function"]["name"])
        if draft.value.get("tool_calls") and not draft.value["content"]:
            draft.value["content"] = None
        turn = draft.turn
        if turn is None:
            return
        usage = usage_of(message.get("usage"))
        if usage and (turn.usage is None or usage.output >= turn.usage.output):
            turn.usage = usage
        turn.model = str(message.get("model") or turn.model)
        turn.at = turn.at or draft.at
        if record.get("isAbortedMidStream") is True:
            turn.status = TurnStatus.ABORTED

    def _turn(self, response: str) -> TurnDraft:
        if not response:
            return TurnDraft()
        return self._turns.setdefault(response, TurnDraft(response))

    def _open_boundary(self, record: Record, line: int) -> None:
        self._close_boundary()
        summary = self._draft(record, line, {"role": "user", "content": ""})
        self._boundary = _Boundary(record, line, summary)
        self._remember(record, summary)

    def _summary(self, record: Record, line: int) -> None:
        """What a compaction left. Without one, a file that was cut begins with it."""
        boundary, self._boundary = self._boundary, None
        draft = boundary.summary if boundary else self._draft(record, line, {"role": "user"})
        draft.value["content"] = content_of(blocks_of(record["message"].get("content")))
        draft.mark = Mark.SUMMARY
        if boundary or self.tape.live:
            draft.stands_for = list(self.tape.live)
            draft.place = (None, 1)
            self._compact([draft], boundary.record if boundary else record)
        else:
            self.tape.append(draft)
        self._remember(record, draft)

    def _close_boundary(self) -> None:
        """A compaction whose summary is not in the file: what was before it is not sent either."""
        boundary, self._boundary = self._boundary, None
        if boundary:
            detail = Said("a compaction without a summary behind it")
            self.tape.problem(boundary.line, ProblemKind.NO_SUMMARY, detail)
            self._compact([], boundary.record)

    def _compact(self, after: list[Draft], record: Record) -> None:
        self._rewrite(ChangeKind.COMPACTION, after, record, _dict(record.get("compactMetadata")))

    def _microcompact(self, record: Record) -> None:
        """Old results are blanked, each in its place."""
        self._close_boundary()
        told = _dict(record.get("microcompactMetadata"))
        ids = told.get("compactedToolIds")
        cleared = {one for one in ids if isinstance(one, str)} if isinstance(ids, list) else set()
        after = [
            self._cleared(draft) if _is_result(draft, cleared) else draft
            for draft in self.tape.live
        ]
        self._rewrite(ChangeKind.MICROCOMPACTION, after, record, told)
        self._remember(record, self._parent(record))

    def _cleared(self, draft: Draft) -> Draft:
        value = {**draft.value, "content": CLEARED}
        draft.stands_in = Draft(
            value,
            line=draft.line,
            tool=draft.tool,
            status=draft.status,
            owner=draft.owner,
            parent=draft.parent,
            replaces=draft,
            place=(draft, 0),
        )
        return draft.stands_in

    def _rewrite(
        self, kind: ChangeKind, after: list[Draft], record: Record, told: Mapping[str, Any]
    ) -> None:
        self.tape.rewrite(
            kind,
            after,
            at=iso_time(record.get("timestamp")),
            asked_by=str(told.get("trigger") or ""),
            tokens_before=count(told.get("preTokens")) or None,
        )

    def _draft(self, record: Record, line: int, value: dict[str, Any]) -> Draft:
        return Draft(value, line=line, at=iso_time(record.get("timestamp")))

    def _remember(self, record: Record, draft: Draft | None) -> None:
        uuid = record.get("uuid")
        if isinstance(uuid, str):
            self._by_uuid[uuid] = draft

    def _parent(self, record: Record, *, is_prompt: bool = False) -> Draft | None:
        """What the record follows; None: nothing. Only a prompt can begin anew; a link that leads
        out of the file, or that is missing, goes to the newest message."""
        parent = record.get("parentUuid")
        if parent is None:
            begins = is_prompt and "parentUuid" in record and record.get("isMeta") is not True
            return None if begins else self.tape.tip
        return self._by_uuid.get(str(parent), self.tape.tip)


@dataclass(frozen=True, slots=True)
class _Boundary:
    """A compaction whose summary is awaited."""

    record: Record
    line: int
    summary: Draft


def _is_result(draft: Draft, call_ids: set[str]) -> bool:
    return draft.value.get("tool_call_id") in call_ids and draft.replaces is None


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
