"""What a queued wish asks of the list, worked out from the rows: at once, to refuse what cannot be,
and again at the border where it is taken."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from agentcore.compaction.asked import CompactionOptions
from agentcore.directives import Instruction as Wish
from agentcore.directives import InstructionKind
from agentcore.events import EventKind
from agentcore.messages import Message, Role
from agentcore.said import Said
from hermesweb import lives, prepared
from hermesweb.models import AgentSession, Instruction, InstructionState, StoredMessage

# Changes that the program made: taking one back alone would leave a list that is not true.
OWN_CHANGES = (EventKind.REPAIRED, EventKind.SYSTEM_REBUILT, EventKind.MEMORY_INJECTED)


def queued(session: AgentSession) -> QuerySet[Instruction]:
    """What waits for a border, in the order in which it is taken. Questions to people are no
    wishes of theirs."""
    waiting = session.instructions.filter(state=InstructionState.QUEUED)
    return waiting.exclude(kind=InstructionKind.APPROVAL).order_by("pk")


def wish_of(session: AgentSession, row: Instruction) -> Wish:
    kind = InstructionKind(row.kind)
    if kind is InstructionKind.UNDO:
        return _undo(session, row)
    if kind is InstructionKind.COMPACT:
        return _compaction(session, row)
    numbers = row.options.get("numbers", [])
    if kind is InstructionKind.RESTORE:
        group = groups_of(session, numbers)
        return Wish(
            row.pk,
            kind,
            numbers=tuple(_stand_ins(session, group)),
            returning=_returning(session, group),
        )
    return Wish(row.pk, kind, row.text, numbers=tuple(numbers))


def why_no_undo(session: AgentSession) -> str:
    """Why the last change of the list cannot be taken back; empty where it can."""
    change = session.revisions.filter(number=session.revision).first()
    if change is None:
        return _("nothing was changed in the list yet")
    if change.cause in OWN_CHANGES:
        what = change.get_cause_display()
        text = _(
            "the last change, revision %(number)s, is the program's own (%(cause)s): fork from "
            "before it instead"
        )
        return text % {"number": change.number, "cause": what}
    if change.cause == EventKind.ERASED:
        text = _("the last change, revision %(number)s, erased a text: it is gone")
        return text % {"number": change.number}
    last = session.stored_turns.order_by("-number").first()
    if last is not None and last.requested_revision >= change.number:
        text = _("a request was sent since, in turn %(turn)s: fork from before it instead")
        return text % {"turn": last.number}
    return ""


def made_by(session: AgentSession) -> int | None:
    """The revision whose effect the last change is: itself, or what an undo of its undo brought
    back. None where the last change took one back."""
    number, steps = root(session)
    return None if steps % 2 else number


def root(session: AgentSession) -> tuple[int, int]:
    """The last change that is no undo, and how many undos in a row came after it."""
    causes = session.revisions.order_by("-number").values_list("number", "cause")
    steps = 0
    for number, cause in causes.iterator(chunk_size=20):
        if cause != EventKind.UNDONE:
            return number, steps
        steps += 1
    return 0, steps


def groups_of(session: AgentSession, numbers: Collection[int]) -> list[int]:
    """The messages with their whole tool groups, as they were born."""
    whole: set[int] = set()
    for number in numbers:
        if number not in whole:
            whole.update(_group(session, number))
    return sorted(whole)


def _compaction(session: AgentSession, row: Instruction) -> Wish:
    options = CompactionOptions(**row.options.get("asked", {}))
    wanted = row.options.get("preview")
    if not wanted:
        return Wish(row.pk, InstructionKind.COMPACT, row.text, options=options)
    found = session.previews.filter(pk=wanted).first()
    if found is None:
        gone = Said("the preview is no longer kept: look at a new one")
        return Wish(row.pk, InstructionKind.COMPACT, row.text, options=options, against=gone)
    plan = prepared.rebased(session, prepared.unpacked(found.plan))
    return Wish(row.pk, InstructionKind.COMPACT, row.text, options=options, prepared=plan)


def _undo(session: AgentSession, row: Instruction) -> Wish:
    revision = session.revision
    change = session.revisions.filter(number=revision).first()
    begun = session.lives.filter(
        from_revision=revision, to_revision=None, number__lte=change.last_number if change else 0
    )
    ended = session.lives.filter(to_revision=revision).order_by("place", "number")
    return Wish(
        row.pk,
        InstructionKind.UNDO,
        numbers=tuple(begun.values_list("number", flat=True)),
        returning=tuple(
            (lives.message_of(life.message), life.place)
            for life in ended.select_related("message__body")
        ),
        revision=row.options["revision"],
        against=why_no_undo(session),
    )


def _returning(session: AgentSession, numbers: Iterable[int]) -> tuple[tuple[Message, int], ...]:
    """Each with the place of its last life."""
    found = session.lives.filter(number__in=list(numbers)).order_by("from_revision")
    last = {life.number: life for life in found.select_related("message__body")}
    return tuple((lives.message_of(life.message), life.place) for life in last.values())


def _stand_ins(session: AgentSession, numbers: Iterable[int]) -> list[int]:
    """What replaces the messages in the list now, through however many replacements."""
    found: list[int] = []
    heirs = list(numbers)
    while heirs:
        heirs = list(session.messages.filter(replaces__in=heirs).values_list("number", flat=True))
        found += heirs
    return found


def _group(session: AgentSession, number: int) -> list[int]:
    """An assistant message and the results that were born right after it; else it alone."""
    rows = session.messages.filter(replaces=None).only("number", "role", "session")
    row = rows.filter(number=number).first()
    if row is None or row.role not in (Role.ASSISTANT, Role.TOOL):
        return [number]
    first = row
    if row.role == Role.TOOL:
        before = rows.filter(number__lt=number).exclude(role=Role.TOOL).order_by("-number").first()
        if before is None or before.role != Role.ASSISTANT:
            return [number]
        first = before
    return [first.number, *_results(rows.filter(number__gt=first.number).order_by("number"))]


def _results(following: QuerySet[StoredMessage]) -> Iterable[int]:
    for row in following.iterator(chunk_size=50):
        if row.role != Role.TOOL:
            return
        yield row.number
