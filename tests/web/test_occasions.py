from __future__ import annotations

from typing import Any

import pytest
from builders import LIMIT, a_lease, a_session, said, turn_ended
from scenes import a_talk, compacted

from agentcore.compaction.breaker import Breaker
from agentcore.compaction.result import Failure, Trigger
from agentcore.events import (
    ApprovalWanted,
    Blocked,
    CompactionFailed,
    Event,
    EventKind,
    RunEnd,
    RunEnded,
)
from hermesweb.models import AgentSession
from hermesweb.occasions import Occasion, occasions_of
from hermesweb.recorder import record

pytestmark = pytest.mark.django_db

# The first stage of `small` starts at 0.8 of the limit.
FAR, NEAR = LIMIT // 2, int(LIMIT * 0.8 * 0.95)


def told(session: AgentSession, *events: Event) -> list[list[str]]:
    """The occasions of each event, as its rows have them."""
    before = session.seq
    record(session.pk, a_lease(session).fence, events)
    session.refresh_from_db()
    AgentSession.objects.filter(pk=session.pk).update(holder="", lease_ends=None)
    rows = session.events.filter(seq__gt=before).order_by("seq")
    return [row.data.get("occasions", []) for row in rows]


def filled(turn: int, size: int) -> Event:
    return turn_ended(turn, [said(1, "x" * size)])


def test_near_is_told_once_until_it_was_far_again() -> None:
    session = a_session()
    sizes = (FAR, NEAR, NEAR + 10, FAR, NEAR)
    events = [filled(turn, size) for turn, size in enumerate(sizes, 1)]
    assert told(session, *events) == [[], ["near_threshold"], [], [], ["near_threshold"]]


def test_a_list_without_a_limit_is_near_to_nothing() -> None:
    assert occasions_of(EventKind.TURN_ENDED, {"near": False}) == []


def test_an_applied_compaction_a_blocked_and_an_ended_run_are_occasions() -> None:
    session = a_talk()
    compacted(session)
    row = session.events.get(kind="compaction_ended")
    assert row.data["occasions"] == ["compacted"]
    pressure = turn_ended(1, [said(1, "x")]).pressure
    assert told(session, Blocked(pressure), RunEnded(1, RunEnd.BLOCKED)) == [
        ["blocked"],
        ["run_ended"],
    ]


@pytest.mark.parametrize(("until", "expected"), [(0.0, []), (9e9, ["breaker_open"])])
def test_failed_summaries_are_an_occasion_when_the_breaker_opens(
    until: float, expected: list[str]
) -> None:
    session = a_talk()
    pressure = turn_ended(1, [said(1, "x")]).pressure
    failed = CompactionFailed(
        *(Trigger.THRESHOLD, Failure.TIMEOUT, "late", 1, pressure), breaker=Breaker(3, until)
    )
    assert told(session, failed) == [expected]


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"state": "noop"}, []),
        ({"state": "noop", "thrash": True}, [Occasion.THRASH]),
        ({"state": "applied", "thrash": True}, [Occasion.COMPACTED, Occasion.THRASH]),
    ],
)
def test_a_compaction_that_does_not_help_is_thrash(
    facts: dict[str, Any], expected: list[Occasion]
) -> None:
    assert occasions_of(EventKind.COMPACTION_ENDED, facts) == expected


def test_an_asked_compaction_is_an_occasion_too() -> None:
    pressure = turn_ended(1, [said(1, "x")]).pressure
    assert told(a_talk(), ApprovalWanted("compaction", pressure)) == [["approval_wanted"]]
