"""The closed set of things that happen in a session, and what each of them tells.

`facts` of an event are small (under 2 kB as JSON): they are stored, sent to sockets and drawn as
they are. Sizes are bytes unless a name says otherwise.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, ClassVar, TypeAlias

from agentcore.breakdown import Breakdown, Sizes
from agentcore.compaction.plan import Revision
from agentcore.compaction.result import CompactionResult, Failure, Trigger
from agentcore.messages import Message, ToolCall, ToolStatus
from agentcore.pressure import Pressure, TokenSource, Usage
from agentcore.snapshot import State

PREVIEW_CHARS = 160


class EventKind(StrEnum):
    SESSION_CREATED = "session_created"
    IMPORTED = "imported"
    FORKED = "forked"
    RENAMED = "renamed"
    ARCHIVED = "archived"
    SHARED = "shared"
    PROFILE_CHANGED = "profile_changed"
    RUN_STARTED = "run_started"
    RUN_ENDED = "run_ended"
    TURN_ENDED = "turn_ended"
    REQUEST_RETRIED = "request_retried"
    STOP_REQUESTED = "stop_requested"
    RECOVERED = "recovered"
    OVER_BUDGET = "over_budget"
    LIMIT_REACHED = "limit_reached"
    BLOCKED = "blocked"
    INSTRUCTION_QUEUED = "instruction_queued"
    INSTRUCTION_EDITED = "instruction_edited"
    INSTRUCTION_WITHDRAWN = "instruction_withdrawn"
    APPROVAL_WANTED = "approval_wanted"
    APPROVAL_GIVEN = "approval_given"
    MESSAGE_ADDED = "message_added"
    SYSTEM_REBUILT = "system_rebuilt"
    MEMORY_INJECTED = "memory_injected"
    REPAIRED = "repaired"
    ERASED = "erased"
    TOOL_STARTED = "tool_started"
    TOOL_ENDED = "tool_ended"
    PINNED = "pinned"
    UNPINNED = "unpinned"
    CHECKPOINT_SET = "checkpoint_set"
    EXCLUDED = "excluded"
    RESTORED = "restored"
    TOPIC_STARTED = "topic_started"
    UNDONE = "undone"
    RESUMED = "resumed"
    COMPACTION_STARTED = "compaction_started"
    COMPACTION_ENDED = "compaction_ended"
    COMPACTION_FAILED = "compaction_failed"


class RunEnd(StrEnum):
    ANSWERED = "answered"
    STOPPED = "stopped"
    LIMIT = "limit"
    BLOCKED = "blocked"
    FAILED = "failed"


class BreakReason(StrEnum):
    """What ended the stable prefix of a request."""

    SCHEMAS = "schemas"
    PROMPT = "prompt"
    MEMORY = "memory"
    COMPACTION = "compaction"
    PIN = "pin"
    EDIT = "edit"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class RunStarted:
    kind: ClassVar[EventKind] = EventKind.RUN_STARTED
    run: int

    @property
    def facts(self) -> dict[str, Any]:
        return {"run": self.run}


@dataclass(frozen=True, slots=True)
class RunEnded:
    kind: ClassVar[EventKind] = EventKind.RUN_ENDED
    run: int
    end: RunEnd
    reason: str = ""

    @property
    def facts(self) -> dict[str, Any]:
        return {"run": self.run, "end": self.end, "reason": self.reason[: PREVIEW_CHARS * 4]}


@dataclass(frozen=True, slots=True)
class MessageAdded:
    """`instruction`: id of the queued instruction that became this message; `captured`: the whole
    output of a tool where the message holds less; `turn`: the turn that bore it, 0 outside one."""

    kind: ClassVar[EventKind] = EventKind.MESSAGE_ADDED
    message: Message
    turn: int
    instruction: int | None = None
    captured: str | None = None

    @property
    def facts(self) -> dict[str, Any]:
        message = self.message
        cut = message.cut
        return {
            "number": message.number,
            "role": message.role,
            "bytes": message.sizes.bytes,
            "categories": _plain(message.sizes.breakdown),
            "turn": self.turn,
            "tool": (message.tool or "")[:PREVIEW_CHARS] or None,
            "cut": asdict(cut) if cut else None,
            "preview": message.text[:PREVIEW_CHARS],
        }


@dataclass(frozen=True, slots=True)
class ToolStarted:
    kind: ClassVar[EventKind] = EventKind.TOOL_STARTED
    call: ToolCall
    turn: int

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "call": self.call.id[:PREVIEW_CHARS],
            "tool": self.call.name[:PREVIEW_CHARS],
            "arguments": self.call.arguments[:PREVIEW_CHARS],
            "turn": self.turn,
        }


@dataclass(frozen=True, slots=True)
class ToolEnded:
    kind: ClassVar[EventKind] = EventKind.TOOL_ENDED
    call: ToolCall
    turn: int
    status: ToolStatus
    seconds: float

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "call": self.call.id[:PREVIEW_CHARS],
            "tool": self.call.name[:PREVIEW_CHARS],
            "turn": self.turn,
            "status": self.status,
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """`sizes` and `pressure` are of the list at the end of the turn, schemas included in the
    breakdown; `usage` is what the provider said of this turn's request, `estimate` what the
    counter said of it; `stable_prefix` bytes of that request equal the one before."""

    kind: ClassVar[EventKind] = EventKind.TURN_ENDED
    turn: int
    run: int
    requested: State
    ended: State
    sizes: Sizes
    breakdown: Breakdown
    pressure: Pressure
    tokens_are: TokenSource
    usage: Usage | None
    estimate: int
    ratio: float
    request_bytes: int
    stable_prefix: int
    break_reason: BreakReason | None
    seconds: float
    model: str = ""

    @property
    def facts(self) -> dict[str, Any]:
        pressure = self.pressure
        return {
            "turn": self.turn,
            "run": self.run,
            "requested": str(self.requested),
            "ended": str(self.ended),
            "breakdown": _plain(self.breakdown),
            "bytes": self.sizes.bytes,
            "chars": self.sizes.chars,
            "tokens": pressure.tokens,
            "tokens_are": self.tokens_are,
            "used": pressure.used,
            "limit": pressure.limit,
            "unit": pressure.unit,
            "pressure": round(pressure.fraction, 4),
            "window": {"tokens": pressure.window.tokens, "from": pressure.window.source},
            "usage": asdict(self.usage) if self.usage else None,
            "request_bytes": self.request_bytes,
            "stable_prefix": self.stable_prefix,
            "break": self.break_reason,
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class RequestRetried:
    kind: ClassVar[EventKind] = EventKind.REQUEST_RETRIED
    attempt: int
    wait: float
    reason: str

    @property
    def facts(self) -> dict[str, Any]:
        return {"attempt": self.attempt, "wait": round(self.wait, 1), "reason": self.reason[:500]}


@dataclass(frozen=True, slots=True)
class Repaired:
    """`revision` is the change, `reasons` pairs each number with what was wrong there."""

    kind: ClassVar[EventKind] = EventKind.REPAIRED
    revision: Revision
    reasons: tuple[tuple[int, str], ...]

    @property
    def facts(self) -> dict[str, Any]:
        shown = [{"number": number, "reason": reason} for number, reason in self.reasons[:20]]
        return {"revision": self.revision.number, "count": len(self.reasons), "repairs": shown}


@dataclass(frozen=True, slots=True)
class SystemRebuilt:
    kind: ClassVar[EventKind] = EventKind.SYSTEM_REBUILT
    revision: Revision

    @property
    def facts(self) -> dict[str, Any]:
        return {"revision": self.revision.number}


@dataclass(frozen=True, slots=True)
class CompactionStarted:
    kind: ClassVar[EventKind] = EventKind.COMPACTION_STARTED
    trigger: Trigger
    pressure: Pressure
    instruction: int | None = None

    @property
    def facts(self) -> dict[str, Any]:
        return {"trigger": self.trigger, **_used(self.pressure)}


@dataclass(frozen=True, slots=True)
class CompactionEnded:
    """Applied, or a noop that a person asked for."""

    kind: ClassVar[EventKind] = EventKind.COMPACTION_ENDED
    result: CompactionResult
    pressure: Pressure
    after: Pressure
    turn: int
    seconds: float
    instruction: int | None = None

    @property
    def facts(self) -> dict[str, Any]:
        result = self.result
        return {
            "trigger": result.trigger,
            "state": "applied" if result.changed else "noop",
            "reason": result.reason,
            "turn": self.turn,
            "before": result.before.sizes.bytes,
            "after": result.after.sizes.bytes,
            "breakdown": _plain(result.after.sizes.breakdown),
            "revision": result.revision.number if result.revision else None,
            "stages": [asdict(stage) for stage in result.stages],
            "used_before": self.pressure.used,
            "seconds": round(self.seconds, 3),
            **_used(self.after),
        }


@dataclass(frozen=True, slots=True)
class CompactionFailed:
    """A summary that was not taken, or a compaction that could not be applied."""

    kind: ClassVar[EventKind] = EventKind.COMPACTION_FAILED
    trigger: Trigger
    failure: Failure
    detail: str
    turn: int
    pressure: Pressure
    instruction: int | None = None

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "trigger": self.trigger,
            "failure": self.failure,
            "detail": self.detail[:500],
            "turn": self.turn,
        }


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
            **_used(self.pressure),
        }


@dataclass(frozen=True, slots=True)
class LimitReached:
    kind: ClassVar[EventKind] = EventKind.LIMIT_REACHED
    ceiling: str
    value: int

    @property
    def facts(self) -> dict[str, Any]:
        return {"ceiling": self.ceiling, "value": self.value}


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


@dataclass(frozen=True, slots=True)
class Recovered:
    """A run goes on after its worker was lost."""

    kind: ClassVar[EventKind] = EventKind.RECOVERED
    turn: int
    interrupted: int

    @property
    def facts(self) -> dict[str, Any]:
        return {"turn": self.turn, "interrupted": self.interrupted}


Event: TypeAlias = (
    RunStarted
    | RunEnded
    | MessageAdded
    | ToolStarted
    | ToolEnded
    | TurnEnded
    | RequestRetried
    | Repaired
    | SystemRebuilt
    | CompactionStarted
    | CompactionEnded
    | CompactionFailed
    | OverBudget
    | LimitReached
    | Blocked
    | Recovered
)


def _plain(breakdown: Breakdown) -> dict[str, int]:
    return {str(category): size for category, size in breakdown.items()}


def _used(pressure: Pressure) -> dict[str, Any]:
    return {
        "used": pressure.used,
        "limit": pressure.limit,
        "unit": pressure.unit,
        "pressure": round(pressure.fraction, 4),
    }
