"""The closed lists of what can happen, and how text from outside is shown in an event."""

from __future__ import annotations

from enum import StrEnum

from agentcore.redact import masked_start

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


# What a change of the list is called where it broke the prefix; the others leave it whole.
BREAKS = {
    EventKind.COMPACTION_ENDED: BreakReason.COMPACTION,
    EventKind.UNDONE: BreakReason.COMPACTION,
    EventKind.TOPIC_STARTED: BreakReason.COMPACTION,
    EventKind.RESTORED: BreakReason.PIN,
    EventKind.EXCLUDED: BreakReason.EDIT,
    EventKind.REPAIRED: BreakReason.EDIT,
    EventKind.ERASED: BreakReason.EDIT,
    EventKind.SYSTEM_REBUILT: BreakReason.PROMPT,
    EventKind.MEMORY_INJECTED: BreakReason.MEMORY,
}


def shown(text: str, chars: int = PREVIEW_CHARS) -> str:
    """The beginning of a text from outside as it may be seen: its secrets masked, and storable."""
    return storable(masked_start(text, chars))


def storable(text: str) -> str:
    """Fit for any JSON column: NUL is shown as a picture of itself, half a character as a
    replacement."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\u2400")
