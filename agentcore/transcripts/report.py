"""What `inspect` tells of a recording: the JSON of the command line, key by key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentcore.breakdown import Breakdown, measure_schemas
from agentcore.compaction.result import Trigger
from agentcore.messages import Message, Role
from agentcore.pressure import TokenSource, window_of
from agentcore.snapshot import Snapshot
from agentcore.transcripts.base import RecordedTurn, Recording

LARGEST_SHOWN = 10


def report(recording: Recording, exact_tokens: int | None = None) -> dict[str, Any]:
    """Sizes are bytes. `exact_tokens`: the context as a tokenizer counted it."""
    context = recording.snapshot()
    window = window_of(recording.model)
    size = _size(recording, context, exact_tokens)
    return {
        "format": recording.format,
        "messages": len(context.messages),
        "size": size,
        "breakdown": _breakdown(recording, context.sizes.breakdown),
        "largest": _largest(context.messages),
        "archive": {
            "messages": len(recording.messages),
            "bytes": sum(message.sizes.bytes for message in recording.messages),
        },
        "turns": len(recording.turns),
        "peak": _peak(recording.turns) or {"turn": None, **_pick(size, "bytes", "tokens")},
        "window": {"tokens": window.tokens, "from": window.source},
        "compactions": [
            {
                "turn": compaction.turn,
                "trigger": Trigger.RECORDED,
                "before": compaction.before,
                "after": compaction.after,
            }
            for compaction in recording.compactions
        ],
        "ledger": _ledger(recording),
        "problems": [
            {"line": problem.line, "kind": problem.kind, "detail": problem.detail}
            for problem in recording.problems
        ],
    }


def provider_tokens(recording: Recording) -> int | None:
    """The prompt that the provider last counted, unless the list was changed since."""
    turn = recording.turns[-1] if recording.turns else None
    if turn is None or turn.usage is None or not turn.usage.prompt:
        return None
    return turn.usage.prompt if turn.requested.revision == len(recording.revisions) else None


def _size(recording: Recording, context: Snapshot, exact_tokens: int | None) -> dict[str, Any]:
    provided = provider_tokens(recording)
    if exact_tokens is not None:
        tokens, source = exact_tokens, TokenSource.EXACT
    elif provided is not None:
        tokens, source = provided, TokenSource.PROVIDER
    else:
        tokens, source = context.sizes.tokens, TokenSource.ESTIMATE
    return {
        "bytes": context.sizes.bytes,
        "chars": context.sizes.chars,
        "tokens": tokens,
        "tokens_are": source,
    }


def _breakdown(recording: Recording, messages: Breakdown) -> dict[str, int]:
    """The schemas are not part of the size; they stand beside it."""
    whole = messages + measure_schemas(recording.tools).breakdown
    return {str(category): size for category, size in whole.items()}


def _largest(messages: Sequence[Message]) -> list[dict[str, int]]:
    rows = [
        {"number": message.number, "index": index, "bytes": message.sizes.bytes}
        for index, message in enumerate(messages)
    ]
    return sorted(rows, key=lambda row: -row["bytes"])[:LARGEST_SHOWN]


def _peak(turns: Sequence[RecordedTurn]) -> dict[str, Any] | None:
    if not turns:
        return None
    turn = max(turns, key=lambda turn: turn.sizes.bytes)
    counted = turn.usage.prompt if turn.usage else 0
    return {
        "turn": turn.number,
        "bytes": turn.sizes.bytes,
        "tokens": counted or turn.sizes.tokens,
    }


def _ledger(recording: Recording) -> list[dict[str, Any]]:
    """`messages`: those born so far, without system messages and what a compaction bore."""
    after = {compaction.turn: compaction.after for compaction in recording.compactions}
    rows, born, count = [], 0, 0
    for turn in recording.turns:
        said = recording.messages[born : turn.last]
        count += sum(_is_said(message) for message in said)
        born = max(born, turn.last)
        rows.append(
            {
                "turn": turn.number,
                "messages": count,
                "bytes": turn.sizes.bytes,
                "action": Trigger.RECORDED if turn.number in after else None,
                "after": after.get(turn.number),
            }
        )
    return rows


def _is_said(message: Message) -> bool:
    is_born_of_change = message.is_summary or message.replaces is not None
    return message.role not in (Role.SYSTEM, Role.DEVELOPER) and not is_born_of_change


def _pick(values: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: values[key] for key in keys}
