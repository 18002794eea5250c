"""What the lease holder reads and settles in the rows between two steps of its work."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.utils import timezone

from agentcore.directives import Directives, InstructionKind
from agentcore.directives import Instruction as InstructionValue
from agentcore.events import RunEnd
from agentcore.options import Automatic
from agentcore.profile import Profile
from hermesweb import endpoints, lease, memory
from hermesweb.lease import Lease
from hermesweb.models import AgentSession, InstructionState, ProfileVersion, Status
from hermesweb.recorder import FenceLost, settle

# The kinds that the loop can take so far.
TAKEN = (InstructionKind.MESSAGE, InstructionKind.COMPACT)
# After these ends the queue goes on by itself; after the others a person decides.
GOES_ON = (RunEnd.ANSWERED, RunEnd.STOPPED, RunEnd.LIMIT)


def is_due(session: AgentSession) -> bool:
    """Whether anyone asked for work, or a lost worker left some."""
    return session.run_open or session.status in (*lease.AT_WORK, Status.QUEUED)


def read(held: Lease) -> Directives:
    """What the outside wants now. Raises FenceLost."""
    session = _mine(held)
    return Directives(
        profile=_profile(session, held),
        pins=_pins(session),
        instructions=tuple(
            InstructionValue(row.pk, InstructionKind(row.kind), row.text)
            for row in session.instructions.filter(
                state=InstructionState.QUEUED, kind__in=TAKEN
            ).order_by("id")
        ),
        stop=session.stop_requested,
    )


def check_fence(held: Lease) -> bool:
    """Whether a stop is wanted. Raises FenceLost when another one holds the session."""
    return _mine(held).stop_requested


def renew(held: Lease) -> None:
    if not lease.renew(held):
        raise FenceLost(f"session {held.session_id}: the lease of {held.holder} was taken over")


def remember(held: Lease) -> None:
    """Keep for later sessions what this one came to."""
    session = _mine(held)
    if session.last_number > session.distilled_to:
        entries = memory.distilled(session)
        settle(held.session_id, held.fence, lambda row: memory.store(row, entries))


def leave(held: Lease, end: RunEnd) -> bool:
    """Give the lease back; whether the queue holds more that should be worked on."""
    again = False

    def change(session: AgentSession) -> None:
        nonlocal again
        waiting = session.instructions.filter(state=InstructionState.QUEUED, kind__in=TAKEN)
        again = end in GOES_ON and waiting.exists()
        session.stop_requested = False
        if again:
            session.status, session.asked_at = Status.QUEUED, timezone.now()
        elif session.status in (*lease.AT_WORK, Status.QUEUED):
            session.status = Status.IDLE
        session.holder, session.lease_ends = "", None

    settle(held.session_id, held.fence, change)
    return again


def _mine(held: Lease) -> AgentSession:
    session = AgentSession.objects.filter(pk=held.session_id, fence=held.fence).first()
    if session is None:
        raise FenceLost(f"session {held.session_id}: {held.holder} no longer holds it")
    return session


def _profile(session: AgentSession, held: Lease) -> Profile:
    """The version in force: a session that follows a name takes up its newest one here."""
    version = session.profile_version
    if session.profile and session.profile.current != version:
        version = session.profile.current
        settle(held.session_id, held.fence, lambda row: setattr(row, "profile_version", version))
    profile = _value(version.pk)
    changes: dict[str, Any] = {}
    if profile.window is None:
        changes["window"] = endpoints.given_window(session.model)
    if session.automatic:
        changes["automatic"] = Automatic(session.automatic)
    return profile.replace(**changes) if changes else profile


@lru_cache(maxsize=64)
def _value(version_id: int) -> Profile:
    """A version never changes, so it is checked once a process."""
    return ProfileVersion.objects.get(pk=version_id).value


def _pins(session: AgentSession) -> frozenset[int]:
    pinned = session.messages.filter(pinned=True).values_list("number", "pin_until")
    return frozenset(number for number, until in pinned if not _is_over(until, session.turns))


def _is_over(until: str, turns: int) -> bool:
    """`turn:N` ends with that turn; the other ends do not come by themselves."""
    kind, _, value = until.partition(":")
    return kind == "turn" and value.isdecimal() and turns > int(value)
