"""Recorded sessions for page tests: a talk of any length, and one that was compacted."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from builders import a_lease, a_session, added, answered, called, said, turn_ended
from django.contrib.auth.models import User
from django.test import Client

from agentcore.compaction.asked import CompactionOptions
from agentcore.compaction.plan import (
    Birth,
    CompactionPlan,
    Fate,
    Origin,
    Removal,
    apply_plan,
    runs_of,
)
from agentcore.compaction.result import CompactionResult, StageReport, Trigger
from agentcore.events import CompactionEnded, RunEnd, RunEnded
from agentcore.messages import Message, born
from hermesweb import lease
from hermesweb.lives import snapshot_of
from hermesweb.models import AgentSession
from hermesweb.planning import planned
from hermesweb.recorder import record

HTMX = {"HX-Request": "true"}


def messages_of(count: int, text: str = "x" * 400) -> list[Message]:
    """A system message, an instruction, then calls each with one result."""
    made = [said(1, "Be careful.", "system"), said(2, "Fix the parser.")]
    while len(made) < count:
        number = len(made) + 1
        made.append(called(number, "read_file"))
        made.append(answered(number + 1, f"call_{number}_0", text, tool="read_file"))
    return made[:count]


def a_talk(
    owner: User | None = None, count: int = 8, *, text: str = "x" * 400, **known: Any
) -> AgentSession:
    """A session with `count` messages; each two from the third on are a turn."""
    return _recorded(a_session(owner, **known), messages_of(count, text))


def a_talk_of(owner: User, *messages: Message, **known: Any) -> AgentSession:
    return _recorded(a_session(owner, **known), list(messages))


def compacted(
    session: AgentSession,
    *,
    start: int = 2,
    stop: int = 6,
    pinned: tuple[int, ...] = (),
    note: str = "[Messages omitted; reference only]\nfour messages",
) -> int:
    """Rows `start` to `stop` become a note, but for pinned numbers; the compaction's number."""
    before = snapshot_of(session)
    gone = [row for row in range(start, stop) if before.messages[row].number not in pinned]
    stands_for = runs_of([before.messages[row].number for row in gone])
    plan = CompactionPlan(
        before.state,
        tuple(Removal(row, row + 1, Fate.SUMMARIZED, "keep_recent") for row in gone),
        (
            Birth(
                start,
                born({"role": "system", "content": note}, stands_for=stands_for),
                Origin.NOTE,
                "keep_recent",
            ),
        ),
    )
    after, revision = apply_plan(plan, before)
    freed = before.sizes.bytes - after.sizes.bytes
    stages = (StageReport("keep_recent", freed),)
    result = CompactionResult(before, after, Trigger.THRESHOLD, plan, revision, stages)
    pressures = [turn_ended(1, one.messages).pressure for one in (before, after)]
    held = a_lease(session)
    record(
        session.pk,
        held.fence,
        [CompactionEnded(result, pressures[0], pressures[1], session.turns, 0.1)],
    )
    lease.release(held)
    session.refresh_from_db()
    return session.compaction_number


def compacted_by(session: AgentSession, **options: Any) -> int:
    """Compacted for real, as a person asks for it; the compaction's number."""
    plan = planned(session, CompactionOptions(**options))
    assert plan.result.changed
    held = a_lease(session)
    ended = CompactionEnded(plan.result, plan.before, plan.after, session.turns, 0.1)
    record(session.pk, held.fence, [ended])
    lease.release(held)
    session.refresh_from_db()
    return session.compaction_number


def later(session: AgentSession, *messages: Message) -> None:
    """More messages, in the next turn."""
    held = a_lease(session)
    turn = session.turns + 1
    record(
        session.pk,
        held.fence,
        [*added(*messages, turn=turn), turn_ended(turn, messages, session.revision)],
    )
    lease.release(held)
    session.refresh_from_db()


def cut_result(number: int, call_id: str, kept: str, original: int) -> Message:
    return answered(number, call_id, kept, tool="run_command", original=original)


def html_of(client: Client, path: str, *, htmx: bool = False) -> str:
    response = client.get(path, headers=HTMX if htmx else {})
    assert response.status_code == 200, response.content[:500]
    return response.content.decode()


def words_of(html: str) -> str:
    """What is read: without tags, spaces made one."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def _recorded(session: AgentSession, messages: list[Message]) -> AgentSession:
    held = a_lease(session)
    events: list[Any] = added(*messages[:2])
    turns = [messages[at : at + 2] for at in range(2, len(messages), 2)]
    for turn, born_then in enumerate(turns, 1):
        events += added(*born_then, turn=turn)
        events.append(turn_ended(turn, messages[: born_then[-1].number]))
    events.append(RunEnded(1, RunEnd.ANSWERED))
    record(session.pk, held.fence, events)
    lease.release(held)
    session.refresh_from_db()
    return session
