"""The shape that all acts share: change the locked row, audit, tell, announce."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from agentcore.events import EventKind
from hermesweb import audit, live
from hermesweb.models import AgentSession
from hermesweb.recorder import record_flag

# Of a long list, in an event.
LISTED = 100
Change = Callable[[AgentSession], Mapping[str, Any]]


def act(
    who: User | None,
    session: AgentSession,
    kind: EventKind,
    change: Change,
    *,
    old: Any = None,
    quotes: Collection[str] = (),
    listed: str = "",
) -> int:
    """Run `change` with the row locked; its facts are told and audited. The event's seq. `quotes`
    names the facts that say what a message does: the audit outlives messages, and goes without.
    `listed` names one that may be long: the event, a small fact, has the first of it and its
    `count`; the audit has all."""

    def audited(row: AgentSession) -> Mapping[str, Any]:
        facts = change(row)
        kept = {name: value for name, value in facts.items() if name not in quotes}
        audit.write(who, kind, chain=row.pk, old=old, new=kept)
        told = {**facts, "by": str(who) if who else ""}
        if listed and len(whole := facts[listed]) > LISTED:
            told |= {listed: whole[:LISTED], "count": len(whole)}
        return told

    with transaction.atomic():
        seq = record_flag(session.pk, kind, audited)
        live.announce_on_commit(session.pk, session.owner_id, seq)
        session.refresh_from_db()
    return seq
