"""The models that a session's requests may go to, by tier."""

from __future__ import annotations

from agentcore.llm.base import ChatModel
from agentcore.llm.masked import MaskedModel
from agentcore.llm.router import Tier, Tiers
from hermesweb import endpoints
from hermesweb.models import AgentSession, ModelEndpoint
from hermesweb.prices import prices_in


def tier_of(row: ModelEndpoint) -> Tier:
    family = f"{row.kind} {row.base_url}"
    return Tier(row.name, row.tier, family, row.model, row.window, prices_in(row))


def tiers_of(session: AgentSession) -> Tiers | None:
    """None for a session whose model is no endpoint. Another model than its own gets no secrets."""
    rows = {row.name: row for row in endpoints.at_hand()}
    own = rows.pop(session.model, None)
    if own is None:
        return None

    def model_of(tier: Tier) -> ChatModel:
        return MaskedModel(endpoints.model_of(rows[tier.name]))

    return Tiers(tier_of(own), [tier_of(row) for row in rows.values()], model_of)
