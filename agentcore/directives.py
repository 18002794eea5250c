"""What the outside wants of a running session, as read at a border."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import TypeAlias

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
class Answer:
    """What a person said of a tool call. `arguments`: the JSON that it is to be run with instead of
    what the model wrote; `reason` of a no, for the model; `late`: nobody said anything in time."""

    allow: bool
    arguments: str | None = None
    reason: str = ""
    late: bool = False


# What people were asked of the newest reply's calls, by the call's place; None: not answered yet.
Asked: TypeAlias = Mapping[int, Answer | None]


@dataclass(frozen=True, slots=True)
class Directives:
    """`instructions` in the order in which they were queued; `pins` and `checkpoints` are
    message numbers; `hold`: no automatic compaction; `hold_until`: none before so much is used;
    `compaction_allowed`: the answer to an asked one, None without;
    `asked`: the questions about tool calls whose answers nothing has used yet;
    `profile` holds the automatic switch in force; `rests`: no run is begun, what is owed waits;
    `summaries`: USD that those of the open run took so far, as they were stored."""

    profile: Profile
    pins: frozenset[int] = frozenset()
    checkpoints: frozenset[int] = frozenset()
    instructions: tuple[Instruction, ...] = ()
    stop: bool = False
    hold: bool = False
    hold_until: int = 0
    rests: bool = False
    compaction_allowed: bool | None = None
    asked: Asked = field(default_factory=dict)
    summaries: Decimal = Decimal(0)
