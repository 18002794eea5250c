"""The model that a session's summaries are asked of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from agentcore.compaction.breaker import Breaker
from agentcore.compaction.summarizer import SummaryRequest
from agentcore.errors import ModelError
from agentcore.events import EventKind
from agentcore.llm.base import ChatModel
from agentcore.llm.masked import MaskedModel
from agentcore.llm.router import Purpose, route
from agentcore.profile import Profile
from agentcore.said import Said
from agentcore.usage import Usage
from hermesweb import endpoints, spending, steering, tiers
from hermesweb.endpoints import ModelUnavailable
from hermesweb.models import AgentSession
from hermesweb.prices import prices_of
from hermesweb.recorder import record_flag

CHOSEN = Said("chosen by a person")


@dataclass(frozen=True, slots=True)
class Summarizer:
    """`name` is that of its endpoint; `model` None: the session's own; `reason` says why another
    one is asked."""

    name: str
    model: ChatModel | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Ask:
    """Whom a summary would be asked of, the estimated tokens of that and at most of its answer, and
    what they cost in USD: None where a price is not known."""

    name: str
    reason: str
    input: int
    output: int
    cost: Decimal | None


def ask(session: AgentSession, profile: Profile, request: SummaryRequest, name: str = "") -> Ask:
    """`name`: as in `wanted`. Raises ModelUnavailable."""
    chosen = wanted(session, profile, name)
    tokens = sum(message.sizes.tokens for message in request.messages())
    usage = Usage(input=tokens, output=request.most_tokens)
    cost = prices_of(chosen.name).cost(usage)
    return Ask(chosen.name, chosen.reason, usage.input, usage.output, cost)


def wanted(session: AgentSession, profile: Profile, name: str = "") -> Summarizer:
    """The one of that name, else as the session chooses. Secrets are masked for all but its own
    model. Raises ModelUnavailable."""
    if not name:
        return choose(session, profile)
    endpoints.check_writer(name)
    if name == session.model:
        return Summarizer(name, reason=CHOSEN)
    return Summarizer(name, MaskedModel(endpoints.named(name)), CHOSEN)


def named(session: AgentSession, name: str) -> ChatModel:
    """For an agent at work, whose own model has that name too. Raises ModelError."""
    try:
        endpoints.check_writer(name)
        model = endpoints.named(name)
    except ModelUnavailable as error:
        raise ModelError(str(error)) from error
    return model if name == session.model else MaskedModel(model)


def choose(session: AgentSession, profile: Profile) -> Summarizer:
    """A cheaper one of the same provider, where there is one whose key is at hand."""
    there = tiers.tiers_of(session)
    if there is None:
        return Summarizer(session.model)
    options = profile.summary
    request = Usage(input=options.input_tokens, output=options.tokens)
    chosen = route(
        there.own,
        there.others,
        Purpose.SUMMARY,
        expected=lambda _: request,
        left=spending.of_run(session).left(profile),
    )
    if chosen.tier == there.own:
        return Summarizer(session.model)
    return Summarizer(chosen.tier.name, there.model_of(chosen.tier), chosen.reason)


def tell(session: AgentSession, chosen: Summarizer) -> int:
    """Another model begins with a closed breaker; the event's seq."""

    def change(row: AgentSession) -> Mapping[str, Any]:
        row.summary_model = chosen.name
        steering.keep_breaker(row, Breaker())
        return {"summary_model": chosen.name, "reason": chosen.reason}

    return record_flag(session.pk, EventKind.PROFILE_CHANGED, change)
