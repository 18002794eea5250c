"""What the outside wants of a running session, as read at a border."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from agentcore.compaction.asked import CompactionOptions, PreparedPlan
from agentcore.messages import Message
from agentcore.profile import Profile


class InstructionKind(StrEnum):
    MESSAGE = "message"
    APPROVAL = "approval"
    COMPACT = "compact"
    UNDO = "undo"
    RESTORE = "restore"
    EXCLUDE = "exclude"
    NEW_TOPIC = "new_topic"
    ERASE = "erase"


@dataclass(frozen=True, slots=True)
class Instruction:
    """One thing a person wants of the list.

    `text`: the message; `options`: how to compact, `prepared`: the plan to be applied instead of
    making one. `numbers`: what is to be excluded, the one message to be erased, or what the
    revision to be undone began; `returning`: messages to come back, with their places;
    `revision`: the one that the wish was made on, None where any will do; `against`: why it cannot
    be done, where that is known already.
    """

    id: int
    kind: InstructionKind
    text: str = ""
    numbers: tuple[int, ...] = ()
    returning: tuple[tuple[Message, int], ...] = ()
    revision: int | None = None
    against: str = ""
    options: CompactionOptions = CompactionOptions()
    prepared: PreparedPlan | None = None


@dataclass(frozen=True, slots=True)
class Directives:
    """`instructions` in the order in which they were queued; `pins` and `checkpoints` are
    message numbers; `hold`: no automatic compaction; `hold_until`: none before so much is used;
    `compaction_allowed`: the answer to an asked one, None without;
    `profile` holds the automatic switch in force; `rests`: no run is begun, what is owed waits."""

    profile: Profile
    pins: frozenset[int] = frozenset()
    checkpoints: frozenset[int] = frozenset()
    instructions: tuple[Instruction, ...] = ()
    stop: bool = False
    hold: bool = False
    hold_until: int = 0
    rests: bool = False
    compaction_allowed: bool | None = None
