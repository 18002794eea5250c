"""The rows of the overview: what each session's row needs, in a fixed number of queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from math import inf
from typing import NamedTuple

from django.db.models import BooleanField, Count, ExpressionWrapper, F, Q, QuerySet, Sum
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from agentcore.compaction.result import CompactionState
from hermesweb import versions
from hermesweb.forecast import pace, turns_to_compaction
from hermesweb.gauge import Gauge, Tick, gauge_of, grouped
from hermesweb.labels import words
from hermesweb.models import (
    AgentSession,
    Compaction,
    ProfileVersion,
    SessionEvent,
    Status,
    StoredTurn,
)
from hermesweb.reading import is_automatic
from hermesweb.sentences import told
from hermesweb.spark import Spark, spark

# Sparklines show this many of the newest turns, the wall so many of the newest sessions.
SPARK_TURNS = 120
MOST_ROWS = 100
# Turns to a compaction that are worth a sentence.
SOON = 2


class Group(StrEnum):
    LIVE = "live"
    NEEDS_YOU = "needs_you"
    DONE = "done"
    ARCHIVED = "archived"


GROUPS: dict[Group, tuple[Status, ...]] = {
    Group.LIVE: (
        Status.QUEUED,
        Status.RUNNING,
        Status.COMPACTING,
        Status.STOPPING,
        Status.FOLLOWING,
    ),
    Group.NEEDS_YOU: (Status.WAITING, Status.BLOCKED, Status.FAILED),
    Group.DONE: (Status.IDLE,),
    Group.ARCHIVED: (Status.ARCHIVED,),
}


class Sort(StrEnum):
    SOONEST = "soonest"
    FULLEST = "fullest"
    NEWEST = "newest"
    TITLE = "title"


@dataclass(frozen=True, slots=True)
class Filters:
    """What of the wall is asked for; without a group all that are not archived."""

    q: str
    group: Group | None
    sort: Sort

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Filters:
        """From a query string; what is not understood has its default."""
        group, sort = query.get("group", ""), query.get("sort", "")
        return cls(
            q=query.get("q", "").strip(),
            group=Group(group) if group in list(Group) else None,
            sort=Sort(sort) if sort in list(Sort) else Sort.SOONEST,
        )

    def groups(self, sessions: QuerySet[AgentSession]) -> list[tuple[str, str, int, bool]]:
        """(query value, name, count, chosen) of each group that one can choose."""
        counts = _counts(sessions)
        every = sum(count for group, count in counts.items() if group is not Group.ARCHIVED)
        offered = [("", _("All"), every, self.group is None)]
        for group, count in counts.items():
            if count or group is not Group.ARCHIVED:
                offered.append((group, capfirst(words(group)), count, self.group is group))
        return offered


@dataclass(frozen=True, slots=True)
class Row:
    """`fault`: why its profile is refused; `left`: turns to the next compaction, None when that
    cannot be known; `grows`: what a turn added lately, in the limit's unit, None where nothing did;
    `freed` in bytes."""

    session: AgentSession
    fault: str
    gauge: Gauge
    spark: Spark
    left: int | None
    grows: int | None
    freed: int
    last_kind: str
    last_at: datetime | None

    @property
    def group(self) -> Group:
        return next(name for name, members in GROUPS.items() if self.session.status in members)

    @property
    def grown(self) -> int:
        return -self.freed

    @property
    def is_live(self) -> bool:
        return self.group is Group.LIVE

    @property
    def is_soon(self) -> bool:
        return self.is_live and self.left is not None and self.left <= SOON


class Step(NamedTuple):
    """A turn; `alike`: the list only grew since, and the scale is the same."""

    number: int
    used: int
    alike: bool


def found(sessions: QuerySet[AgentSession], q: str) -> QuerySet[AgentSession]:
    """Those whose title, model, profile or workspace holds each word of `q`."""
    for word in q.split():
        sessions = sessions.filter(
            Q(title__icontains=word)
            | Q(model__icontains=word)
            | Q(workspace__icontains=word)
            | Q(profile_version__profile__name__icontains=word)
        )
    return sessions


def in_group(sessions: QuerySet[AgentSession], group: Group | None) -> QuerySet[AgentSession]:
    """Those of one group; without one all that are not archived."""
    if group is None:
        return sessions.exclude(status=Status.ARCHIVED)
    return sessions.filter(status__in=GROUPS[group])


def rows(sessions: QuerySet[AgentSession], sort: Sort) -> list[Row]:
    """The newest of these, in the order asked for."""
    newest = sessions.select_related("profile_version__profile").order_by("-changed_at")
    return _sorted(_rows(list(newest[:MOST_ROWS])), sort)


def row(session: AgentSession) -> Row:
    return _rows([session])[0]


def _rows(newest: Sequence[AgentSession]) -> list[Row]:
    turns = _turns(newest)
    events = _last_events(newest)
    cuts, freed = _compactions(newest)
    in_force = versions.in_force(newest)
    return [
        _row(
            session,
            in_force[session.pk],
            turns=turns[session.pk],
            cuts=cuts[session.pk],
            freed=freed[session.pk],
            last=events.get(session.pk),
        )
        for session in newest
    ]


def _counts(sessions: QuerySet[AgentSession]) -> dict[Group, int]:
    by_status = dict(sessions.values_list("status").annotate(count=Count("pk")).order_by())
    return {
        group: sum(by_status.get(status, 0) for status in members)
        for group, members in GROUPS.items()
    }


def _turns(sessions: Iterable[AgentSession]) -> dict[str, list[Step]]:
    """Of each session's newest turns, oldest first."""
    found: dict[str, list[Step]] = defaultdict(list)
    recent = StoredTurn.objects.filter(
        session__in=sessions, number__gt=F("session__turns") - SPARK_TURNS
    )
    alike = Q(
        ended_revision=F("session__revision"), unit=F("session__unit"), limit=F("session__limit")
    )
    told = recent.annotate(alike=ExpressionWrapper(alike, BooleanField())).order_by("number")
    for session_id, *step in told.values_list("session_id", "number", "used", "alike"):
        found[session_id].append(Step(*step))
    return found


