"""What a run waits for a person to allow: a row of the queue that the loop does not take. It is
queued until it is answered, and taken with the answer until that is used."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from agentcore.compaction.result import HookReport
from agentcore.directives import Answer, Asked, InstructionKind
from agentcore.events import CallWanted
from agentcore.kinds import shown
from agentcore.messages import ToolCall
from agentcore.redact import mask
from agentcore.wire import loads
from hermesweb import lives
from hermesweb.models import AgentSession, Instruction, InstructionState, Status

COMPACTION = "compaction"
# Questions on calls of one id that are looked through; models may count theirs anew each turn.
MOST_ALIKE = 50


def pending(session: AgentSession) -> QuerySet[Instruction]:
    """Not answered yet, the oldest first."""
    return _of(session).filter(state=InstructionState.QUEUED).order_by("pk")


def is_on_call(question: Instruction) -> bool:
    """Whether it is about a tool call rather than a compaction."""
    return "tool" in question.options


def holds_group(session: AgentSession) -> bool:
    """Whether calls without a result stand at the end of the list until a person answered."""
    if session.status != Status.WAITING:
        return False
    return any(is_on_call(question) for question in pending(session))


def open_questions(session: AgentSession) -> list[Instruction]:
    """Those without an answer, and those whose answer nothing has used yet."""
    unused = Q(state=InstructionState.TAKEN, taken_at=None)
    return list(_of(session).filter(Q(state=InstructionState.QUEUED) | unused).order_by("pk"))


def allowed(questions: Collection[Instruction]) -> bool | None:
    """The answer to an asked compaction."""
    answered = [one for one in questions if one.state == InstructionState.TAKEN]
    given = [bool(one.options["allow"]) for one in answered if not is_on_call(one)]
    return given[-1] if given else None


def asked(questions: Collection[Instruction]) -> Asked:
    return {one.options["place"]: _answer(one) for one in questions if is_on_call(one)}


def calls_of(session: AgentSession, questions: Collection[Instruction]) -> dict[int, ToolCall]:
    """The calls that are asked about, as the model wrote them, by the question."""
    on_calls = [one.options for one in questions if is_on_call(one)]
    rows = session.messages.filter(number__in={one["message"] for one in on_calls})
    messages = {row.number: lives.message_of(row) for row in rows.select_related("body")}
    return {
        one.pk: messages[one.options["message"]].calls[one.options["place"]]
        for one in questions
        if is_on_call(one)
    }


def on_message(session: AgentSession, number: int) -> QuerySet[Instruction]:
    """All that was ever asked about calls of this message."""
    return _of(session).filter(options__message=number)


def named(session: AgentSession, what: str, question: int | None = None) -> Instruction | None:
    """The question of that id, else the newest one on it, those that wait first."""
    rows = _of(session).filter(options__what=shown(what)).order_by("-pk")
    if question is not None:
        return rows.filter(pk=question).first()
    on_call = what != COMPACTION
    found = [row for row in rows[:MOST_ALIKE] if is_on_call(row) == on_call]
    waiting = [row for row in found if row.state == InstructionState.QUEUED]
    return next(iter(waiting or found), None)


def readable(call: ToolCall) -> tuple[dict[str, Any], int]:
    """The arguments as a person may see and edit them, and how many secrets are masked in them."""
    text, masked = mask(call.arguments)
    arguments: dict[str, Any] = loads(text or "{}")
    return arguments, masked


def ask_compaction(session: AgentSession, wish: HookReport | None = None) -> None:
    """Once: a run that asks again while nobody answered has the same question. `wish`: of a hook
    that wants it."""
    if not pending(session).exists():
        why = {"hook": shown(wish.hook), "why": shown(wish.detail)} if wish else {}
        _ask(session, {"what": COMPACTION, **why})


def ask_call(session: AgentSession, event: CallWanted) -> dict[str, Any]:
    facts = event.facts
    kept = {name: facts[name] for name in ("tool", "message", "place")}
    row = _ask(session, {**kept, "what": facts["subject"]})
    return {"question": row.pk, "until": row.ends_at.isoformat() if row.ends_at else None}


def use(session: AgentSession) -> None:
    """An answer holds for one compaction or one group of calls, and for no later turn."""
    _of(session).filter(state=InstructionState.TAKEN, taken_at=None).update(taken_at=timezone.now())


def end(session: AgentSession) -> None:
    """Nothing that was asked so far is wanted any more, nor any answer."""
    use(session)
    pending(session).update(state=InstructionState.WITHDRAWN)


def overdue() -> QuerySet[Instruction]:
    waiting = Instruction.objects.filter(
        kind=InstructionKind.APPROVAL,
        state=InstructionState.QUEUED,
        ends_at__lt=timezone.now(),
    )
    return waiting.select_related("session").order_by("pk")


def minutes(question: Instruction) -> int:
    """How long an answer is waited for; 0: as long as it takes."""
    if question.ends_at is None:
        return 0
    return round((question.ends_at - question.at).total_seconds() / 60)


def _ask(session: AgentSession, options: dict[str, Any]) -> Instruction:
    now = timezone.now()
    wait = session.profile_version.value.approvals.minutes
    return Instruction.objects.create(
        session=session,
        kind=InstructionKind.APPROVAL,
        options=options,
        ends_at=now + timedelta(minutes=wait) if wait else None,
    )


def _answer(question: Instruction) -> Answer | None:
    if question.state != InstructionState.TAKEN:
        return None
    told = question.options
    altered = question.text if told.get("altered") else None
    return Answer(told["allow"], altered, told.get("reason", ""), told.get("late", False))


def _of(session: AgentSession) -> QuerySet[Instruction]:
    return session.instructions.filter(kind=InstructionKind.APPROVAL)
