"""What if: a recorded session once more, turn by turn, under another profile and without a model.

What was said stays as it was said; compactions found in the recording are taken back, rewinds
are kept. The simulated list is compacted where the profile says so, before each request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from agentcore.breakdown import NOTHING, Sizes, measure_schemas
from agentcore.compaction.compact import Summarize, drive, pressure_of
from agentcore.compaction.pipeline import run_pipeline
from agentcore.compaction.plan import apply_plan
from agentcore.compaction.repair import repair
from agentcore.compaction.result import CompactionResult, Trigger
from agentcore.context import Context
from agentcore.ledger import Ledger, Survival, survival
from agentcore.ledger.survival import as_json
from agentcore.lint import THRASH_RUNS, THRASH_TURNS
from agentcore.messages import Message, MessageLike, Role
from agentcore.options import Automatic, SummarySource
from agentcore.prefix import Prefix
from agentcore.profile import Profile
from agentcore.rest import Rest
from agentcore.snapshot import Snapshot
from agentcore.transcripts import Recording
from agentcore.transcripts.base import ChangeKind

# Changes of a recorded list that are part of the talk, and no compaction.
_TALK = frozenset({ChangeKind.REWIND, ChangeKind.REWRITE})


@dataclass(frozen=True, slots=True)
class Point:
    """`bytes` of the list at the end of a turn; `action`: the last stage that ran after it."""

    turn: int
    bytes: int
    action: str | None


@dataclass(frozen=True, slots=True)
class Simulation:
    """Sizes are bytes. `floor`: the lowest that a compaction brought the list to, None without
    one; `cumulative_input`: the sum of the series; `cached_input`: of it what equals the front of
    the request before; `survival`: of all facts of the session, in the list at the end; `results`:
    every compaction."""

    peak: int
    compactions: int
    floor: int | None
    cumulative_input: int
    cached_input: int
    thrash: bool
    survival: Survival
    series: tuple[Point, ...]
    results: tuple[CompactionResult, ...]

    @property
    def facts(self) -> dict[str, Any]:
        """As `simulate --json` gives it, without the name of the preset."""
        return {
            "peak": self.peak,
            "compactions": self.compactions,
            "floor": self.floor,
            "cumulative_input": self.cumulative_input,
            "cached_input": self.cached_input,
            "thrash": self.thrash,
            "survival": as_json(self.survival),
            "series": [asdict(point) for point in self.series],
        }


@dataclass(frozen=True, slots=True)
class _Turn:
    """What was asked since the last reply, and the reply with its results."""

    number: int
    asked: tuple[Message, ...]
    replied: tuple[Message, ...]


def simulate(
    session: Recording | Iterable[MessageLike],
    profile: Profile,
    *,
    summarize: Summarize | None = None,
) -> Simulation:
    """Replay a recording, or a plain list in which each assistant message is a turn. Without
    `summarize` summaries are made from the ledger."""
    model, schemas = "", NOTHING
    turn_of: dict[int, int] | None = None
    if isinstance(session, Recording):
        model, schemas = session.model, measure_schemas(session.tools)
        # A recording that tells nothing of turns is a plain list.
        turn_of = _turns_of(session) or None
        messages: Iterable[MessageLike] = _said(session)
    else:
        messages = session
    whole = _legal(Snapshot.of(messages, facts=True))
    replay = _Replay(profile, model, schemas, summarize=summarize)
    for turn in _turns(whole, turn_of):
        replay.play(turn)
    return replay.outcome()


class _Replay:
    """The simulated session as far as it has come."""

    def __init__(
        self, profile: Profile, model: str, schemas: Sizes, *, summarize: Summarize | None
    ) -> None:
        self._profile = profile
        self._pressure_of = pressure_of(profile, model, schemas)
        self._schemas = schemas
        self._summarize = summarize
        self._context = Context()
        self._rest = Rest()
        self._prefix = Prefix()
        self._ledger = Ledger()
        self._number_of: dict[int, int] = {}
        self._archive: dict[int, Message] = {}
        self._points: list[Point] = []
        self._results: list[CompactionResult] = []
        self._cached = 0
        self._stopped = False

    def play(self, turn: _Turn) -> None:
        self._append(turn.asked, turn.number)
        self._make_room()
        request = self._context.snapshot()
        stable, _ = self._prefix.advance(request, (), self._schemas)
        self._cached += max(0, stable - self._schemas.bytes)
        self._append(turn.replied, turn.number)
        self._points.append(Point(turn.number, self._context.sizes.bytes, None))

    def outcome(self) -> Simulation:
        compacted = [place for place, point in enumerate(self._points) if point.action]
        sizes = [point.bytes for point in self._points]
        lows = [result.new.sizes.bytes for result in self._results]
        return Simulation(
            peak=max(sizes, default=0),
            compactions=len(self._results),
            floor=min(lows, default=None),
            cumulative_input=sum(sizes),
            cached_input=self._cached,
            thrash=self._stopped or _thrashes(compacted),
            survival=self._survival(),
            series=tuple(self._points),
            results=tuple(self._results),
        )

    def _append(self, messages: Sequence[Message], turn: int) -> None:
        for message in messages:
            mine = self._context.append(replace(message, turn=turn, replaces=None))
            self._number_of[mine.number] = message.number
            self._archive[mine.number] = mine
            self._ledger.add(mine.facts or ())

    def _make_room(self) -> None:
        """As before each request: where a stage is due, and where the window would burst."""
        profile = self._profile
        self._rest.begin(profile, frozenset(), False)
        if profile.automatic is not Automatic.ON:
            return
        if trigger := self._rest.trigger(self._pressure_of(self._context.snapshot()), profile):
            self._compact(trigger)
            pressure = self._pressure_of(self._context.snapshot())
            if pressure.used > pressure.limit:
                self._rest.until_grown(pressure, profile)
        pressure = self._pressure_of(self._context.snapshot())
        if pressure.window.is_known and not pressure.fits_window:
            self._compact(Trigger.OVERFLOW)

    def _compact(self, trigger: Trigger) -> None:
        before = self._context.snapshot()
        from_archive = self._profile.summary.source is SummarySource.ARCHIVE
        run = run_pipeline(
            before,
            self._profile,
            pressure_of=self._pressure_of,
            trigger=trigger,
            originals=self._archive if from_archive else None,
        )
        result = drive(run, self._summarize)
        measured = self._pressure_of(result.old), self._pressure_of(result.new)
        self._stopped |= self._rest.ran(result, *measured, self._profile)
        if not result.changed:
            return
        revision = self._context.apply(result.plan)
        self._archive |= {message.number: message for message, _ in revision.begun}
        self._results.append(result)
        if self._points:
            self._points[-1] = replace(self._points[-1], action=result.stages[-1].stage)

    def _survival(self) -> Survival:
        """Lost facts are told with the numbers that their messages have in the recording."""
        found = survival(self._ledger, self._context.messages)
        return {
            kind: replace(
                kept,
                lost=tuple(
                    replace(fact, number=self._number_of.get(fact.number, fact.number))
                    for fact in kept.lost
                ),
            )
            for kind, kept in found.items()
        }


def _said(recording: Recording) -> list[Message]:
    """The talk without what compactions bore and what was rewound."""
    gone: set[int] = set()
    for recorded in recording.revisions:
        if recorded.kind in _TALK:
            gone |= set(recorded.revision.ended)
            gone -= {message.number for message, _ in recorded.revision.begun}
    return [
        message
        for message in recording.messages
        if message.number not in gone and not message.is_summary and message.replaces is None
    ]


def _turns_of(recording: Recording) -> dict[int, int]:
    """The recorded turn of each message that is in one."""
    return {
        number: turn.number
        for turn in recording.turns
        for number in range(turn.first, turn.last + 1)
    }


def _legal(snapshot: Snapshot) -> Snapshot:
    plan, _ = repair(snapshot)
    return snapshot if plan.is_empty else apply_plan(plan, snapshot)[0]


def _turns(whole: Snapshot, turn_of: Mapping[int, int] | None) -> Iterator[_Turn]:
    """A turn begins with its reply and what was said before it; what was said after the last one
    is in none."""
    asked: list[Message] = []
    replied: list[Message] = []
    waiting: list[Message] = []
    number = 0
    for message in whole.messages:
        turn = _turn_begun(message, number, turn_of)
        if turn:
            if replied:
                yield _Turn(number, tuple(asked), tuple(replied))
            number, asked, replied, waiting = turn, waiting, [message], []
            continue
        goes_on = message.role in (Role.TOOL, Role.ASSISTANT) and replied and not waiting
        (replied if goes_on else waiting).append(message)
    if replied:
        yield _Turn(number, tuple(asked), tuple(replied))


def _turn_begun(message: Message, number: int, turn_of: Mapping[int, int] | None) -> int:
    """The number of the turn after `number` that a reply begins, else 0."""
    if message.role is not Role.ASSISTANT:
        return 0
    turn = number + 1 if turn_of is None else turn_of.get(message.number, 0)
    return turn if turn > number else 0


def _thrashes(turns: Sequence[int]) -> bool:
    """Whether compactions follow each other at once."""
    span = (THRASH_RUNS - 1) * THRASH_TURNS
    return any(
        last - first <= span for first, last in zip(turns, turns[THRASH_RUNS - 1 :], strict=False)
    )