def _last_events(sessions: Iterable[AgentSession]) -> dict[str, SessionEvent]:
    events = SessionEvent.objects.filter(session__in=sessions, seq=F("session__seq"))
    return {event.session_id: event for event in events.only("session_id", "kind", "at")}


def _compactions(
    sessions: Iterable[AgentSession],
) -> tuple[dict[str, set[int]], dict[str, int]]:
    """The turns after which each session was compacted, and the bytes that all of it freed."""
    cuts: dict[str, set[int]] = defaultdict(set)
    freed: dict[str, int] = defaultdict(int)
    applied = Compaction.objects.filter(session__in=sessions, state=CompactionState.APPLIED)
    for session_id, turn, gain in applied.values_list("session_id", "turn").annotate(
        gain=Sum(F("before") - F("after"))
    ):
        cuts[session_id].add(turn)
        freed[session_id] += gain or 0
    return cuts, freed


def _row(
    session: AgentSession,
    version: ProfileVersion,
    *,
    turns: Sequence[Step],
    cuts: set[int],
    freed: int,
    last: SessionEvent | None,
) -> Row:
    drawn = gauge_of(session, version, breakdown=grouped(session.breakdown))
    used = [turn.used for turn in turns]
    tick = drawn.next_tick
    return Row(
        session=session,
        fault=told(version.fault),
        gauge=drawn,
        spark=spark(
            used,
            ceiling=session.limit or None,
            threshold=tick.value if tick else None,
            compacted=[place for place, turn in enumerate(turns) if turn.number - 1 in cuts],
        ),
        left=_left(session, version, tick, turns),
        grows=_grows(turns),
        freed=freed,
        last_kind=last.kind if last else "",
        last_at=last.at if last else None,
    )


def _left(
    session: AgentSession, version: ProfileVersion, tick: Tick | None, turns: Sequence[Step]
) -> int | None:
    """To the next threshold, as the session's own page says it; 0 when all are passed."""
    if not is_automatic(session, version) or not session.limit:
        return None
    if tick is None:
        return 0
    return turns_to_compaction([turn.used for turn in turns if turn.alike], tick.value)


def _grows(turns: Sequence[Step]) -> int | None:
    """As the session's own page says its pace."""
    growth = pace([turn.used for turn in turns if turn.alike])
    return round(growth) if growth and growth > 0 else None


def _sorted(made: list[Row], sort: Sort) -> list[Row]:
    match sort:
        case Sort.SOONEST:
            made.sort(key=lambda row: (not row.is_live, inf if row.left is None else row.left))
        case Sort.FULLEST:
            made.sort(key=lambda row: -(row.gauge.pressure or 0.0))
        case Sort.TITLE:
            made.sort(key=lambda row: str(row.session).casefold())
    return made
