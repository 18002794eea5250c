"""What a border makes of a queued instruction's row."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from agentcore.errors import InstructionChanged, StalePlan
from agentcore.events import Erased
from agentcore.messages import Message
from hermesweb import audit, erasing
from hermesweb.models import AgentSession, Instruction, InstructionState


def become(instruction_id: int, message: Message) -> None:
    """Mark the instruction as taken, unless a person changed it after it was read."""
    waiting = Instruction.objects.filter(pk=instruction_id, state=InstructionState.QUEUED)
    asked = waiting.first()
    if asked is None or asked.text != message.value().get("content"):
        raise InstructionChanged(
            f"instruction {instruction_id} was edited or withdrawn: poll again"
        )
    waiting.update(state=InstructionState.TAKEN, taken_at=timezone.now(), number=message.number)


def take(instruction_id: int | None, *, refusal: str = "") -> None:
    rows = Instruction.objects.filter(pk=instruction_id or 0, state=InstructionState.QUEUED)
    state = InstructionState.WITHDRAWN if refusal else InstructionState.TAKEN
    rows.update(state=state, taken_at=timezone.now(), refusal=refusal)


def erase(session: AgentSession, event: Erased) -> dict[str, Any]:
    """Raises StalePlan where a person thought better of it: the text is still there."""
    asked = erasing.waiting(session).filter(pk=event.instruction).select_related("by").first()
    if asked is None:
        raise StalePlan(f"the wish to erase message {event.number} was withdrawn meanwhile")
    told = erasing.erase(session, event.number)
    take(asked.pk)
    audit.write(asked.by, event.kind, chain=session.pk, new=told)
    return {**told, "by": str(asked.by) if asked.by else ""}
