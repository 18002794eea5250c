"""Sessions as Hermesweb exports them: JSONL, what happened to the list in its order. A `session`
comes first, then each `message` as it was born and each `revision` of the list, then turns,
compactions and events.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO

from agentcore.breakdown import NOTHING, Mark, Sizes, total
from agentcore.compaction.plan import Revision
from agentcore.errors import MessageError, WireError
from agentcore.kinds import EventKind
from agentcore.messages import Cut, Message, ToolStatus, born
from agentcore.said import Said
from agentcore.snapshot import PLACES_A_NUMBER, State
from agentcore.transcripts.base import (
    ChangeKind,
    Format,
    Problem,
    ProblemKind,
    RecordedCompaction,
    RecordedRevision,
    RecordedTurn,
    Recording,
    TurnStatus,
)
from agentcore.transcripts.lines import read_values
from agentcore.transcripts.scalars import iso_time
from agentcore.usage import Usage, count

KINDS = {
    EventKind.COMPACTION_ENDED: ChangeKind.COMPACTION,
    EventKind.UNDONE: ChangeKind.REWIND,
    EventKind.RESTORED: ChangeKind.REWIND,
    EventKind.EXCLUDED: ChangeKind.REWIND,
    EventKind.TOPIC_STARTED: ChangeKind.REWIND,
}

Record = Mapping[str, Any]


def is_record(value: Any) -> bool:
    """Whether a JSON value begins such a file; others that look alike link or do not number their
    messages."""
    if not isinstance(value, dict) or value.keys() & {"parentId", "cwd", "uuid"}:
        return False
    message = value.get("message")
    is_message = isinstance(message, dict) and "role" in message and "number" in value
    return (value.get("type"), is_message) == ("message", True) or (
        value.get("type") == "session" and isinstance(value.get("id"), str)
    )


def load(stream: BinaryIO) -> tuple[Recording, ...]:
    """One recording. A record that cannot be used is told by its line and left out."""
    reading = _Reading()
    for line, value in read_values(stream, reading.problems):
        try:
            reading.take(value)
        except (MessageError, WireError, RecursionError) as error:
            reading.problems.append(Problem(line, ProblemKind.BAD_MESSAGE, str(error)))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            told = f"{type(error).__name__}: {str(error)[:200]}"
            detail = Said("no record of an export: {error}", error=told)
            reading.problems.append(Problem(line, ProblemKind.BAD_LINE, detail))
    return (reading.recording(),)


class _Reading:
    """`given` are the message numbers of the file, in order: ours have no gaps. `alive` is the list
    so far, `states` maps the file's revisions to ours."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._about: Record = {}
        self._messages: list[Message] = []
        self._times: list[str | None] = []
        self._given: list[int] = []
        self._last_turn = 0
        self._states = {0: 0}
        self._alive: set[int] = set()
        self._sizes = NOTHING
        self._sizes_at: dict[State, Sizes] = {}
        self._revisions: list[RecordedRevision] = []
        self._turns: list[RecordedTurn] = []
        self._compactions: list[RecordedCompaction] = []

    def take(self, record: Record) -> None:
        match record["type"]:
            case "session":
                self._about = record
            case "message":
                self._message(record)
            case "revision":
                self._revision(record)
            case "turn":
                self._turn(record)
            case "compaction":
                self._compaction(record)
            case "event":
                pass
            case other:
                raise ValueError(f"the type {other!r:.40}")

    def recording(self) -> Recording:
        title = self._about.get("title")
        return Recording(
            Format.HERMESWEB,
            title=title if isinstance(title, str) else "",
            model=str(self._about.get("model") or ""),
            started=next((at for at in self._times if at), None),
            messages=tuple(self._messages),
            times=tuple(self._times),
            revisions=tuple(self._revisions),
            turns=tuple(self._turns),
            compactions=tuple(self._compactions),
            problems=tuple(sorted(self.problems, key=lambda problem: problem.line or 0)),
        )

    def _message(self, record: Record) -> None:
        cut, status = record.get("cut"), record.get("status")
        number = len(self._messages) + 1
        given = _natural(record.get("number", self._given[-1] + 1 if self._given else 1))
        if self._given and given <= self._given[-1]:
            raise ValueError(f"message {given} after message {self._given[-1]}")
        turn = _natural(record.get("turn", 0))
        message = born(
            record["message"],
            mark=Mark(record["mark"]) if record.get("mark") else None,
            tool=_name(record.get("tool")),
            status=ToolStatus(status) if status else None,
            original=Cut(*map(_natural, cut)).original if cut else None,
            turn=turn,
            replaces=self._ours(record.get("replaces")),
            stands_for=tuple(self._ranges(record.get("stands_for", ()))),
        ).numbered(number)
        self._given.append(given)
        self._last_turn = max(self._last_turn, turn)
        self._messages.append(message)
        self._times.append(iso_time(record.get("at")))
        self._alive.add(number)
        self._weigh(message.sizes)

    def _ranges(self, ranges: Iterable[Any]) -> Iterable[range]:
        for first, last in ranges:
            known = range(bisect_left(self._given, first) + 1, bisect_right(self._given, last) + 1)
            if known:
                yield known

    def _ours(self, given: Any) -> int | None:
        index = bisect_left(self._given, given) if type(given) is int else len(self._given)
        return index + 1 if index < len(self._given) and self._given[index] == given else None

    def _revision(self, record: Record) -> None:
        number = _natural(record["number"])
        kind = KINDS.get(EventKind(record["cause"]), ChangeKind.REWRITE)
        known = dict.fromkeys(map(self._ours, record["ended"]))
        ended = [one for one in known if one in self._alive]
        begun = {
            ours: self._place(_natural(place))
            for ours, place in ((self._ours(given), place) for given, place in record["begun"])
            if ours
        }
        again = [one for one in begun if one not in self._alive]
        self._alive.difference_update(ended)
        self._alive.update(begun)
        self._states[number] = len(self._revisions) + 1
        self._sizes = self._sizes - self._total(ended) + self._total(again)
        revision = Revision(
            len(self._revisions) + 1,
            tuple(ended),
            tuple((self._messages[one - 1], place) for one, place in begun.items()),
            len(self._messages),
        )
        at = iso_time(record.get("at"))
        self._revisions.append(RecordedRevision(revision, kind, self._last_turn, at))
        self._weigh(NOTHING)

    def _place(self, place: int) -> int:
        """Beside the same message as in the file."""
        beside = (place + 1) // PLACES_A_NUMBER
        number = bisect_right(self._given, beside)
        return place + (number - beside) * PLACES_A_NUMBER if number else place

    def _turn(self, record: Record) -> None:
        number = _natural(record["number"])
        requested, ended = self._state(record["requested"]), self._state(record["ended"])
        if number != len(self._turns) + 1 or ended not in self._sizes_at:
            raise ValueError(f"turn {number} does not follow, or its state never was")
        usage = record.get("usage")
        self._turns.append(
            RecordedTurn(
                number,
                None,
                str(record.get("model") or ""),
                Usage(**{name: count(value) for name, value in usage.items()}) if usage else None,
                TurnStatus(record.get("status") or TurnStatus.OK),
                iso_time(record.get("at")),
                first=bisect_left(self._given, record["first"]) + 1,
                last=bisect_right(self._given, record["last"]),
                requested=requested,
                ended=ended,
                sizes=self._sizes_at[ended],
            )
        )

    def _state(self, pair: Any) -> State:
        revision, number = map(_natural, pair)
        return State(self._states[revision], bisect_right(self._given, number))

    def _compaction(self, record: Record) -> None:
        self._compactions.append(
            RecordedCompaction(
                _natural(record["turn"]),
                ChangeKind.COMPACTION,
                _natural(record["before"]),
                _natural(record["after"]),
                str(record.get("asked_by") or ""),
                None,
                self._states.get(record["revision"]) if record.get("revision") else None,
                iso_time(record.get("at")),
            )
        )

    def _total(self, numbers: Iterable[int]) -> Sizes:
        return total(self._messages[number - 1].sizes for number in numbers)

    def _weigh(self, more: Sizes) -> None:
        self._sizes = self._sizes + more
        self._sizes_at[State(len(self._revisions), len(self._messages))] = self._sizes


def _natural(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**53:
        raise ValueError(f"{value!r:.40} is no whole number")
    return value


def _name(value: Any) -> str | None:
    if not isinstance(value, str | None):
        raise ValueError(f"{value!r:.40} is no name")
    return value
