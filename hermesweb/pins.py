"""Which messages of a session are marked."""

from __future__ import annotations

from django.db.models import Q, QuerySet, Sum

from agentcore.messages import Role
from hermesweb.commits import Awaited
from hermesweb.models import AgentSession, StoredMessage

UNTIL_COMMIT = "commit:"


def in_force(session: AgentSession) -> frozenset[int]:
    """Numbers of the pins whose end has not come."""
    pinned = session.messages.filter(pinned=True).values_list("number", "pin_until")
    return frozenset(number for number, until in pinned if not _is_over(until, session.turns))


def awaited(session_id: str) -> frozenset[Awaited]:
    """The commits that pins of a session wait for."""
    waiting = StoredMessage.objects.filter(
        session=session_id, pinned=True, pin_until__startswith=UNTIL_COMMIT
    )
    ends = waiting.values_list("pin_until", "pin_head").distinct()
    return frozenset(Awaited(path_of(until), since) for until, since in ends)


def path_of(until: str) -> str:
    """Whose commit ends the pin; empty for another end."""
    return until.removeprefix(UNTIL_COMMIT) if until.startswith(UNTIL_COMMIT) else ""


def waiting_for(session: AgentSession, one: Awaited) -> QuerySet[StoredMessage]:
    until = f"{UNTIL_COMMIT}{one.path}"
    return session.messages.filter(pinned=True, pin_until=until, pin_head=one.since)


def checkpoints(session: AgentSession) -> frozenset[int]:
    return frozenset(session.messages.filter(checkpoint=True).values_list("number", flat=True))


def bytes_held(session: AgentSession) -> int:
    """Of what the pins keep in the list. A pinned member of a tool group keeps its whole group
    there: those of its turn."""
    pins = session.messages.filter(pinned=True)
    group = (Role.ASSISTANT, Role.TOOL)
    turns = pins.filter(turn__gt=0, role__in=group).values_list("turn", flat=True)
    kept = session.messages.filter(Q(pinned=True) | Q(turn__in=list(turns), role__in=group))
    alive = kept.filter(lives__to_revision=None).distinct()
    return alive.aggregate(sum=Sum("bytes"))["sum"] or 0


def _is_over(until: str, turns: int) -> bool:
    """`turn:N` ends with that turn. A pin whose commit came is taken away, and `session` never
    ends."""
    kind, _, value = until.partition(":")
    return kind == "turn" and value.isdecimal() and turns > int(value)
