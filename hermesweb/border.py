"""What the lease holder reads and settles in the rows between two steps of its work."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from agentcore.compaction.plan import Revision
from agentcore.directives import Directives, InstructionKind
from agentcore.errors import StalePlan
from agentcore.events import Erased, RunEnd
from agentcore.options import Automatic
from agentcore.profile import Profile
from hermesweb import approvals, endpoints, erasing, lease, memory, pins, spending, wishes
from hermesweb.lease import Lease
from hermesweb.models import AgentSession, InstructionState, ProfileVersion, Status
from hermesweb.recorder import FenceLost, record, settle

# After these ends the queue goes on by itself; after the others a person decides.
GOES_ON = (RunEnd.ANSWERED, RunEnd.STOPPED, RunEnd.LIMIT)


def is_due(session: AgentSession) -> bool:
    """Whether anyone asked for work, or a lost worker left some; while it waits for a person a run
    needs none."""
    if session.status == Status.WAITING:
        return False
    return session.run_open or session.status in (*lease.AT_WORK, Status.QUEUED)


def read(held: Lease, mode: str = "") -> Directives:
    """What the outside wants now. Raises FenceLost, and StalePlan when `mode` is given and no
    longer that of the session."""
    session = _mine(held)
    if mode and session.mode != mode:
        raise StalePlan(f"the mode is {session.mode} now, no longer {mode}: its tools are others")
    profile = _profile(session, held)
    questions = approvals.open_questions(session)
    return Directives(
        profile=profile,
        pins=pins.in_force(session),
        checkpoints=pins.checkpoints(session),
        instructions=tuple(wishes.wish_of(session, row) for row in wishes.queued(session)),
        stop=session.stop_requested,
        # A hold that growth ends is told as such; the others end by a person's word.
        hold=session.thrash or (session.hold and not session.hold_until),
        hold_until=session.hold_until if session.hold else 0,
        rests=rests(session),
        compaction_allowed=approvals.allowed(questions),
        asked=approvals.asked(questions),
        summaries=spending.of_summaries(session) if profile.ceilings.cost else Decimal(0),
    )


def workspace(held: Lease) -> Path:
    return Path(_mine(held).workspace)


def rests(session: AgentSession) -> bool:
    """Whether the last run ended and nobody resumed it or said more: then only what is wished of
    the list is done."""
    if session.run_open or not session.run_end:
        return False
    said = session.instructions.filter(kind=InstructionKind.MESSAGE)
    return not said.filter(state=InstructionState.QUEUED).exists()


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


def leave(held: Lease, end: RunEnd | None) -> tuple[bool, int]:
    """Give the lease back; whether the queue holds more that should be worked on, and the `seq` of
    what was still erased, or 0. Without an end the run waits for a person."""
    with transaction.atomic():
        seq = erase_waiting(held)
        return _leave(held, end), seq


def release(held: Lease) -> None:
    """Give back a lease that nothing was to be done with, but for what waits to be erased."""
    with suppress(FenceLost), transaction.atomic():
        erase_waiting(held)
        lease.release(held)


def erase_waiting(held: Lease) -> int:
    """What a person wants erased and no border took, since the run ended before or never began;
    the last `seq`, or 0. No Agent may hold the list any more."""
    rows = AgentSession.objects.select_for_update()
    session = rows.filter(pk=held.session_id, fence=held.fence).first()
    if session is None:
        raise _lost(held)
    events = [
        Erased(
            asked.options["numbers"][0],
            Revision(session.revision + place, (), (), session.last_number),
            asked.pk,
        )
        for place, asked in enumerate(erasing.waiting(session), 1)
    ]
    return record(session.pk, held.fence, events) if events else 0


def _leave(held: Lease, end: RunEnd | None) -> bool:
    again = False

    def change(session: AgentSession) -> None:
        nonlocal again
        again = end in GOES_ON and wishes.queued(session).exists()
        session.stop_requested = end is None and session.stop_requested
        if session.stop_requested:
            again = True
            session.status, session.asked_at = Status.STOPPING, timezone.now()
        elif end is None and approvals.pending(session).exists():
            session.status = Status.WAITING
        elif again or end is None:
            again = True
            session.status, session.asked_at = Status.QUEUED, timezone.now()
        elif session.status in (*lease.AT_WORK, Status.QUEUED):
            session.status = Status.IDLE
        session.holder, session.lease_ends = "", None

    settle(held.session_id, held.fence, change)
    return again


def _mine(held: Lease) -> AgentSession:
    session = AgentSession.objects.filter(pk=held.session_id, fence=held.fence).first()
    if session is None:
        raise _lost(held)
    return session


def _lost(held: Lease) -> FenceLost:
    return FenceLost(f"session {held.session_id}: {held.holder} no longer holds it")


def _profile(session: AgentSession, held: Lease) -> Profile:
    """The version in force: a session that follows a name takes up its newest one here."""
    version = session.version_in_force
    if session.profile_version != version:
        settle(held.session_id, held.fence, lambda row: _follow(row, version))
        _follow(session, version)
    profile = _value(version.pk)
    changes: dict[str, Any] = {}
    if profile.window is None:
        changes["window"] = endpoints.given_window(session.model)
    if session.automatic:
        changes["automatic"] = Automatic(session.automatic)
    return profile.replace(**changes) if changes else profile


def _follow(row: AgentSession, version: ProfileVersion) -> None:
    """What compacting came to under the earlier values says nothing of these."""
    row.profile_version = version
    row.thrash = False


@lru_cache(maxsize=64)
def _value(version_id: int) -> Profile:
    """A version never changes, so it is checked once a process."""
    return ProfileVersion.objects.get(pk=version_id).value
