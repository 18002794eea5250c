"""Plays a recording into the rows of its session: what was appended, then each change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime

from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from agentcore.breakdown import NOTHING, Sizes, measure_schemas, total
from agentcore.compaction.plan import Fate, Origin
from agentcore.compaction.result import CompactionState, Trigger
from agentcore.events import EventKind
from agentcore.ledger import with_facts
from agentcore.pressure import Pressure, TokenCounter, TokenSource, Unit
from agentcore.snapshot import PLACES_A_NUMBER
from agentcore.transcripts import ChangeKind, RecordedRevision, RecordedTurn, Recording
from agentcore.transcripts.report import provider_tokens
from agentcore.usage import Usage
from hermesweb import lives, totals
from hermesweb.models import AgentSession, Compaction, StoredTurn
from hermesweb.models.columns import NAME_CHARS
from hermesweb.shown import shown

# Messages a transaction, so that others can write in between.
CHUNK = 500

FATES = {
    ChangeKind.COMPACTION: Fate.SUMMARIZED,
    ChangeKind.MICROCOMPACTION: Fate.MASKED,
    ChangeKind.REWIND: Fate.EXCLUDED,
    ChangeKind.REWRITE: Fate.REBUILT,
}
CAUSES = {
    ChangeKind.COMPACTION: EventKind.COMPACTION_ENDED,
    ChangeKind.MICROCOMPACTION: EventKind.COMPACTION_ENDED,
    ChangeKind.REWIND: EventKind.EXCLUDED,
    ChangeKind.REWRITE: EventKind.SYSTEM_REBUILT,
}


class Tape:
    """Plays a recording into the rows of one session: what was appended, then each change. `check`
    is asked before each transaction, and may raise."""

    def __init__(
        self, session: AgentSession, recording: Recording, check: Callable[[], None]
    ) -> None:
        self._session = session
        self._recording = recording
        self._check = check
        self._turn_of = {
            number: turn.number
            for turn in recording.turns
            for number in range(turn.first, turn.last + 1)
        }
        self._sizes = NOTHING
        self._changes: dict[int, tuple[Sizes, Sizes]] = {}
        self._born = self._alive = self._revision = 0

    def store(self) -> None:
        for recorded in self._recording.revisions:
            begun = {message.number for message, _ in recorded.revision.begun}
            self._append(recorded.revision.last_number, begun)
            self._revise(recorded)
        self._append(len(self._recording.messages), set())
        with transaction.atomic():
            self._store_turns()
            self._store_compactions()
            self._close()

    def _append(self, last: int, begun: set[int]) -> None:
        """Store what was born up to `last`, but for what the change to come begins."""
        numbers = [number for number in range(self._born + 1, last + 1) if number not in begun]
        for start in range(0, len(numbers), CHUNK):
            self._check()
            births = [self._birth(number) for number in numbers[start : start + CHUNK]]
            with transaction.atomic():
                lives.store(self._session, births)
            self._sizes += total(birth.message.sizes for birth in births)
        self._alive += len(numbers)

    def _birth(self, number: int) -> lives.Birth:
        message = with_facts(self._recording.messages[number - 1])
        return lives.Birth(
            message,
            number * PLACES_A_NUMBER,
            self._revision,
            self._turn_of.get(number, 0),
            at=_time(self._recording.times[number - 1]),
        )

    def _revise(self, recorded: RecordedRevision) -> None:
        self._check()
        revision, kind = recorded.revision, recorded.kind
        births = [
            lives.Birth(
                message if message.number <= self._born else with_facts(message),
                place,
                revision.number,
                self._turn_of.get(message.number, 0),
                origin=_origin(message.is_summary, message.replaces, message.number <= self._born),
                stage=kind,
                again=message.number <= self._born,
                at=_time(recorded.at),
            )
            for message, place in revision.begun
        ]
        ends = dict.fromkeys(revision.ended, lives.End(FATES[kind], kind))
        before = self._sizes
        with transaction.atomic():
            gone = lives.revise(
                self._session, revision, cause=CAUSES[kind], ends=ends, births=births
            )
        self._sizes = before - gone + total(birth.message.sizes for birth in births)
        self._changes[revision.number] = (before, self._sizes)
        self._born, self._revision = revision.last_number, revision.number
        self._alive += len(births) - len(revision.ended)

    def _store_turns(self) -> None:
        after = {change.turn: change.after for change in self._recording.compactions}
        StoredTurn.objects.bulk_create(
            [self._turn(turn, after.get(turn.number)) for turn in self._recording.turns],
            batch_size=CHUNK,
        )

    def _turn(self, turn: RecordedTurn, after: int | None) -> StoredTurn:
        row = StoredTurn(
            session=self._session,
            number=turn.number,
            status=turn.status,
            requested_revision=turn.requested.revision,
            requested_number=turn.requested.last_number,
            ended_revision=turn.ended.revision,
            ended_number=turn.ended.last_number,
            usage=asdict(turn.usage) if turn.usage else None,
            action=Trigger.RECORDED if after is not None else "",
            after=after,
            model=shown(turn.model)[:NAME_CHARS],
            profile_version=self._session.profile_version,
            at=_time(turn.at) or timezone.now(),
        )
        self._gauge(row, turn.sizes, turn.usage.prompt if turn.usage else None, turn)
        return row

    def _gauge(
        self,
        row: StoredTurn | AgentSession,
        sizes: Sizes,
        tokens: int | None,
        turn: RecordedTurn | None,
    ) -> None:
        """What the list weighed, against the window of the recorded model; `tokens` are those that
        the provider counted of the turn's request."""
        schemas = measure_schemas(self._recording.tools)
        row.bytes, row.chars, row.estimate = sizes.bytes, sizes.chars, sizes.tokens
        row.breakdown = totals.plain(sizes.breakdown + schemas.breakdown)
        totals.read(row, self._pressure(sizes, schemas))
        if tokens and turn:
            row.tokens, row.tokens_are = tokens, TokenSource.PROVIDER
            row.unseen = max(0, tokens - self._requested(turn) - schemas.tokens)
            row.used = tokens if row.unit == Unit.TOKENS else row.used

    def _requested(self, turn: RecordedTurn) -> int:
        """Tokens of the list that the turn was asked with, by the estimate: without its reply and
        results, as far as they are still in it."""
        if turn.requested.revision != turn.ended.revision:
            return turn.sizes.tokens
        later = self._recording.messages[turn.requested.last_number : turn.ended.last_number]
        return turn.sizes.tokens - sum(message.sizes.tokens for message in later)

    def _pressure(self, sizes: Sizes, schemas: Sizes) -> Pressure:
        profile = self._session.profile_version.value
        window = profile.window_for(self._recording.model)
        return TokenCounter().pressure(
            sizes,
            schemas,
            budget=profile.budget_for(window),
            window=window,
            reserve=profile.reserve_for(window),
            counts_schemas=True,
        )

    def _store_compactions(self) -> None:
        Compaction.objects.bulk_create(
            [
                Compaction(
                    session=self._session,
                    number=number,
                    state=CompactionState.APPLIED,
                    trigger=Trigger.RECORDED,
                    turn=recorded.turn,
                    revision=recorded.revision,
                    before=recorded.before,
                    after=recorded.after,
                    detail=shown(recorded.asked_by),
                    stages=[{"stage": recorded.kind, "freed": recorded.before - recorded.after}],
                    at=_time(recorded.at) or timezone.now(),
                    **self._breakdowns(recorded.revision),
                )
                for number, recorded in enumerate(self._recording.compactions, 1)
            ]
        )

    def _breakdowns(self, revision: int | None) -> dict[str, dict[str, int]]:
        if revision not in self._changes:
            return {}
        before, after = self._changes[revision]
        return {
            "breakdown_before": totals.plain(before.breakdown),
            "breakdown_after": totals.plain(after.breakdown),
        }

    def _close(self) -> None:
        session, recording = self._session, self._recording
        session.last_number = len(recording.messages)
        session.messages_alive = self._alive
        session.revision = self._revision
        session.turns = len(recording.turns)
        session.compactions = session.compaction_number = len(recording.compactions)
        usages = [turn.usage for turn in recording.turns if turn.usage]
        session.spent = asdict(sum(usages, Usage())) if usages else {}
        session.unpriced = len(recording.turns)
        last = recording.turns[-1] if recording.turns else None
        self._gauge(session, self._sizes, provider_tokens(recording), last)
        session.save()


def _origin(is_summary: bool, replaces: int | None, again: bool) -> Origin | None:
    if again:
        return Origin.RESTORED
    if is_summary:
        return Origin.SUMMARY
    return None if replaces is not None else Origin.INJECTED


def _time(text: str | None) -> datetime | None:
    """A recorded time; one without a zone is taken as UTC, one that is none as unknown."""
    try:
        time = parse_datetime(text) if text else None
    except ValueError:
        return None
    return time.replace(tzinfo=UTC) if time and time.tzinfo is None else time
