"""What requests took, in rows: tokens, USD where there is a price, and whose price it was."""

from __future__ import annotations

from dataclasses import asdict
from decimal import Decimal
from typing import Any

from agentcore.events import TurnEnded
from agentcore.usage import Prices, Usage
from hermesweb.models import AgentSession
from hermesweb.models.columns import NAME_CHARS
from hermesweb.shown import shown


def bill(session: AgentSession, usage: Usage | None, cost: Decimal | None) -> None:
    """Add a request to the running totals; one whose cost is not known is counted as such."""
    if usage:
        session.spent = asdict(spent(session) + usage)
    if cost is None:
        session.unpriced += 1
    else:
        session.cost += cost


def spent(session: AgentSession) -> Usage:
    return Usage(**session.spent)


def cost(session: AgentSession) -> Decimal | None:
    """USD of all requests so far; None where one of them is not known, or none was made."""
    return None if session.unpriced or not session.spent else session.cost


def turn_columns(event: TurnEnded) -> dict[str, Any]:
    return {
        "number": event.turn,
        "run": event.run,
        "requested_revision": event.requested.revision,
        "requested_number": event.requested.last_number,
        "ended_revision": event.ended.revision,
        "ended_number": event.ended.last_number,
        "usage": asdict(event.usage) if event.usage else None,
        "requested_model": shown(event.requested_model)[:NAME_CHARS],
        "request_estimate": event.estimate,
        "request_bytes": event.request_bytes,
        "schemas": event.schemas,
        "stable_prefix": event.stable_prefix,
        "break_reason": event.break_reason or "",
        "break_number": event.break_number,
        "prices": _prices(event.prices),
        "cost": event.cost,
        "seconds": event.seconds,
        "model": shown(event.model)[:NAME_CHARS],
    }


def _prices(prices: Prices) -> dict[str, Any]:
    """USD a million tokens as text; empty where nobody gave any."""
    if not prices.source:
        return {}
    told = {name: None if value is None else str(value) for name, value in asdict(prices).items()}
    return {**told, "source": prices.source}
