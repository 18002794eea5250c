"""What the session page says of the next request: how full, what fills it, what comes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentcore.breakdown import Category
from agentcore.events import EventKind, RunEnd
from agentcore.options import Automatic
from agentcore.pressure import Unit
from hermesweb import acts, lease, steering, totals
from hermesweb.forecast import (
    PACE_TURNS,
    Burst,
    Growth,
    Point,
    burst,
    growth,
    pace,
    turns_to_compaction,
)
from hermesweb.gauge import Gauge, Tick, gauge_of, shares
from hermesweb.models import AgentSession, ProfileVersion, SessionKind, Status
from hermesweb.sentences import told

# Of what grew, less is not worth a line.
SHOWN_SHARE = 0.02
NEWEST_EVENTS = 50
BUSY = (*lease.AT_WORK, Status.QUEUED, Status.WAITING)
TURN_BORDERS = (EventKind.REQUEST_RETRIED, EventKind.TURN_ENDED, EventKind.RUN_STARTED)
# What may let a profile free more, or shows that it just did.
ROOM = (
    *(EventKind.OVER_BUDGET, EventKind.COMPACTION_ENDED, EventKind.COMPACTION_FAILED),
    *(EventKind.MESSAGE_ADDED, EventKind.SYSTEM_REBUILT, EventKind.MEMORY_INJECTED),
    *(EventKind.REPAIRED, EventKind.ERASED, EventKind.EXCLUDED, EventKind.RESTORED),
    *(EventKind.TOPIC_STARTED, EventKind.UNDONE, EventKind.PROFILE_CHANGED),
    *(EventKind.PINNED, EventKind.UNPINNED, EventKind.CHECKPOINT_SET),
)


@dataclass(frozen=True, slots=True)
class Reading:
    """`pace` is what a turn added lately, in the limit's unit, `growth` the same by category;
    `turns_left` None where it cannot be said; `uncounted` are bytes of tool schemas that the
    profile leaves out of the pressure; `turns` the session's; `breaker_seconds` how long no summary
    is asked for; `spent`, `held_until` and `chosen` as the functions say; `starts_with`: the
    threshold because of which the next run compacts before its first request; `fault`: why the
    profile is refused, so that nothing runs."""

    gauge: Gauge
    shares: list[tuple[str, int, float]]
    pace: float | None
    growth: list[Growth]
    burst: Burst | None
    turns: int
    turns_left: int | None
    automatic: bool
    pinned: int
    uncounted: int
    breaker_seconds: int
    spent: bool
    held_until: int | None
    chosen: str
    starts_with: Tick | None
    fault: str

    @property
    def next(self) -> Tick | None:
        return self.gauge.next_tick

    @property
    def passed(self) -> Tick | None:
        """The highest threshold that is reached."""
        reached = _reached(self.gauge)
        return reached[-1] if reached else None

    @property
    def grows(self) -> int | None:
        """The pace in whole units, where the list grows."""
        return round(self.pace) if self.pace and self.pace > 0 else None

    @property
    def due(self) -> int | None:
        """The turn after which the next compaction is likely."""
        return self.turns + self.turns_left if self.turns_left else None

    @property
    def shown_growth(self) -> list[Growth]:
        return [one for one in self.growth if one.share >= SHOWN_SHARE]

    @property
    def left(self) -> int | None:
        return self.next.value - self.gauge.used if self.next else None


def read(session: AgentSession, version: ProfileVersion) -> Reading:
    profile, parts = version.readable, dict(session.breakdown)
    counted = profile is None or totals.counts_schemas(session, profile)
    uncounted = 0 if counted else parts.pop(Category.TOOL_SCHEMAS, 0)
    pins = session.messages.filter(pinned=True, lives__to_revision=None).distinct()
    pinned = list(pins.values_list("categories", flat=True))
    gauge = gauge_of(
        session,
        version,
        pinned=sum((Counter(part) for part in pinned), Counter()),
        floor=_floor(session, sum(parts.values()), uncounted),
        breakdown=parts,
    )
    points = _since_compaction(session)
    used = [point.used for point in points]
    automatic, spent = is_automatic(session, version), is_spent(session)
    starts_with = _reached(gauge)[:1] if automatic and not (spent or session.run_open) else []
    return Reading(
        gauge=gauge,
        shares=shares(gauge.segments),
        pace=pace(used),
        growth=growth(points),
        burst=burst(points),
        turns=session.turns,
        turns_left=_turns_left(used, gauge) if automatic and not starts_with else None,
        automatic=automatic,
        pinned=len(pinned),
        uncounted=uncounted,
        breaker_seconds=steering.breaker_seconds(session),
        spent=spent,
        held_until=held_until(session, version),
        chosen=chosen(session, version),
        starts_with=starts_with[0] if starts_with else None,
        fault=told(version.fault),
    )


def chosen(session: AgentSession, version: ProfileVersion) -> str:
    """Whether compactions are automatic by the session, else by its profile; empty where that is
    refused."""
    by_profile = version.readable.automatic if version.readable else ""
    return session.automatic or by_profile


def is_automatic(session: AgentSession, version: ProfileVersion) -> bool:
    """Whether thresholds start compactions as things stand."""
    stopped = session.thrash or held_until(session, version) is not None or version.fault
    is_on = chosen(session, version) == Automatic.ON
    return is_on and not stopped and session.kind == SessionKind.RUN


def held_until(session: AgentSession, version: ProfileVersion) -> int | None:
    """How much has to be used until a hold lets thresholds compact, 0 where a person has to resume;
    None where no hold changes when that comes."""
    profile = version.readable
    if profile is None or not session.hold or session.kind != SessionKind.RUN:
        return None
    if chosen(session, version) == Automatic.OFF:
        return None
    first = profile.threshold(profile.stages[0]) * session.limit
    if session.used < first and 0 < session.hold_until <= first:
        return None
    return session.hold_until


def can_stop(session: AgentSession) -> bool:
    return session.status in BUSY and not session.stop_requested


def can_steer(session: AgentSession) -> bool:
    """Whether instructions and compactions are taken at all."""
    return session.kind == SessionKind.RUN and session.status != Status.ARCHIVED


def settles(session: AgentSession) -> bool:
    """Whether a worker has something to do besides a run, whose end would be told."""
    return not session.run_open and session.status in (*lease.AT_WORK, Status.QUEUED)


def resumes(session: AgentSession, version: ProfileVersion) -> str:
    """What may be gone on with: `run`, `compaction` (also of a run at work), or nothing."""
    if not can_steer(session) or session.status == Status.WAITING:
        return ""
    unanswered = session.run_open or session.run_end not in ("", RunEnd.ANSWERED)
    if session.status not in BUSY and unanswered:
        return "run"
    held = session.thrash or held_until(session, version) is not None
    return "compaction" if held else ""


def is_spent(session: AgentSession) -> bool:
    """Whether the last automatic attempt, over the budget, could free nothing of this very list,
    under this profile and these pins."""
    if not session.over_budget:
        return False
    newest = session.events.filter(seq__gt=session.seq - NEWEST_EVENTS, kind__in=ROOM)
    kinds = list(newest.order_by("-seq").values_list("kind", flat=True)[:2])
    did = (EventKind.COMPACTION_ENDED, EventKind.COMPACTION_FAILED)
    return kinds[:1] == [EventKind.OVER_BUDGET] and not set(kinds[1:]) & set(did)


def _floor(session: AgentSession, counted: int, uncounted: int) -> int | None:
    """What no compaction can free, in the limit's unit, by its share of the bytes."""
    if not counted:
        return None
    unseen = session.unseen if session.unit == Unit.TOKENS else 0
    held = (session.used - unseen) * (acts.floor(session) - uncounted) / counted
    return unseen + round(held)


def _since_compaction(session: AgentSession) -> list[Point]:
    """Oldest first, while the list only grew and the scale was the same."""
    turns = session.stored_turns.filter(
        ended_revision=session.revision, unit=session.unit, limit=session.limit
    )
    newest = turns.order_by("-number").values_list("number", "used", "breakdown")[:PACE_TURNS]
    return [Point(*row) for row in newest][::-1]


def _reached(gauge: Gauge) -> list[Tick]:
    return [tick for tick in gauge.ticks if gauge.used >= tick.value]


def _turns_left(used: list[int], gauge: Gauge) -> int | None:
    if not gauge.next_tick:
        return None
    return turns_to_compaction(used, gauge.next_tick.value) or None


def retried(session: AgentSession) -> Mapping[str, Any] | None:
    """Why the request of the turn that is under way was asked again, the newest time; None where it
    was not. Of the newest events alone, so that the page costs the same however long the session.
    """
    if not session.run_open:
        return None
    newest = session.events.filter(seq__gt=session.seq - NEWEST_EVENTS, kind__in=TURN_BORDERS)
    last = newest.order_by("-seq").first()
    return last.data if last and last.kind == EventKind.REQUEST_RETRIED else None
