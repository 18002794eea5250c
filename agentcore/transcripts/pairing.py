"""Calls and results of a recording, as found: which of them have no partner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentcore.messages import Role
from agentcore.said import Said
from agentcore.transcripts.base import Problem, ProblemKind
from agentcore.transcripts.tape import Draft, Step


def pairing_problems(steps: Sequence[Step]) -> Iterator[Problem]:
    """Results without a call, second results and calls without a result, over the whole archive.

    An id given again by a later call asks for a result of its own.
    """
    open_calls: dict[str, Draft] = {}
    answered: set[str] = set()
    for draft in steps:
        message = draft.message if isinstance(draft, Draft) else None
        if message is None or not isinstance(draft, Draft) or message.replaces:
            continue
        for call in message.calls:
            if call.id in open_calls:
                yield _unanswered(call.id, open_calls[call.id])
            open_calls[call.id] = draft
        if message.role is Role.TOOL:
            call_id = message.tool_call_id or ""
            if open_calls.pop(call_id, None):
                answered.add(call_id)
            else:
                yield _surplus(call_id, draft, again=call_id in answered)
    for call_id, draft in open_calls.items():
        yield _unanswered(call_id, draft)


def _unanswered(call_id: str, draft: Draft) -> Problem:
    number = draft.message.number if draft.message else 0
    detail = Said(
        "message {number}: the call {call} has no result", number=number, call=f"{call_id!r:.80}"
    )
    return Problem(draft.line, ProblemKind.UNANSWERED_CALL, detail, number)


def _surplus(call_id: str, draft: Draft, *, again: bool) -> Problem:
    number = draft.message.number if draft.message else 0
    call = f"{call_id!r:.80}"
    if again:
        detail = Said(
            "message {number}: a second result for the call {call}", number=number, call=call
        )
        return Problem(draft.line, ProblemKind.DUPLICATE_RESULT, detail, number)
    detail = Said(
        "message {number}: a result for the call {call}, which is not there",
        number=number,
        call=call,
    )
    return Problem(draft.line, ProblemKind.ORPHAN_RESULT, detail, number)
