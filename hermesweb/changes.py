"""What a change of the list comes to in rows, with the session's row locked."""

from __future__ import annotations

from collections.abc import Mapping

from agentcore.breakdown import total
from agentcore.compaction.plan import CompactionPlan, Origin, Revision
from agentcore.errors import StalePlan
from agentcore.events import EventKind
from agentcore.snapshot import Snapshot
from hermesweb import lives, pins, totals
from hermesweb.models import AgentSession


def by_plan(
    session: AgentSession,
    before: Snapshot,
    plan: CompactionPlan,
    revision: Revision,
    *,
    cause: EventKind,
) -> None:
    """Messages with a number of their own come back; the others are new."""
    ends = {
        message.number: lives.End(cut.fate, cut.stage)
        for cut in plan.removals
        for message in before.messages[cut.start : cut.stop]
    }
    births = [
        lives.Birth(
            message,
            place,
            revision.number,
            origin=birth.origin,
            stage=birth.stage,
            again=bool(birth.message.number),
        )
        for birth, (message, place) in zip(plan.births, revision.begun, strict=True)
    ]
    _write(session, revision, cause, ends, births)


def rebuilt(session: AgentSession, revision: Revision, *, cause: EventKind, end: lives.End) -> None:
    """A change whose plan the event does not carry: what stands for nothing was added."""
    births = [
        lives.Birth(
            message,
            place,
            revision.number,
            origin=None if message.replaces is not None else Origin.INJECTED,
            stage=end.stage,
        )
        for message, place in revision.begun
    ]
    _write(session, revision, cause, dict.fromkeys(revision.ended, end), births)


def check_pins(session: AgentSession, revision: Revision) -> None:
    """A pin that was set while the plan was made counts as well. Raises StalePlan."""
    if taken := sorted(pins.in_force(session) & set(revision.ended)):
        raise StalePlan(f"messages {taken} were pinned meanwhile: compute the plan again")


def _write(
    session: AgentSession,
    revision: Revision,
    cause: EventKind,
    ends: Mapping[int, lives.End],
    births: list[lives.Birth],
) -> None:
    gone = lives.revise(session, revision, cause=cause, ends=ends, births=births)
    totals.weigh(session, gone, -1)
    totals.weigh(session, total(birth.message.sizes for birth in births))
    session.over_budget = session.over_budget and session.used > session.limit
    session.messages_alive += len(births) - len(revision.ended)
    session.revision, session.last_number = revision.number, revision.last_number
