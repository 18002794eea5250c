"""The only writer of session rows after creation: what happened, in one transaction with its `seq`.

The first statement of each transaction takes the numbers and, with them, the lock of the session's
row, so that the order of commits is the order of `seq` on every database.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

from django.db import transaction
from django.db.models import F
from django.http import Http404
from django.utils import timezone

from agentcore.events import Event, EventKind
from hermesweb import attempts, bodies, webhooks
from hermesweb.batch import Batch
from hermesweb.models import AgentSession, SessionEvent
from hermesweb.occasions import occasions_of
from hermesweb.shown import shown

# Messages that one event names.
TOLD_NUMBERS = 100


class FenceLost(Exception):
    """Another holder took the session over; what came after that is not written."""


class NoSuchSession(Http404):
    """The session was deleted: also what a page or a call about it answers."""


def record(session_id: str, fence: int, events: Sequence[Event]) -> int:
    """Write a batch; its last `seq`. Raises FenceLost when the fencing number is an old one."""
    proof = attempts.verified(events)
    with transaction.atomic():
        session = _advance(session_id, len(events), fence)
        batch = Batch(session, events, proof)
        facts = [batch.take(event) for event in events]
        batch.flush()
        _tell(session, [(event.kind, told) for event, told in zip(events, facts, strict=True)])
        session.save()
        return session.seq


def record_flag(
    session_id: str, kind: EventKind, change: Callable[[AgentSession], Mapping[str, Any]]
) -> int:
    """Write what a person set, with its event, or several where it names too many messages for one.
    `change` alters the locked row and its neighbours and returns the facts; what it raises undoes
    all of it."""
    with transaction.atomic():
        session = _advance(session_id, 0)
        told = _parts(kind, change(session))
        session.seq += len(told)
        _tell(session, [(kind, facts) for facts in told])
        session.save()
        return session.seq


def locked(session_id: str) -> AgentSession:
    """Its row as it is now, locked until the caller's transaction ends. Raises NoSuchSession."""
    row = AgentSession.objects.select_for_update().filter(pk=session_id).first()
    if row is None:
        raise _deleted(session_id)
    return row


def settle(
    session_id: str,
    fence: int,
    change: Callable[[AgentSession], None],
    *,
    quietly: bool = False,
) -> None:
    """Change columns that no event tells of, as the lease holder, or `quietly`, so that the session
    does not count as changed."""
    with transaction.atomic():
        session = _advance(session_id, 0, fence, quietly=quietly)
        change(session)
        session.save()


def remove(session: AgentSession) -> None:
    """Delete a session and the bodies that nothing else refers to. Its audit chain stays."""
    with transaction.atomic():
        pairs = session.messages.values_list("body_id", "captured_id").iterator()
        held = [key for key in chain.from_iterable(pairs) if key]
        session.lives.all().delete()
        # Without the texts: a long session's need not pass through memory to be deleted.
        session.messages.only("pk").delete()
        session.delete()
        bodies.release(held)


def _advance(
    session_id: str, count: int, fence: int | None = None, *, quietly: bool = False
) -> AgentSession:
    rows = AgentSession.objects.filter(pk=session_id)
    if fence is not None:
        rows = rows.filter(fence=fence)
    changed = F("changed_at") if quietly else timezone.now()
    if not rows.update(seq=F("seq") + count, changed_at=changed):
        if fence is not None and AgentSession.objects.filter(pk=session_id).exists():
            raise FenceLost(f"session {session_id}: fencing number {fence} is no longer in force")
        raise _deleted(session_id)
    return AgentSession.objects.get(pk=session_id)


def _parts(kind: EventKind, facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Every flag that is set is told, and each event stays small."""
    if kind not in (EventKind.PINNED, EventKind.UNPINNED):
        return [facts]
    numbers, step = facts["numbers"], TOLD_NUMBERS
    starts = range(0, len(numbers), step)
    return [{**facts, "numbers": numbers[start : start + step]} for start in starts]


def _deleted(session_id: str) -> NoSuchSession:
    return NoSuchSession(f"there is no session {session_id}: it was deleted")


def _tell(session: AgentSession, told: Sequence[tuple[EventKind, Mapping[str, Any]]]) -> None:
    first = session.seq - len(told) + 1
    events = [
        SessionEvent(session=session, seq=seq, kind=kind, data=_data(kind, facts))
        for seq, (kind, facts) in enumerate(told, first)
    ]
    SessionEvent.objects.bulk_create(events)
    webhooks.tell(session, events)


def _data(kind: EventKind, facts: Mapping[str, Any]) -> dict[str, Any]:
    occasions = occasions_of(kind, facts)
    return shown({**facts, "occasions": occasions} if occasions else facts)
