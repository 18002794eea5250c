"""What sessions leave for later ones of the same owner in the same workspace, as rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from django.db.models import Q, QuerySet

from agentcore.events import EventKind
from agentcore.ledger import Ledger
from agentcore.limits import Limits
from agentcore.memory import Entry, EntryKind, Hit, MemoryIndex, block, distill
from agentcore.messages import Role
from hermesweb import lives, versions
from hermesweb.access import Anyone
from hermesweb.models import AgentSession, MemoryEntry, SessionEvent
from hermesweb.shown import shown


@dataclass(frozen=True, slots=True)
class Injection:
    """What one run was given, each entry with its score; None for one that is no longer there."""

    session: AgentSession
    run: int
    at: datetime
    entries: list[tuple[MemoryEntry | None, float]]


def recalled(session: AgentSession, query: str, limits: Limits) -> tuple[str, list[Hit]]:
    """The memory block for a run of the session, and the entries in it."""
    rows = _scope(session).order_by("-at", "-pk").values_list("pk", "kind", "text")
    entries = tuple(Entry(EntryKind(kind), text, id=pk) for pk, kind, text in rows)
    return block(_index(entries).search(query, limits.memory_entries), limits)


def distilled(session: AgentSession) -> list[Entry]:
    """What the session leaves; nothing where its profile keeps no memory."""
    profile = session.profile_version.readable
    if profile is None or not profile.documents.memory:
        return []
    return distill(ledger_of(session), profile.limits)


def ledger_of(session: AgentSession) -> Ledger:
    """What holds of the session's list, and of all that a person ever asked in it."""
    alive = Q(to_revision=None) | Q(message__role=Role.USER)
    found = session.lives.filter(alive).order_by("place", "number", "from_revision")
    rows = {life.number: life.message for life in found.select_related("message__body")}
    return Ledger.of(map(lives.message_of, rows.values()))


def store(session: AgentSession, entries: Sequence[Entry]) -> None:
    """What was distilled from the session, in place of what it left before. What a person wrote
    or deleted stays so: an entry comes in when its messages are new and nobody in the folder said
    the same before, and leaves with its facts. Nothing is changed by a profile without memory, or
    by one that is refused."""
    profile = session.profile_version.readable
    if profile is None or not profile.documents.memory:
        return
    mine = session.memories.filter(edited=False)
    told = {str(shown(entry.text)): entry for entry in reversed(entries)}
    mine.exclude(text__in=told).delete()
    there = set(_scope(session).values_list("text", flat=True))
    new = [
        MemoryEntry(
            owner_id=session.owner_id,
            workspace=session.workspace,
            kind=entry.kind,
            text=text,
            source=session,
            source_numbers=list(entry.numbers),
        )
        for text, entry in told.items()
        if text not in there and max(entry.numbers) > session.distilled_to
    ]
    session.distilled_to = session.last_number
    make_room(session.owner_id, len(new), profile.limits.memory_stored)
    MemoryEntry.objects.bulk_create(new)


def most_stored() -> int:
    """Entries an owner may have where no session says it: by the most generous profile, 0 for any
    number."""
    stored = [one.limits.memory_stored for one in versions.readable()]
    return 0 if 0 in stored else max(stored, default=Limits().memory_stored)


def most_given() -> list[int]:
    """Entries that a run may be given: each number that a profile says, 0 for any number; without
    profiles that keep no memory."""
    keeping = [one.limits.memory_entries for one in versions.readable() if one.documents.memory]
    return sorted(set(keeping))


def make_room(owner_id: int, count: int, most: int) -> None:
    """Let the least used go, of those the oldest, so that `count` more fit among the owner's."""
    if not most:
        return
    rows = MemoryEntry.objects.filter(owner_id=owner_id).order_by("uses", "at", "pk")
    over = rows.count() + count - most
    if over > 0:
        leaving = list(rows.values_list("pk", flat=True)[:over])
        MemoryEntry.objects.filter(pk__in=leaving).delete()


def of_owner(owner: Anyone) -> QuerySet[MemoryEntry]:
    """All that may be shown to a person: the entries are theirs alone, whoever sees the session."""
    return MemoryEntry.objects.filter(owner_id=owner.pk)


def injections(owner: Anyone, most: int) -> list[Injection]:
    """What the person's last runs were given, newest first."""
    events = SessionEvent.objects.filter(
        kind=EventKind.MEMORY_INJECTED, session__owner_id=owner.pk, session__ready=True
    )
    rows = list(events.select_related("session").order_by("-at", "-pk")[:most])
    wanted = {given["id"] for row in rows for given in row.data["entries"]}
    entries = of_owner(owner).in_bulk(list(wanted))
    return [
        Injection(
            row.session,
            row.data["run"],
            row.at,
            [(entries.get(given["id"]), given["score"]) for given in row.data["entries"]],
        )
        for row in rows
    ]


def _scope(session: AgentSession) -> QuerySet[MemoryEntry]:
    return MemoryEntry.objects.filter(owner_id=session.owner_id, workspace=session.workspace)


@lru_cache(maxsize=32)
def _index(entries: tuple[Entry, ...]) -> MemoryIndex:
    """Kept while the entries are the same: making it takes longer than many searches."""
    return MemoryIndex(entries)
