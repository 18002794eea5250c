"""What a run waits for a person to allow: a row of the queue that the loop does not take. It is
queued until it is answered, and taken with the answer until that is used."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from agentcore.directives import InstructionKind
from hermesweb.models import AgentSession, Instruction, InstructionState

COMPACTION = "compaction"
# Not answered by then is a no.
WAITS = timedelta(minutes=15)


def pending(session: AgentSession) -> Instruction | None:
    return _of(session).filter(state=InstructionState.QUEUED).order_by("-pk").first()


def allowed(session: AgentSession) -> bool | None:
    """The answer that nothing has used yet."""
    answered = _answered(session).order_by("-pk").first()
    return bool(answered.options["allow"]) if answered else None


def waited(session: AgentSession) -> bool:
    """Whether the open run stopped for a person rather than lost its worker."""
    return pending(session) is not None or _answered(session).exists()


def ask(session: AgentSession, what: str) -> None:
    """Once: a run that asks again while nobody answered has the same question."""
    if pending(session) is None:
        Instruction.objects.create(
            session=session, kind=InstructionKind.APPROVAL, options={"what": what}
        )


def use(session: AgentSession) -> None:
    """An answer holds for one compaction, and for no later turn."""
    _answered(session).update(taken_at=timezone.now())


def overdue() -> QuerySet[Instruction]:
    return Instruction.objects.filter(
        kind=InstructionKind.APPROVAL,
        state=InstructionState.QUEUED,
        at__lt=timezone.now() - WAITS,
    ).select_related("session")


def _answered(session: AgentSession) -> QuerySet[Instruction]:
    return _of(session).filter(state=InstructionState.TAKEN, taken_at=None)


def _of(session: AgentSession) -> QuerySet[Instruction]:
    return session.instructions.filter(kind=InstructionKind.APPROVAL)
