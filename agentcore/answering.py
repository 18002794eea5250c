"""Who answers next: the session's own model, or a cheaper one where the run's ceiling asks it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from agentcore.llm.base import ChatModel
from agentcore.llm.router import Purpose, Tier, Tiers, route
from agentcore.usage import Prices, Usage

# Tokens of an answer, as long as none was heard.
ANSWER_TOKENS = 1_000


@dataclass(frozen=True, slots=True)
class Answerer:
    """`reason` says why it is not the session's own model; empty where it is."""

    model: ChatModel
    prices: Prices
    reason: str = ""


class Answering:
    """`now` is who was chosen last. A choice looks at the next request alone, so that another
    worker would choose alike, but for what this one knows of the provider's cache."""

    def __init__(self, model: ChatModel, prices: Prices, tiers: Tiers | None) -> None:
        self._own = self.now = Answerer(model, prices)
        self._tiers = tiers
        self._heard: tuple[str, Usage] | None = None

    def choose(self, tokens: int, left: Decimal | None) -> None:
        """For a prompt of so many tokens; `left` in USD, None without a ceiling."""
        self.now = self._own
        if self._tiers is None or left is None:
            return
        chosen = route(
            self._tiers.own,
            self._tiers.others,
            Purpose.ANSWER,
            expected=lambda tier: self._expected(tier, tokens),
            left=left,
        )
        if chosen.tier != self._tiers.own:
            model = self._tiers.model_of(chosen.tier)
            self.now = Answerer(model, chosen.tier.prices, chosen.reason)

    def heard(self, usage: Usage | None) -> None:
        """What the reply of the one chosen took."""
        self._heard = (self.now.model.name, usage) if usage else None

    def _expected(self, tier: Tier, tokens: int) -> Usage:
        """As long an answer as the last one; the last prompt comes from the cache where that model
        is asked again and its provider tells of one."""
        if self._heard is None:
            return Usage(input=tokens, output=ANSWER_TOKENS)
        name, last = self._heard
        has_cache = last.cache_read or last.cache_write
        cached = min(tokens, last.prompt) if name == tier.model and has_cache else 0
        return Usage(input=tokens - cached, output=last.output, cache_read=cached)
