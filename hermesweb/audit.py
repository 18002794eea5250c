"""Who did what, in hash chains: one a session, one for the administration."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.utils import timezone

from hermesweb.models import AuditEntry
from hermesweb.shown import shown


def write(
    who: AbstractBaseUser | AnonymousUser | None,
    action: str,
    *,
    chain: str = "",
    old: Any = None,
    new: Any = None,
) -> AuditEntry:
    """Add to a chain, in the caller's transaction. A session's chain is in order because its row
    is locked first; the unique place refuses a second writer of the other one."""
    last = AuditEntry.objects.filter(chain=chain).order_by("-place").first()
    entry = AuditEntry(
        chain=chain,
        place=last.place + 1 if last else 1,
        who=str(who) if who else "",
        action=action,
        old=shown(old),
        new=shown(new),
        at=timezone.now(),
    )
    entry.hash = _hash(entry, last.hash if last else "")
    entry.save()
    return entry


def broken(entries: Iterable[AuditEntry]) -> AuditEntry | None:
    """The first entry of one chain, in order, that does not follow from the one before it."""
    before, place = "", 1
    for entry in entries:
        if entry.place != place or entry.hash != _hash(entry, before):
            return entry
        before, place = entry.hash, place + 1
    return None


def _hash(entry: AuditEntry, before: str) -> str:
    facts = [before, entry.chain, entry.place, entry.who, entry.action, entry.old, entry.new]
    text = json.dumps([*facts, entry.at.isoformat()], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
