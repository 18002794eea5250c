"""What a reader makes of a recorded session: plain frozen values, the same for every format."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from agentcore.breakdown import NOTHING, Sizes, total
from agentcore.compaction.plan import Revision
from agentcore.messages import Message
from agentcore.snapshot import PLACES_A_NUMBER, Snapshot, State
from agentcore.usage import Usage


class Format(StrEnum):
    OPENAI_CHAT = "openai-chat"
    CLAUDE_CODE = "claude-code"
    HERMESWEB = "hermesweb"


class ProblemKind(StrEnum):
    """The pairing kinds are spelt as those of the lint."""

    BAD_LINE = "bad_line"
    TORN_TAIL = "torn_tail"
    GLUED_RECORDS = "glued_records"
    REPEATED_RECORD = "repeated_record"
    BAD_MESSAGE = "bad_message"
    NO_SUMMARY = "no_summary"
    ORPHAN_RESULT = "orphan_result"
    UNANSWERED_CALL = "unanswered_call"
    DUPLICATE_RESULT = "duplicate_result"


LOSSES = frozenset({ProblemKind.BAD_LINE, ProblemKind.TORN_TAIL, ProblemKind.BAD_MESSAGE})


class TurnStatus(StrEnum):
    OK = "ok"
    ABORTED = "aborted"


class ChangeKind(StrEnum):
    """Why the recorded list changed other than by growing."""

    COMPACTION = "compaction"
    MICROCOMPACTION = "microcompaction"
    REWIND = "rewind"
    REWRITE = "rewrite"


@dataclass(frozen=True, slots=True)
class Problem:
    """`line` counts from 1; None where the file has no lines that matter. `number`: the message
    that is meant, where it became one."""

    line: int | None
    kind: ProblemKind
    detail: str
    number: int | None = None


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """One distinct response. `first` and `last` number its reply and results, `requested` and
    `ended` are the states then, `sizes` those of the list at its end. `at` is ISO 8601."""

    number: int
    response_id: str | None
    model: str
    usage: Usage | None
    status: TurnStatus
    at: str | None
    first: int
    last: int
    requested: State
    ended: State
    sizes: Sizes


@dataclass(frozen=True, slots=True)
class RecordedRevision:
    """`turn`: the last one ended before it, 0 when there was none."""

    revision: Revision
    kind: ChangeKind
    turn: int
    at: str | None


@dataclass(frozen=True, slots=True)
class RecordedCompaction:
    """`before` and `after` are bytes of the list; `asked_by` and `tokens_before` are the
    recording's own words; `revision` is None when the recording names nothing that changed."""

    turn: int
    kind: ChangeKind
    before: int
    after: int
    asked_by: str
    tokens_before: int | None
    revision: int | None
    at: str | None


@dataclass(frozen=True, slots=True)
class Recording:
    """`messages` is the whole archive, numbered from 1; `times` runs beside it. `tools` are the
    schemas offered. `skipped` counts records that belong to no list, by type. `call_id`: the call
    of the parent session that started this one. Open and orphaned calls are as found."""

    format: Format
    title: str
    model: str
    started: str | None
    messages: tuple[Message, ...]
    times: tuple[str | None, ...]
    revisions: tuple[RecordedRevision, ...]
    turns: tuple[RecordedTurn, ...]
    compactions: tuple[RecordedCompaction, ...]
    problems: tuple[Problem, ...]
    skipped: tuple[tuple[str, int], ...] = ()
    tools: tuple[dict[str, Any], ...] = ()
    subagents: tuple[Recording, ...] = field(default=(), repr=False)
    call_id: str | None = None

    @property
    def incomplete(self) -> bool:
        """Whether something that stands in the file could not be taken over."""
        return any(problem.kind in LOSSES for problem in self.problems)

    def context(self) -> tuple[Message, ...]:
        """The messages in force at the end."""
        return self.snapshot().messages

    def snapshot(self) -> Snapshot:
        """The list at the end, with places and totals."""
        places: dict[int, int] = {}
        born = 0
        for recorded in self.revisions:
            revision = recorded.revision
            begun = {message.number: place for message, place in revision.begun}
            _append(places, range(born + 1, revision.last_number + 1), begun)
            for number in revision.ended:
                del places[number]
            places.update(begun)
            born = revision.last_number
        _append(places, range(born + 1, len(self.messages) + 1), {})
        numbers = sorted(places, key=lambda number: (places[number], number))
        messages = tuple(self.messages[number - 1] for number in numbers)
        return Snapshot(
            messages,
            tuple(places[number] for number in numbers),
            total(message.sizes for message in messages) if messages else NOTHING,
            State(len(self.revisions), len(self.messages)),
        )

    def spent(self) -> Usage:
        """Usage of all turns, those of subagents included."""
        own = [turn.usage for turn in self.turns if turn.usage]
        return sum([*own, *(subagent.spent() for subagent in self.subagents)], Usage())


def _append(places: dict[int, int], numbers: range, begun: dict[int, int]) -> None:
    for number in numbers:
        if number not in begun:
            places[number] = number * PLACES_A_NUMBER
