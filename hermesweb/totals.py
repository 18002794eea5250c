"""Running totals on a session's row: what lists and gauges show without touching messages."""

from __future__ import annotations

from typing import Any

from agentcore.breakdown import Breakdown, Category, Sizes
from agentcore.pressure import Pressure, TokenSource, Unit, category_tokens
from agentcore.profile import Profile
from hermesweb.models import AgentSession, SessionKind
from hermesweb.models.sessions import Gauge


def weigh(session: AgentSession, sizes: Sizes, sign: int = 1) -> None:
    """Add to, or take from, the running totals; used and tokens move by as much, and are no longer
    what somebody counted."""
    tokens = round(sizes.tokens * session.ratio)
    session.tokens_are, session.counter = TokenSource.ESTIMATE, ""
    session.bytes += sign * sizes.bytes
    session.chars += sign * sizes.chars
    session.estimate += sign * sizes.tokens
    session.tokens = max(0, session.tokens + sign * tokens)
    parts = session.categories
    session.breakdown = plain(parts + sizes.breakdown if sign > 0 else parts - sizes.breakdown)
    used = {Unit.BYTES: sizes.bytes, Unit.CHARS: sizes.chars, Unit.TOKENS: tokens}
    session.used = max(0, session.used + sign * used[Unit(session.unit)])


def read(gauge: Gauge, pressure: Pressure) -> None:
    """The one measurement that gauge, list and trigger share."""
    gauge.used, gauge.limit, gauge.unit = pressure.used, pressure.limit, pressure.unit
    gauge.tokens, gauge.reserve = pressure.tokens, pressure.reserve
    gauge.window_tokens = pressure.window.tokens
    gauge.window_from, gauge.window_model = pressure.window.source, pressure.window.model
    gauge.tokens_are, gauge.counter = TokenSource.ESTIMATE, ""


def counts_schemas(session: AgentSession, profile: Profile) -> bool:
    """Those of a recording are in what its provider counted, whatever the profile says."""
    return profile.counts_schemas or session.kind != SessionKind.RUN


def tokens_by_category(gauge: Gauge) -> dict[str, int]:
    """With those that are unseen they sum to the tokens of the whole request."""
    parts = gauge.categories
    schemas = parts[Category.TOOL_SCHEMAS]
    held = gauge.tokens - gauge.unseen
    estimate = round(held / gauge.ratio) if gauge.ratio else held
    sizes = Sizes(gauge.bytes + schemas, gauge.chars + schemas, estimate, parts)
    return {str(category): part for category, part in category_tokens(held, sizes).items()}


def gauge(session: AgentSession) -> dict[str, Any]:
    return {field.name: getattr(session, field.name) for field in Gauge._meta.fields}


def plain(breakdown: Breakdown) -> dict[str, int]:
    return {str(category): size for category, size in breakdown.items()}
