"""All messages of a list as an address asks for it, for the downloads; no bodies."""

from __future__ import annotations

from typing import Any

from hermesweb.lines import Line, lines
from hermesweb.listing import Choice, Order, light, source
from hermesweb.models import AgentSession
from hermesweb.shown import shown

MOST_ROWS = 10_000


def listed(session: AgentSession, choice: Choice) -> list[dict[str, Any]]:
    """At most `MOST_ROWS`, in the order chosen, from its beginning; three queries."""
    by_size = choice.order is Order.LARGEST
    order = ("-bytes", "-number") if by_size else ("place", "number")
    rows = light(source(session, choice)).order_by(*order)[:MOST_ROWS]
    return [_facts(line) for line in lines(session, list(rows), by_size=by_size, seen=None)]


def _facts(line: Line) -> dict[str, Any]:
    message = line.message
    facts: dict[str, Any] = {
        "number": message.number,
        "role": message.role,
        "tool": message.tool or None,
        "category": line.category,
        "bytes": message.bytes,
        "tokens": message.counted,
        "tokens_are": message.tokens_are,
        "share": None if line.share is None else round(line.share, 4),
        "born": line.born,
        "age": line.age,
        "carried": line.carried,
        "fate": line.fate or None,
        "pinned": message.pinned,
        "same_call_as": line.again,
        "preview": message.preview,
    }
    masked: dict[str, Any] = shown(facts)
    return masked
