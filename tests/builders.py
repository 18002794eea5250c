"""Rows and values that tests of the web side begin with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from agentcore.breakdown import NOTHING, total
from agentcore.compaction.plan import Revision
from agentcore.events import Event, MessageAdded, TurnEnded
from agentcore.messages import Message, born
from agentcore.pressure import Budget, TokenCounter, Unit, window_of
from agentcore.snapshot import Snapshot, State
from hermesweb import lease
from hermesweb.lease import Lease
from hermesweb.models import AgentSession, Profile

LIMIT = 24_000


def a_user(name: str = "ada", **known: Any) -> User:
    return User.objects.create_user(name, password="secret-words", **known)


def a_session(owner: User | None = None, **known: Any) -> AgentSession:
    profile = Profile.objects.get(name=known.pop("profile", "small"))
    known.setdefault("workspace", str(Path(__file__).parent))
    return AgentSession.objects.create(
        owner=owner or User.objects.filter(username="ada").first() or a_user(),
        profile=profile,
        profile_version=profile.current,
        model=known.pop("model", "scripted"),
        limit=known.pop("limit", LIMIT),
        unit=Unit.BYTES,
        **known,
    )


def full(session: AgentSession, **known: Any) -> AgentSession:
    """With these columns, whatever it held."""
    AgentSession.objects.filter(pk=session.pk).update(**known)
    session.refresh_from_db()
    return session


def a_lease(session: AgentSession, holder: str = "test") -> Lease:
    taken = lease.take(session.pk, holder)
    assert taken is not None
    return taken


def said(number: int, text: str, role: str = "user") -> Message:
    return born({"role": role, "content": text}).numbered(number)


def called(number: int, *names: str) -> Message:
    calls = [
        {
            "id": f"call_{number}_{place}",
            "type": "function",
            "function": {"name": name, "arguments": "{}"},
        }
        for place, name in enumerate(names)
    ]
    return born({"role": "assistant", "content": None, "tool_calls": calls}).numbered(number)


def answered(number: int, call_id: str, text: str | list[Any], **known: Any) -> Message:
    value = {"role": "tool", "tool_call_id": call_id, "content": text}
    return born(value, **known).numbered(number)


def added(*messages: Message, turn: int = 0) -> list[Event]:
    return [MessageAdded(message, turn) for message in messages]


def turn_ended(turn: int, messages: Sequence[Message], revision: int = 0) -> TurnEnded:
    """What the loop tells at the end of a turn whose list is `messages`."""
    sizes = total(message.sizes for message in messages)
    window = window_of("scripted", 100_000)
    state = State(revision, messages[-1].number)
    return TurnEnded(
        turn=turn,
        run=1,
        requested=state,
        ended=state,
        sizes=sizes,
        breakdown=sizes.breakdown,
        pressure=TokenCounter().pressure(
            sizes,
            NOTHING,
            budget=Budget(LIMIT, Unit.BYTES),
            window=window,
            reserve=0,
            counts_schemas=False,
        ),
        usage=None,
        estimate=sizes.tokens,
        ratio=1.0,
        request_bytes=0,
        stable_prefix=0,
        break_reason=None,
        seconds=0.5,
        model="scripted",
    )


def revision(number: int, ended: Sequence[int], begun: Sequence[tuple[Message, int]]) -> Revision:
    last = max((message.number for message, _ in begun), default=0)
    return Revision(number, tuple(ended), tuple(begun), last)


def rows_of(snapshot: Snapshot) -> list[tuple[int, int, str]]:
    """Number, place and wire text of each message, in order."""
    placed = zip(snapshot.messages, snapshot.places, strict=True)
    return [(message.number, place, message.wire) for message, place in placed]
