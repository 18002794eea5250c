"""What changed the list other than appending and compacting, as events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from agentcore.breakdown import Sizes
from agentcore.compaction.events import plain
from agentcore.compaction.plan import CompactionPlan, Revision
from agentcore.kinds import EventKind, shown
from agentcore.snapshot import Snapshot


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
class Edited:
    """A person changed the list: undone, excluded, restored or a new topic, by `plan` on `before`;
    `sizes` are those of the list after it."""

    kind: EventKind
    before: Snapshot
    plan: CompactionPlan
    revision: Revision
    sizes: Sizes
    instruction: int

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "instruction": self.instruction,
            "revision": self.revision.number,
            "ended": len(self.revision.ended),
            "begun": len(self.revision.begun),
            "before": self.before.sizes.bytes,
            "after": self.sizes.bytes,
            "breakdown": plain(self.sizes.breakdown),
        }


@dataclass(frozen=True, slots=True)
class Erased:
    """Length and hash took the place of a message's text, by a person's wish."""

    kind: ClassVar[EventKind] = EventKind.ERASED
    number: int
    revision: Revision
    instruction: int

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "instruction": self.instruction,
            "number": self.number,
            "revision": self.revision.number,
        }


@dataclass(frozen=True, slots=True)
class InstructionRefused:
    """A queued act that the list does not allow; it leaves the queue."""

    kind: ClassVar[EventKind] = EventKind.INSTRUCTION_WITHDRAWN
    instruction: int
    reason: str

    @property
    def facts(self) -> dict[str, Any]:
        return {"instruction": self.instruction, "reason": shown(self.reason, 500)}


@dataclass(frozen=True, slots=True)
class SystemRebuilt:
    kind: ClassVar[EventKind] = EventKind.SYSTEM_REBUILT
    revision: Revision

    @property
    def facts(self) -> dict[str, Any]:
        return {"revision": self.revision.number}
