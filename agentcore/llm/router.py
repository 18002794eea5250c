"""Which model is asked. Context size, budget and purpose choose; nobody guesses how hard a question
is (spec-web 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from agentcore.llm.base import ChatModel
from agentcore.said import Said
from agentcore.usage import Prices, Usage


class Purpose(StrEnum):
    ANSWER = "answer"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class Tier:
    """A model that can be asked. `tier` 1 is the strongest, a higher one is cheaper; `family` names
    the provider, `model` is its own name for it; `window` in tokens, None where it is not known."""

    name: str
    tier: int
    family: str
    model: str = ""
    window: int | None = None
    prices: Prices = Prices()


@dataclass(frozen=True, slots=True)
class Tiers:
    """What a session's requests may go to: its own model first. `model_of` raises ModelError."""

    own: Tier
    others: Sequence[Tier]
    model_of: Callable[[Tier], ChatModel]


@dataclass(frozen=True, slots=True)
class Route:
    """`reason` says why it is not the preferred model; empty where it is."""

    tier: Tier
    reason: str = ""


def route(
    preferred: Tier,
    others: Sequence[Tier],
    purpose: Purpose,
    *,
    expected: Callable[[Tier], Usage],
    left: Decimal | None = None,
) -> Route:
    """The preferred model, for a summary the next cheaper one of its family; from there one tier
    down at a time while the request, as it is `expected` of that tier, would pass what is `left`
    (USD; None: no budget). Windows must hold the request. Where a price is not known, nothing is
    judged by it."""
    steps = [preferred, *_cheaper(preferred, others, expected)]
    if purpose is Purpose.SUMMARY and len(steps) > 1:
        chosen = Route(steps.pop(1), Said("summaries go to the next cheaper tier"))
        steps = [tier for tier in steps if tier.tier > chosen.tier.tier]
    else:
        chosen = Route(steps.pop(0))
    for tier in steps:
        cost = chosen.tier.prices.cost(expected(chosen.tier))
        if left is None or cost is None or cost <= left:
            break
        said = Said(
            "a request to {name} costs about {cost} USD, the budget has {left} left",
            name=chosen.tier.name,
            cost=f"{cost:.4f}",
            left=f"{max(left, Decimal(0)):.4f}",
        )
        chosen = Route(tier, said)
    return chosen


def _cheaper(
    preferred: Tier, others: Sequence[Tier], expected: Callable[[Tier], Usage]
) -> list[Tier]:
    """One a tier, the next one first."""
    found: dict[int, Tier] = {}
    for other in sorted(others, key=lambda one: (one.tier, one.name)):
        request = expected(other)
        fits = other.window is None or request.prompt + request.output <= other.window
        if other.family == preferred.family and other.tier > preferred.tier and fits:
            found.setdefault(other.tier, other)
    return list(found.values())
