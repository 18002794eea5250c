"""The closed set of things that happen in a session, and what each of them tells.

`facts` of an event are small (under 2 kB as JSON): they are stored, sent to sockets and drawn as
they are. Sizes are bytes unless a name says otherwise.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, ClassVar, TypeAlias

from agentcore.changes import Edited, Erased, InstructionRefused, Repaired, SystemRebuilt
from agentcore.compaction.events import (
    ApprovalWanted,
    Blocked,
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    HookFailed,
    OverBudget,
    plain,
)
from agentcore.compaction.plan import Revision
from agentcore.kinds import BreakReason, EventKind, RunEnd, shown
from agentcore.messages import Message, ToolCall, ToolStatus
from agentcore.requests import CallWanted, LimitReached, RequestRetried, TurnEnded, usd
from agentcore.usage import Usage

__all__ = [
    "ApprovalWanted",
    "Blocked",
    "BreakReason",
    "CallWanted",
    "CheckpointSet",
    "CompactionEnded",
    "CompactionFailed",
    "CompactionStarted",
    "Edited",
    "Erased",
    "Event",
    "EventKind",
    "HookFailed",
    "InstructionRefused",
    "LimitReached",
    "MemoryInjected",
    "MessageAdded",
    "OverBudget",
    "Recovered",
    "Repaired",
    "RequestRetried",
    "RunEnd",
    "RunEnded",
    "RunStarted",
    "SystemRebuilt",
    "ToolEnded",
    "ToolStarted",
    "TurnEnded",
    "shown",
]


@dataclass(frozen=True, slots=True)
class RunStarted:
    kind: ClassVar[EventKind] = EventKind.RUN_STARTED
    run: int

    @property
    def facts(self) -> dict[str, Any]:
        return {"run": self.run}


@dataclass(frozen=True, slots=True)
class RunEnded:
    """`usage` and `cost` are of the last request, where it failed and was billed all the same."""

    kind: ClassVar[EventKind] = EventKind.RUN_ENDED
    run: int
    end: RunEnd
    reason: str = ""
    usage: Usage | None = None
    cost: Decimal | None = None

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "run": self.run,
            "end": self.end,
            "reason": shown(self.reason, 500),
            "usage": asdict(self.usage) if self.usage else None,
            "cost": usd(self.cost),
        }


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
            "categories": plain(message.sizes.breakdown),
            "turn": self.turn,
            "tool": shown(message.tool or "") or None,
            "cut": asdict(cut) if cut else None,
            "preview": shown(message.text),
        }


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """`waited`: the turn waited for a person, whose answers are used by this."""

    kind: ClassVar[EventKind] = EventKind.TOOL_STARTED
    call: ToolCall
    turn: int
    waited: bool = False

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "call": shown(self.call.id),
            "tool": shown(self.call.name),
            "arguments": shown(self.call.arguments),
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
            "call": shown(self.call.id),
            "tool": shown(self.call.name),
            "turn": self.turn,
            "status": self.status,
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class CheckpointSet:
    """The tool result with this number is a checkpoint from its birth."""

    kind: ClassVar[EventKind] = EventKind.CHECKPOINT_SET
    number: int
    turn: int

    @property
    def facts(self) -> dict[str, Any]:
        return {"number": self.number, "set": True, "turn": self.turn}


@dataclass(frozen=True, slots=True)
class MemoryInjected:
    """What a run was given of earlier sessions: each entry's id and score. `revision`: the change
    of the list, where the system message stood there with another block."""

    kind: ClassVar[EventKind] = EventKind.MEMORY_INJECTED
    run: int
    entries: tuple[tuple[int, float], ...]
    revision: Revision | None = None

    @property
    def facts(self) -> dict[str, Any]:
        entries = [{"id": id, "score": round(score, 2)} for id, score in self.entries]
        revision = self.revision.number if self.revision else None
        return {"run": self.run, "revision": revision, "entries": entries}


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
    | CheckpointSet
    | TurnEnded
    | RequestRetried
    | Repaired
    | Edited
    | Erased
    | InstructionRefused
    | SystemRebuilt
    | MemoryInjected
    | CompactionStarted
    | CompactionEnded
    | CompactionFailed
    | OverBudget
    | ApprovalWanted
    | CallWanted
    | HookFailed
    | LimitReached
    | Blocked
    | Recovered
)
