"""Which messages of a session are marked."""

from __future__ import annotations

from django.db.models import Q, Sum

from agentcore.messages import Role
from hermesweb.models import AgentSession


def in_force(session: AgentSession) -> frozenset[int]:
    """Numbers of the pins whose end has not come."""
    pinned = session.messages.filter(pinned=True).values_list("number", "pin_until")
    return frozenset(number for number, until in pinned if not _is_over(until, session.turns))


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
    """`turn:N` ends with that turn; the other ends do not come by themselves."""
    kind, _, value = until.partition(":")
    return kind == "turn" and value.isdecimal() and turns > int(value)
