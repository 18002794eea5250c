"""Which messages of a session are marked."""

from __future__ import annotations

from hermesweb.models import AgentSession


def in_force(session: AgentSession) -> frozenset[int]:
    """Numbers of the pins whose end has not come."""
    pinned = session.messages.filter(pinned=True).values_list("number", "pin_until")
    return frozenset(number for number, until in pinned if not _is_over(until, session.turns))


def checkpoints(session: AgentSession) -> frozenset[int]:
    return frozenset(session.messages.filter(checkpoint=True).values_list("number", flat=True))


def _is_over(until: str, turns: int) -> bool:
    """`turn:N` ends with that turn; the other ends do not come by themselves."""
    kind, _, value = until.partition(":")
    return kind == "turn" and value.isdecimal() and turns > int(value)
