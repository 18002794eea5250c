"""Make a list from outside legal, by a plan, so that each repair is told and can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agentcore.compaction.plan import Birth, CompactionPlan, Fate, Origin, Removal, runs_of
from agentcore.messages import Message, Role, ToolCall, ToolStatus, born
from agentcore.snapshot import Snapshot

STAGE = "repair"
NOT_RUN = "[{tool} was not run]"
INTERRUPTED = "[{tool} was interrupted; it may have run in part]"
NO_OUTPUT = "(no output)"
# The wire form of a result without content is not longer: its ids and names are short.
EMPTY_BYTES = 1_000
_TOOL = Role.TOOL  # looked up once: this reads whole lists


@dataclass(slots=True)
class _Draft:
    removed: list[int] = field(default_factory=list)
    births: list[Birth] = field(default_factory=list)
    reasons: list[tuple[int, str]] = field(default_factory=list)

    def remove(self, row: int, number: int, reason: str) -> None:
        self.removed.append(row)
        self.reasons.append((number, reason))

    def replace(self, row: int, message: Message, value: dict[str, Any], reason: str) -> None:
        self.remove(row, message.number, reason)
        known: dict[str, Any] = {
            "tool": message.tool,
            "status": message.status,
            "replaces": message.number,
        }
        self.births.append(Birth(row, born(value, **known), None, STAGE))


def repair(
    snapshot: Snapshot, unanswered: str = NOT_RUN
) -> tuple[CompactionPlan, tuple[tuple[int, str], ...]]:
    """The plan that makes the list legal, and (message number, reason) of each repair.

    An empty plan for a legal list. `unanswered`: the text of a result for a call without one,
    NOT_RUN or, after a stop or crash, INTERRUPTED (spec-compaction 1, Repair).
    """
    draft = _Draft()
    messages = snapshot.messages
    row, count = 0, len(messages)
    while row < count:
        message = messages[row]
        if message.calls:
            row = _stop_of_legal(messages, row) or _repair_group(messages, row, unanswered, draft)
            continue
        if message.role is Role.TOOL:
            draft.remove(row, message.number, "result without its call")
        elif _is_empty_reply(message):
            draft.remove(row, message.number, "empty assistant message")
        row += 1
    removals = tuple(
        Removal(run.start, run.stop, Fate.REPAIRED, STAGE) for run in runs_of(draft.removed)
    )
    return CompactionPlan(snapshot.state, removals, tuple(draft.births)), tuple(draft.reasons)


def _stop_of_legal(messages: Sequence[Message], row: int) -> int:
    """The row after a group whose results stand in the order of their calls, none of them empty;
    0 for any other. Nearly every group is such a one."""
    calls, count = messages[row].calls, len(messages)
    if len(calls) > 1 and len({call.id for call in calls}) < len(calls):
        return 0
    for call in calls:
        row += 1
        if row == count or not call.id or messages[row].tool_call_id != call.id:
            return 0
        if messages[row].sizes.bytes <= EMPTY_BYTES and _is_empty_result(messages[row]):
            return 0
    row += 1
    return 0 if row < count and messages[row].role is _TOOL else row


def _repair_group(messages: Sequence[Message], row: int, unanswered: str, draft: _Draft) -> int:
    """Repair one call with its results; returns the row after them."""
    caller = messages[row]
    waiting = dict(zip(_own_ids(caller), caller.calls, strict=True))
    if any(own != call.id for own, call in waiting.items()):
        draft.replace(row, caller, _with_ids(caller, list(waiting)), "empty or repeated call id")
    row += 1
    while row < len(messages) and messages[row].role is Role.TOOL:
        _repair_result(messages[row], row, waiting, draft)
        row += 1
    for call_id, call in waiting.items():
        draft.births.append(_answer(row, call_id, call, unanswered))
        draft.reasons.append((caller.number, f"call {call_id} without result"))
    return row


def _own_ids(caller: Message) -> list[str]:
    """The calls' ids; a new one for each that is empty or was there before."""
    ids: list[str] = []
    for place, call in enumerate(caller.calls):
        taken = not call.id or call.id in ids
        ids.append(f"call_{caller.number}_{place}" if taken else call.id)
    return ids


def _repair_result(message: Message, row: int, waiting: dict[str, ToolCall], draft: _Draft) -> None:
    """The first open call that had this result's id is the one it answers."""
    own = next((own for own, call in waiting.items() if call.id == message.tool_call_id), None)
    if own is None:
        draft.remove(row, message.number, "second result, or answers no call")
        return
    del waiting[own]
    value = {**message.value(), "tool_call_id": own} if own != message.tool_call_id else None
    if _is_empty_result(message):
        value = {**(value or message.value()), "content": NO_OUTPUT}
        draft.replace(row, message, value, "empty result")
    elif value is not None:
        draft.replace(row, message, value, "empty or repeated call id")


def _answer(row: int, call_id: str, call: ToolCall, unanswered: str) -> Birth:
    text = unanswered.format(tool=call.name or "the tool")
    value = {"role": Role.TOOL.value, "tool_call_id": call_id, "content": text}
    message = born(value, tool=call.name, status=ToolStatus.UNKNOWN)
    return Birth(row, message, Origin.INJECTED, STAGE)


def _with_ids(message: Message, ids: Sequence[str]) -> dict[str, Any]:
    value = message.value()
    value["tool_calls"] = [
        {**call, "id": call_id} for call, call_id in zip(value["tool_calls"], ids, strict=True)
    ]
    return value


def _is_empty_result(message: Message) -> bool:
    if message.sizes.bytes > EMPTY_BYTES:
        return False
    return message.value().get("content") in (None, "", [])


def _is_empty_reply(message: Message) -> bool:
    if message.role is not Role.ASSISTANT or message.calls:
        return False
    content = message.value().get("content")
    return not message.text.strip() and not (isinstance(content, list) and content)
