"""One message's text taken out of all rows that hold it; its number and its lives stay."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from django.db.models import QuerySet

from agentcore.compaction.plan import Revision
from agentcore.directives import InstructionKind
from agentcore.erasing import digest, erased
from agentcore.events import EventKind
from agentcore.messages import Message
from hermesweb import approvals, bodies, lives, pins, totals, wishes
from hermesweb.models import AgentSession, Instruction, InstructionState, StoredMessage
from hermesweb.shown import shown
from hermesweb.subjects import NONE

SAYS_AN_INSTRUCTION = (EventKind.INSTRUCTION_QUEUED, EventKind.INSTRUCTION_EDITED)
SAYS_A_CALL: Mapping[EventKind, tuple[str, ...]] = {
    EventKind.APPROVAL_WANTED: ("arguments",),
    EventKind.APPROVAL_GIVEN: ("old", "new", "reason"),
}
# Between a title and the state that a fork of it begins at.
FORKED = " (fork at "
# What a check of a compaction says before it names the facts that it lost.
LOST = ", lost: "


def waiting(session: AgentSession) -> QuerySet[Instruction]:
    """Queued erasures, in order."""
    queued = session.instructions.filter(state=InstructionState.QUEUED)
    return queued.filter(kind=InstructionKind.ERASE).order_by("pk")


def is_waiting(session: AgentSession, number: int) -> bool:
    return any(asked.options["numbers"] == [number] for asked in waiting(session))


def erase(session: AgentSession, number: int) -> dict[str, Any]:
    """With the session's row locked, as a revision of its own; what is told of it. `made_from_it`
    are summaries, notes and placeholders that may say some of it again."""
    row = session.messages.select_related("body").get(number=number)
    before = lives.message_of(row)
    after = erased(before)
    held = [key for key in (row.body_id, row.captured_id) if key]
    _write(row, after)
    bodies.release(held)
    revision = Revision(session.revision + 1, (), (), session.last_number)
    lives.revise(session, revision, cause=EventKind.ERASED, ends={}, births=())
    session.revision = revision.number
    if row.lives.filter(to_revision=None).exists():
        totals.weigh(session, before.sizes, -1)
        totals.weigh(session, after.sizes)
    session.pinned_bytes = pins.bytes_held(session)
    _forget(session, before)
    return {
        "number": number,
        "revision": revision.number,
        "bytes": before.sizes.bytes,
        "sha256": digest(before),
        "made_from_it": _made_from(session, number),
    }


def since(session: AgentSession, revision: int) -> list[int]:
    """The messages that were erased after a revision."""
    told = session.events.filter(kind=EventKind.ERASED).values_list("data", flat=True)
    return [data["number"] for data in told if data["revision"] > revision]


def _write(row: StoredMessage, after: Message) -> None:
    row.wire, row.body, row.captured, row.facts = after.wire, None, None, "[]"
    row.preview = lives.preview_of(after)
    row.bytes, row.chars, row.tokens = after.sizes.bytes, after.sizes.chars, after.sizes.tokens
    row.categories = totals.plain(after.sizes.breakdown)
    row.mark = after.mark or ""
    row.exact, row.counter = None, ""
    row.original_bytes = row.kept_bytes = None
    row.path, row.command, row.arguments = NONE.path, NONE.command, NONE.arguments
    row.erased = True
    row.save()


def _forget(session: AgentSession, before: Message) -> None:
    """What other rows repeat of it: the instruction it was, a title and memories made from it,
    events, plans, facts that were lost, and what its calls named."""
    number = before.number
    _forget_instruction(session, before)
    session.previews.all().delete()
    for entry in session.memories.all():
        if number in entry.source_numbers:
            entry.delete()
    _forget_answers(session, number)
    calls = {call.id for call in before.calls}
    if calls:
        about = {"path": NONE.path, "command": NONE.command, "arguments": NONE.arguments}
        session.messages.filter(number__in=wishes.groups_of(session, [number])).update(**about)
    _blank(session, [EventKind.MESSAGE_ADDED], "preview", lambda data: data["number"] == number)
    _blank(session, [EventKind.TOOL_STARTED], "arguments", lambda data: data["call"] in calls)
    _forget_lost(session, number)


def _forget_instruction(session: AgentSession, before: Message) -> None:
    said = session.instructions.filter(number=before.number)
    ids = set(said.values_list("pk", flat=True))
    said.update(text="")
    _blank(session, SAYS_AN_INSTRUCTION, "text", lambda data: data["instruction"] in ids)
    named = session.title.split(FORKED)[0]
    if named and str(shown(before.text)).strip().startswith(named):
        session.title = ""
        _blank(session, [EventKind.SESSION_CREATED, EventKind.FORKED], "title", lambda data: True)


def _forget_answers(session: AgentSession, number: int) -> None:
    """What people were asked of the calls of its group, and what they said."""
    group = wishes.groups_of(session, [number])[0]
    for asked in approvals.on_message(session, group):
        asked.text, asked.options = "", {**asked.options, "reason": ""}
        asked.save(update_fields=["text", "options"])
    for kind, names in SAYS_A_CALL.items():
        for name in names:
            _blank(session, [kind], name, lambda data: data.get("message") == group)


def _forget_lost(session: AgentSession, number: int) -> None:
    for row in session.stored_compactions.exclude(survival={}):
        for told in row.survival.values():
            for fact in told["lost"]:
                if fact["number"] == number:
                    fact["text"] = ""
        for check in row.checks:
            if f"(message {number})" in check["detail"]:
                check["detail"] = check["detail"].split(LOST)[0]
        row.save(update_fields=["survival", "checks"])


def _blank(
    session: AgentSession,
    kinds: Collection[EventKind],
    name: str,
    said: Callable[[Mapping[str, Any]], bool],
) -> None:
    for event in session.events.filter(kind__in=kinds).iterator(chunk_size=500):
        if said(event.data):
            event.data[name] = ""
            event.save(update_fields=["data"])


def _made_from(session: AgentSession, number: int) -> list[int]:
    rows = session.messages.values_list("number", "replaces", "stands_for").order_by("number")
    return [
        other
        for other, replaces, stands_for in rows
        if replaces == number or any(first <= number <= last for first, last in stands_for)
    ]
