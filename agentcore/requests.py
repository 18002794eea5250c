"""What requests come to, as events: a turn, a retry, a ceiling of the run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, ClassVar

from agentcore.breakdown import Breakdown, Sizes
from agentcore.compaction.events import plain, used
from agentcore.kinds import PREVIEW_CHARS, BreakReason, EventKind, shown
from agentcore.messages import ToolCall
from agentcore.pressure import Pressure, TokenSource
from agentcore.said import as_json
from agentcore.snapshot import State
from agentcore.usage import Prices, Usage

# Of arguments that are asked about; the message holds the whole.
ARGUMENTS_CHARS = 240


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """`sizes` and `pressure` are of the list at the end of the turn, schemas included in the
    breakdown; `usage` is what the provider said of this turn's request, `estimate` what the
    counter said of it; `stable_prefix` bytes of that request equal the one before, until message
    `break_number`; `cost` is in USD by `prices`, None where it is not known; `requested_model` is
    whom it was sent to, `model` who answered; `routed` says why that is not the session's own;
    `schemas` tells tool schemas apart; `waited`: a `CallWanted` told the turn before, and what its
    request took is billed."""

    kind: ClassVar[EventKind] = EventKind.TURN_ENDED
    turn: int
    run: int
    requested: State
    ended: State
    sizes: Sizes
    breakdown: Breakdown
    pressure: Pressure
    usage: Usage | None
    estimate: int
    ratio: float
    request_bytes: int
    stable_prefix: int
    break_reason: BreakReason | None
    seconds: float
    model: str = ""
    requested_model: str = ""
    routed: str = ""
    schemas: str = ""
    break_number: int | None = None
    prices: Prices = Prices()
    cost: Decimal | None = None
    waited: bool = False

    @property
    def facts(self) -> dict[str, Any]:
        pressure = self.pressure
        return {
            "turn": self.turn,
            "run": self.run,
            "requested": str(self.requested),
            "ended": str(self.ended),
            "breakdown": plain(self.breakdown),
            "bytes": self.sizes.bytes,
            "chars": self.sizes.chars,
            "tokens": pressure.tokens,
            "tokens_are": TokenSource.ESTIMATE,
            "used": pressure.used,
            "limit": pressure.limit,
            "unit": pressure.unit,
            "pressure": round(pressure.fraction, 4),
            "window": {"tokens": pressure.window.tokens, "from": pressure.window.source},
            "usage": asdict(self.usage) if self.usage else None,
            "estimate": self.estimate,
            "ratio": round(self.ratio, 4),
            "cost": usd(self.cost),
            "request_bytes": self.request_bytes,
            "stable_prefix": self.stable_prefix,
            "model": shown(self.requested_model, 200),
            "routed": self.routed,
            "break": self.break_reason,
            "break_number": self.break_number,
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class CallWanted:
    """The run waits for a person to allow a call, the one at `place` of message `number`. `turn` is
    its turn as it stands so far, None where that was told before."""

    kind: ClassVar[EventKind] = EventKind.APPROVAL_WANTED
    call: ToolCall
    place: int
    number: int
    pressure: Pressure
    turn: TurnEnded | None = None

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "subject": shown(self.call.id),
            "tool": shown(self.call.name),
            "arguments": shown(self.call.arguments, ARGUMENTS_CHARS),
            "message": self.number,
            "place": self.place,
            **used(self.pressure),
        }


@dataclass(frozen=True, slots=True)
class RequestRetried:
    """A broken reply is discarded; what was billed of it is kept."""

    kind: ClassVar[EventKind] = EventKind.REQUEST_RETRIED
    attempt: int
    wait: float
    reason: str
    usage: Usage | None = None
    cost: Decimal | None = None

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "attempt": self.attempt,
            "wait": round(self.wait, 1),
            "reason": shown(self.reason, 500),
            "said": as_json(self.reason, PREVIEW_CHARS),
            "usage": asdict(self.usage) if self.usage else None,
            "cost": usd(self.cost),
        }


@dataclass(frozen=True, slots=True)
class LimitReached:
    """`value` is a whole number, or USD as text."""

    kind: ClassVar[EventKind] = EventKind.LIMIT_REACHED
    ceiling: str
    value: int | str

    @property
    def facts(self) -> dict[str, Any]:
        return {"ceiling": self.ceiling, "value": self.value}


def usd(cost: Decimal | None) -> str | None:
    """As JSON has it: a decimal number without an exponent, or null where it is not known."""
    return None if cost is None else f"{cost.normalize():f}"
