"""One message's text taken out of all rows that hold it; its number and its lives stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentcore.compaction.plan import Revision
from agentcore.erasing import digest, erased
from agentcore.events import EventKind
from agentcore.messages import Message
from hermesweb import bodies, lives, totals, wishes
from hermesweb.models import AgentSession, StoredMessage
from hermesweb.subjects import NONE


def erase(session: AgentSession, row: StoredMessage) -> dict[str, Any]:
    """With the session's row locked, as a revision of its own; what is told of it. `made_from_it`
    are summaries, notes and placeholders that may say some of it again."""
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
    _forget(session, before)
    return {
        "number": row.number,
        "revision": revision.number,
        "bytes": before.sizes.bytes,
        "sha256": digest(before),
        "made_from_it": _made_from(session, row.number),
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
    """What other rows repeat of it: the instruction it was, events, plans, facts that were lost,
    and what its calls named."""
    number = before.number
    session.instructions.filter(number=number).update(text="")
    session.previews.all().delete()
    calls = {call.id for call in before.calls}
    if calls:
        about = {"path": NONE.path, "command": NONE.command, "arguments": NONE.arguments}
        session.messages.filter(number__in=wishes.groups_of(session, [number])).update(**about)
    _blank(session, EventKind.MESSAGE_ADDED, "preview", lambda data: data["number"] == number)
    _blank(session, EventKind.TOOL_STARTED, "arguments", lambda data: data["call"] in calls)
    for row in session.stored_compactions.exclude(survival={}):
        for told in row.survival.values():
            for fact in told["lost"]:
                if fact["number"] == number:
                    fact["text"] = ""
        row.save(update_fields=["survival"])


def _blank(
    session: AgentSession, kind: EventKind, name: str, said: Callable[[Mapping[str, Any]], bool]
) -> None:
    for event in session.events.filter(kind=kind).iterator(chunk_size=500):
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
