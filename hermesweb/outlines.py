"""The list without its texts: what tells how rows hang together, why one stays, what each weighs.

For pages that look at a whole list: they cost its columns of small facts, and no body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentcore.breakdown import Breakdown, Category, Mark, Sizes, total
from agentcore.messages import Message, Role, ToolCall
from agentcore.snapshot import Snapshot, State
from hermesweb.models import AgentSession

COLUMNS = ("role", "bytes", "chars", "tokens", "categories", "mark", "tool", "replaces")
# Bytes of a member `tool_calls` that holds none: empty, or null.
NO_CALLS = 20


def outline_of(session: AgentSession) -> Snapshot:
    """The list now. Its messages have no wire text; a call has its result's number as id, and is
    open where the list ends with it."""
    names = ("number", "place", *(f"message__{name}" for name in COLUMNS))
    lives = session.lives.filter(to_revision=None).order_by("place", "number")
    rows = [
        {name.removeprefix("message__"): value for name, value in row.items()}
        for row in lives.values(*names)
    ]
    messages = [_message(row, _calls(rows, at)) for at, row in enumerate(rows)]
    return Snapshot(
        tuple(messages),
        tuple(row["place"] for row in rows),
        total(message.sizes for message in messages),
        State(session.revision, session.last_number),
    )


def _message(row: Mapping[str, Any], calls: tuple[ToolCall, ...]) -> Message:
    sizes = Sizes(row["bytes"], row["chars"], row["tokens"], Breakdown(row["categories"]))
    return Message(
        "",
        Role(row["role"]),
        sizes,
        row["number"],
        calls,
        tool_call_id=str(row["number"]) if row["role"] == Role.TOOL else None,
        mark=Mark(row["mark"]) if row["mark"] else None,
        tool=row["tool"] or None,
        replaces=row["replaces"],
    )


def _calls(rows: Sequence[Mapping[str, Any]], at: int) -> tuple[ToolCall, ...]:
    if rows[at]["role"] != Role.ASSISTANT:
        return ()
    results = []
    for row in rows[at + 1 :]:
        if row["role"] != Role.TOOL:
            break
        results.append(row["number"])
    if at == len(rows) - 1 and rows[at]["categories"].get(Category.TOOL_CALLS, 0) > NO_CALLS:
        results = [0]
    return tuple(ToolCall(str(number), "", "") for number in results)
