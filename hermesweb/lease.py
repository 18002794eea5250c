"""One holder per session: a conditional change of its row. Each new holder gets the next fencing
number; what an earlier one still writes is refused by it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from agentcore.directives import InstructionKind
from hermesweb.models import AgentSession, Instruction, InstructionState, Status

# With the sweep every 5 s, work that was lost goes on within 20 s.
SECONDS = 12
RENEW_SECONDS = 4
# A task that was asked for and did not begin within this time is lost.
LOST_SECONDS = 8
AT_WORK = (Status.RUNNING, Status.COMPACTING, Status.STOPPING)


@dataclass(frozen=True, slots=True)
class Lease:
    session_id: str
    holder: str
    fence: int


def take(session_id: str, holder: str) -> Lease | None:
    """The lease, or None while someone else holds one that has not ended."""
    now = timezone.now()
    free = Q(holder="") | Q(lease_ends__lt=now)
    taken = AgentSession.objects.filter(free, pk=session_id).update(
        holder=holder, lease_ends=now + timedelta(seconds=SECONDS), fence=F("fence") + 1
    )
    if not taken:
        return None
    # A holder that took it since has another name, so this finds nothing then.
    fence = AgentSession.objects.filter(pk=session_id, holder=holder).values_list("fence").first()
    return Lease(session_id, holder, fence[0]) if fence else None


def renew(lease: Lease) -> bool:
    """False when another one holds the session."""
    return bool(_mine(lease).update(lease_ends=timezone.now() + timedelta(seconds=SECONDS)))


def release(lease: Lease) -> bool:
    return bool(_mine(lease).update(holder="", lease_ends=None))


def lost() -> list[str]:
    """Sessions at work whose holder has vanished, queued ones whose task has, and those where a
    text waits to be erased. Each is named once in a while, so that a busy worker does not find the
    same hint many times."""
    now = timezone.now()
    free = Q(lease_ends=None) | Q(lease_ends__lt=now)
    asked = Q(asked_at=None) | Q(asked_at__lt=now - timedelta(seconds=LOST_SECONDS))
    erasures = Instruction.objects.filter(kind=InstructionKind.ERASE, state=InstructionState.QUEUED)
    owed = Q(status__in=(*AT_WORK, Status.QUEUED)) | Q(pk__in=erasures.values("session"))
    rows = AgentSession.objects.filter(free, asked, owed)
    ids = list(rows.values_list("pk", flat=True))
    AgentSession.objects.filter(pk__in=ids).update(asked_at=now)
    return ids


def _mine(lease: Lease) -> QuerySet[AgentSession]:
    return AgentSession.objects.filter(pk=lease.session_id, holder=lease.holder, fence=lease.fence)
