"""What compacting tells: that it began, what it came to, and that room is short."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from agentcore.breakdown import Breakdown
from agentcore.compaction.breaker import Breaker
from agentcore.compaction.result import (
    CompactionResult,
    CompactionState,
    Failure,
    HookReport,
    Trigger,
)
from agentcore.kinds import EventKind, shown
from agentcore.pressure import Pressure
from agentcore.usage import Usage


@dataclass(frozen=True, slots=True)
class CompactionStarted:
    kind: ClassVar[EventKind] = EventKind.COMPACTION_STARTED
    trigger: Trigger
    pressure: Pressure
    instruction: int | None = None

    @property
    def facts(self) -> dict[str, Any]:
        return {"trigger": self.trigger, **used(self.pressure)}


@dataclass(frozen=True, slots=True)
class CompactionEnded:
    """Applied, or a noop that a person asked for; `thrash`: automatic compaction stops, since its
    last stage frees next to nothing; `hooks`: those that did something."""

    kind: ClassVar[EventKind] = EventKind.COMPACTION_ENDED
    result: CompactionResult
    pressure: Pressure
    after: Pressure
    turn: int
    seconds: float
    instruction: int | None = None
    thrash: bool = False
    hooks: tuple[HookReport, ...] = ()

    @property
    def facts(self) -> dict[str, Any]:
        result = self.result
        return {
            "trigger": result.trigger,
            "state": (CompactionState.APPLIED if result.changed else CompactionState.NOOP),
            "reason": result.reason,
            "turn": self.turn,
            "before": result.old.sizes.bytes,
            "after": result.new.sizes.bytes,
            "breakdown": plain(result.new.sizes.breakdown),
            "revision": result.revision.number if result.revision else None,
            "thrash": self.thrash,
            "stages": [asdict(stage) for stage in result.stages],
            "left_out": result.left_out,
            "used_before": self.pressure.used,
            "seconds": round(self.seconds, 3),
            **used(self.after),
        }


@dataclass(frozen=True, slots=True)
class CompactionFailed:
    """A summary that was not taken, or a compaction that could not be applied; `usage` is what the
    summary took all the same, where that was said."""

    kind: ClassVar[EventKind] = EventKind.COMPACTION_FAILED
    trigger: Trigger
    failure: Failure
    detail: str
    turn: int
    pressure: Pressure
    instruction: int | None = None
    breaker: Breaker = Breaker()
    hooks: tuple[HookReport, ...] = ()
    usage: Usage | None = None

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "trigger": self.trigger,
            "breaker": {"failures": self.breaker.failures, "open": self.breaker.open_until > 0},
            "failure": self.failure,
            "detail": shown(self.detail, 500),
            "turn": self.turn,
            "usage": asdict(self.usage) if self.usage else None,
        }


@dataclass(frozen=True, slots=True)
class ApprovalWanted:
    """The run waits for a yes to what `subject` names: a compaction. `hook`: who wants it, and why,
    where no threshold is reached."""

    kind: ClassVar[EventKind] = EventKind.APPROVAL_WANTED
    subject: str
    pressure: Pressure
    hook: HookReport | None = None

    @property
    def facts(self) -> dict[str, Any]:
        told = {"subject": shown(self.subject), **used(self.pressure)}
        if self.hook is None:
            return told
        return {**told, "hook": shown(self.hook.hook), "reason": shown(self.hook.detail)}


@dataclass(frozen=True, slots=True)
class HookFailed:
    """A hook raised or took too long; it was passed over."""

    kind: ClassVar[EventKind] = EventKind.COMPACTION_FAILED
    report: str

    @property
    def facts(self) -> dict[str, Any]:
        return {"failure": "hook", "detail": shown(self.report, 500)}


@dataclass(frozen=True, slots=True)
class OverBudget:
    """The list is over its budget and nothing could free enough; names the largest part."""

    kind: ClassVar[EventKind] = EventKind.OVER_BUDGET
    pressure: Pressure
    largest: int
    largest_bytes: int

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "largest": self.largest,
            "largest_bytes": self.largest_bytes,
            **used(self.pressure),
        }


@dataclass(frozen=True, slots=True)
class Blocked:
    """The next request does not fit the window, whatever was tried."""

    kind: ClassVar[EventKind] = EventKind.BLOCKED
    pressure: Pressure

    @property
    def facts(self) -> dict[str, Any]:
        pressure = self.pressure
        return {
            "tokens": pressure.tokens,
            "reserve": pressure.reserve,
            "window": {"tokens": pressure.window.tokens, "from": pressure.window.source},
            "ways_out": "unpin, exclude, remove memory, or choose a larger window",
        }


def plain(breakdown: Breakdown) -> dict[str, int]:
    """Bytes per category, as JSON."""
    return {str(category): size for category, size in breakdown.items()}


def used(pressure: Pressure) -> dict[str, Any]:
    return {
        "used": pressure.used,
        "limit": pressure.limit,
        "unit": pressure.unit,
        "pressure": round(pressure.fraction, 4),
    }
