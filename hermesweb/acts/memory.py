"""What people do to the entries that sessions recall."""

from __future__ import annotations

import hashlib

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from agentcore.limits import Limits
from agentcore.memory import EntryKind
from hermesweb import audit, memory
from hermesweb.acts.creation import allowed_folder
from hermesweb.acts.errors import Gone, Invalid, not_one_of
from hermesweb.models import MemoryEntry
from hermesweb.shown import shown

LIMITS = Limits()


def remember(who: User, *, workspace: str, kind: str, text: str) -> MemoryEntry:
    """A new entry for the person's sessions in the folder. Raises Invalid."""
    entry = MemoryEntry(
        owner=who,
        workspace=str(allowed_folder(workspace)),
        kind=_kind(kind),
        text=_line(text),
        edited=True,
    )
    with transaction.atomic():
        _lock(who)
        memory.make_room(who.pk, 1, memory.most_stored())
        entry.save()
        _audit(who, "memory_added", new=_facts(entry))
    return entry


def correct(who: User, entry: MemoryEntry, *, kind: str, text: str) -> None:
    """Raises Invalid."""
    old = _facts(entry)
    entry.kind, entry.text, entry.edited = _kind(kind), _line(text), True
    with transaction.atomic():
        _lock(who, entry)
        entry.save(update_fields=["kind", "text", "edited"])
        _audit(who, "memory_changed", old=old, new=_facts(entry))


def forget(who: User, entry: MemoryEntry) -> None:
    with transaction.atomic():
        _lock(who, entry)
        _audit(who, "memory_deleted", old=_facts(entry))
        entry.delete()


def _lock(who: User, entry: MemoryEntry | None = None) -> None:
    """One writer at a time on the person's chain. Raises Gone for an entry that an earlier one
    deleted."""
    User.objects.select_for_update().get(pk=who.pk)
    if entry and not MemoryEntry.objects.filter(pk=entry.pk).exists():
        raise Gone(f"there is no entry {entry.pk} any more")


def _audit(
    who: User,
    action: str,
    *,
    old: dict[str, object] | None = None,
    new: dict[str, object] | None = None,
) -> None:
    audit.write(who, action, chain=f"memory-{who.pk}", old=old, new=new)


def _facts(entry: MemoryEntry) -> dict[str, object]:
    """Without the text itself: what was deleted must not live on in the audit."""
    sha256 = hashlib.sha256(entry.text.encode()).hexdigest()
    return {
        "id": entry.pk,
        "workspace": entry.workspace,
        "kind": entry.kind,
        "chars": len(entry.text),
        "sha256": sha256,
    }


def _kind(kind: str) -> str:
    if kind not in list(EntryKind):
        raise Invalid(not_one_of("kind", EntryKind, kind), "kind")
    return kind


def _line(text: str) -> str:
    line = " ".join(str(shown(text)).split())
    if not 0 < len(line) <= LIMITS.memory_entry_chars:
        refusal = _("an entry has 1 to %(most)s characters, not %(count)s")
        facts = {"most": LIMITS.memory_entry_chars, "count": len(line)}
        raise Invalid(refusal % facts, "text")
    return line
