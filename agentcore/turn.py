"""The parts of one turn: its request, what the run has spent, and the messages it bears."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from typing import Any

from agentcore.breakdown import Sizes
from agentcore.context import Context
from agentcore.errors import ModelError
from agentcore.events import BreakReason, LimitReached, TurnEnded
from agentcore.llm.base import Reply
from agentcore.messages import Message, Role, ToolCall, ToolStatus, born
from agentcore.pressure import Pressure
from agentcore.profile import Profile
from agentcore.said import Said
from agentcore.snapshot import State
from agentcore.tools.base import Outcome
from agentcore.usage import Prices, Usage


@dataclass(frozen=True, slots=True)
class Request:
    """One request and, once it was answered, what it took: fields of `TurnEnded`, which says more
    of them. `requested` is the state of the list that was sent."""

    requested: State
    requested_model: str
    prices: Prices
    routed: str = ""
    schemas: str = ""
    estimate: int = 0
    stable_prefix: int = 0
    break_reason: BreakReason | None = None
    break_number: int | None = None
    usage: Usage | None = None
    request_bytes: int = 0
    seconds: float = 0.0
    model: str = ""
    cost: Decimal | None = None
    waited: bool = False

    def answered(self, reply: Reply) -> Request:
        return replace(
            self,
            usage=reply.usage,
            request_bytes=reply.request_bytes,
            seconds=reply.seconds,
            model=reply.model or self.model,
            cost=self.prices.cost(reply.usage),
        )

    def ended(
        self,
        turn: int,
        run: int,
        context: Context,
        *,
        schemas: Sizes,
        pressure: Pressure,
        ratio: float,
    ) -> TurnEnded:
        """The turn that it led to, as the list is now."""
        return TurnEnded(
            turn=turn,
            run=run,
            ended=context.state,
            sizes=context.sizes,
            breakdown=context.sizes.breakdown + schemas.breakdown,
            pressure=pressure,
            ratio=ratio,
            **{one.name: getattr(self, one.name) for one in fields(self)},
        )


@dataclass(slots=True)
class Spent:
    """What this run has used of its ceilings. `cost` is USD of its requests, `summaries` of those
    that its compactions made, as far as they have a price."""

    turns: int = 0
    tool_calls: int = 0
    cost: Decimal = Decimal(0)
    summaries: Decimal = Decimal(0)
    started: float = field(default_factory=time.monotonic)

    def turn(self, calls: int, profile: Profile) -> int:
        """Take in one turn; how many of its calls are more than the run may make."""
        self.turns += 1
        self.tool_calls += calls
        most = profile.ceilings.tool_calls
        return min(calls, max(0, self.tool_calls - most)) if most else 0

    def bill(self, cost: Decimal | None) -> Decimal | None:
        """The cost itself, taken in where it is known."""
        self.cost += cost or 0
        return cost

    def left(self, profile: Profile) -> Decimal | None:
        """USD of the run's ceiling; None where it has none."""
        most = profile.ceilings.cost
        return None if most is None else Decimal(most) - self.cost - self.summaries

    def ceiling(self, profile: Profile, summaries: Decimal) -> LimitReached | None:
        """The first that is reached; `summaries`: what those of the run cost so far."""
        self.summaries = summaries
        minutes = int((time.monotonic() - self.started) / 60)
        ceilings = profile.ceilings
        for name, value, most in (
            ("turns", self.turns, ceilings.turns),
            ("tool_calls", self.tool_calls, ceilings.tool_calls),
            ("minutes", minutes, ceilings.minutes),
        ):
            if most and value >= most:
                return LimitReached(name, most)
        left = self.left(profile)
        if ceilings.cost is not None and left is not None and left <= 0:
            return LimitReached("cost", ceilings.cost)
        return None


def accepted(reply: Reply, last_number: int) -> Message:
    """The reply as a message whose calls all have ids of their own.

    Raises a retryable ModelError for a reply without text and calls: no request may hold it.
    """
    message = born(reply.message)
    if not message.calls and not message.text.strip():
        said = Said("the model returned an empty reply")
        raise ModelError(said, retryable=True, usage=reply.usage)
    ids = [call.id for call in message.calls]
    if len(set(ids)) == len(ids) and all(ids):
        return message
    value = message.value()
    for place, call in enumerate(value["tool_calls"]):
        call["id"] = f"call_{last_number + 1}_{place}"
    return born(value)


def result(outcome: Outcome) -> Message:
    call, content = outcome.call, _content(outcome)
    value = {"role": Role.TOOL.value, "tool_call_id": call.id, "content": content}
    original = outcome.cut.original if outcome.cut else None
    return born(value, tool=call.name, status=outcome.status, original=original)


def _content(outcome: Outcome) -> str | list[dict[str, Any]]:
    if not outcome.pictures:
        return outcome.text
    shown = (
        {"type": "image_url", "image_url": {"url": picture.url}} for picture in outcome.pictures
    )
    return [{"type": "text", "text": outcome.text}, *shown]


def unfinished(call: ToolCall, text: str, seconds: float) -> Outcome:
    said = text.format(tool=call.name)
    return Outcome(call, said, ToolStatus.UNKNOWN, said, seconds)
