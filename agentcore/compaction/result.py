"""What one run of the pipeline came to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from agentcore.breakdown import Breakdown
from agentcore.compaction.plan import CompactionPlan, Revision
from agentcore.errors import PlanError
from agentcore.ledger import Survival
from agentcore.pressure import Pressure
from agentcore.snapshot import Snapshot
from agentcore.usage import Usage
from agentcore.verify import CheckResult, Verification, verify


class Trigger(StrEnum):
    THRESHOLD = "threshold"
    HYBRID = "hybrid"
    OVERFLOW = "overflow"
    RUN_END = "run_end"
    MANUAL = "manual"
    HOOK = "hook"
    RECORDED = "recorded"


class CompactionState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    APPLIED = "applied"
    NOOP = "noop"
    FAILED = "failed"
    UNDONE = "undone"


class Failure(StrEnum):
    """Why a compaction changed nothing, or a summary was not taken."""

    NOTHING_TO_COMPACT = "nothing_to_compact"
    EMPTY = "empty"
    TOOL_CALL = "tool_call"
    REFUSAL = "refusal"
    HEADINGS = "headings"
    TOO_LONG = "too_long"
    DID_NOT_SHRINK = "did_not_shrink"
    ERROR = "error"
    TIMEOUT = "timeout"
    BREAKER_OPEN = "breaker_open"
    INVARIANT = "invariant"
    ABORTED = "aborted"
    CANCELLED = "cancelled"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class StageReport:
    """Bytes a stage freed; negative when the list grew."""

    stage: str
    freed: int


class Deed(StrEnum):
    """What a hook did: ask for a compaction, something before it, or after it (`appended`), or
    instead of an answer."""

    ASKED = "asked"
    ABORTED = "aborted"
    INJECTED = "injected"
    APPENDED = "appended"
    RAISED = "raised"
    TIMED_OUT = "timed_out"


@dataclass(frozen=True, slots=True)
class HookReport:
    """Of one hook that acted or failed: why it asked or aborted, the numbers of the messages that
    it added, what it raised."""

    hook: str
    did: Deed
    detail: str = ""
    messages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SummaryFailed:
    """A summary that was asked for and not taken. `detail` is for people, never for the list;
    `usage` what it took all the same, where that was said."""

    reason: Failure
    detail: str
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    """A summary that was accepted; `left_out` counts older messages dropped from its input;
    `model` as its provider calls it, `endpoint` the name that it was asked by, where one chose."""

    text: str
    left_out: int = 0
    model: str = ""
    usage: Usage | None = None
    seconds: float = 0.0
    endpoint: str = ""


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """`old` and `new` are the lists; the same object when nothing changed, then `reason` says why.
    `original`: the list that was handed in, where it was repaired first. `failures` and
    `summaries` are what became of the requests for one; `left_out` counts older messages that had
    no room in a summary's input; `pressure` is that of the list after."""

    old: Snapshot
    new: Snapshot
    trigger: Trigger
    plan: CompactionPlan
    revision: Revision | None = None
    stages: tuple[StageReport, ...] = ()
    reason: Failure | None = None
    failures: tuple[SummaryFailed, ...] = ()
    summaries: tuple[WrittenSummary, ...] = ()
    left_out: int = 0
    original: Snapshot | None = None
    pressure: Pressure | None = None

    @property
    def changed(self) -> bool:
        return self.new is not self.old

    @property
    def freed(self) -> int:
        """Bytes."""
        return self.old.sizes.bytes - self.new.sizes.bytes

    def verification(self) -> Verification:
        """The checks and what survived, looked at anew at each call. Raises PlanError where nothing
        changed: there is nothing to verify."""
        if not self.changed or self.pressure is None:
            raise PlanError(f"nothing changed ({self.reason}), so there is nothing to verify")
        return verify(self.old, self.new, self.plan, self.pressure)

    @property
    def checks(self) -> tuple[CheckResult, ...]:
        """The seven, in their order; none where nothing changed."""
        return self.verification().checks if self.changed else ()

    @property
    def survival(self) -> Survival | None:
        """Which facts of the list before the list after still holds; None where nothing changed."""
        return self.verification().survival if self.changed else None

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The list after, ready to send."""
        return [message.value() for message in self.new.messages]

    @property
    def before(self) -> Breakdown:
        """Bytes per category of the list as it was handed in."""
        return (self.original or self.old).sizes.breakdown

    @property
    def after(self) -> Breakdown:
        """The same of the list after."""
        return self.new.sizes.breakdown

    def undo(self) -> list[dict[str, Any]]:
        """The list as it was handed in."""
        first = self.original or self.old
        return [message.value() for message in first.messages]
