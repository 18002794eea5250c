"""Which messages are pinned and until when, and which are checkpoints: set at once, read at the
next border."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from agentcore.breakdown import Category
from agentcore.events import EventKind
from agentcore.pressure import Unit
from agentcore.profile import BYTES_A_TOKEN
from hermesweb import commits, pins
from hermesweb.acts.errors import Invalid, Refused, read_only
from hermesweb.acts.naming import known
from hermesweb.acts.telling import act
from hermesweb.commits import Awaited, Look, NoHistory
from hermesweb.lease import Lease
from hermesweb.models import AgentSession, SessionKind, StoredMessage
from hermesweb.models.columns import NAME_CHARS
from hermesweb.pins import UNTIL_COMMIT
from hermesweb.recorder import settle
from hermesweb.sentences import told
from hermesweb.shown import shown

PATH_CHARS = NAME_CHARS - len(UNTIL_COMMIT)
# Git is asked about each of them while a run is at work.
MOST_AWAITED = 20
RIGID = (
    Category.SYSTEM_PROMPT,
    Category.PROJECT_DOCS,
    Category.PROJECT_CONTEXT,
    Category.SKILLS,
    Category.TOOL_SCHEMAS,
    Category.MEMORY,
)


class _Sooner(Exception):
    """A person changed these pins meanwhile."""


def pin(
    who: User | None,
    session: AgentSession,
    numbers: Collection[int],
    *,
    reason: str = "",
    until: str = "session",
) -> None:
    """Keep these messages verbatim, `until` the session or `turn:N` ends, or a run commits the
    file or folder of `commit:PATH`. Refused, with the arithmetic, where they and what else cannot
    leave would fill the whole budget, and where no git tells of commits. Raises Invalid."""
    until, head = _end(session, until)

    def change(row: AgentSession) -> Mapping[str, Any]:
        chosen = _chosen(row, numbers)
        chosen.update(
            pinned=True,
            pin_reason=shown(reason)[:NAME_CHARS],
            pin_until=until,
            pin_head=head,
            pinned_by=who,
        )
        row.pinned_bytes = pins.bytes_held(row)
        row.thrash = False
        _check_awaited(row)
        _check_reachable(row)
        return _pin_facts(row, numbers)

    act(who, session, EventKind.PINNED, change)


def unpin(who: User | None, session: AgentSession, numbers: Collection[int]) -> None:
    def change(row: AgentSession) -> Mapping[str, Any]:
        _take_away(row, _chosen(row, numbers))
        return _pin_facts(row, numbers)

    act(who, session, EventKind.UNPINNED, change)


def end_pins(held: Lease, look: Look) -> None:
    """Take away the pins whose commit was made; what is later than a commit that is gone is later
    than the one of now. Raises FenceLost."""
    session = AgentSession.objects.get(pk=held.session_id)
    for awaited, commit in look.made.items():
        _end_one(session, awaited, commit)

    def adopt(row: AgentSession) -> None:
        for awaited in look.lost:
            pins.waiting_for(row, awaited).update(pin_head=look.head)

    if look.lost:
        settle(held.session_id, held.fence, adopt, quietly=True)


def _end_one(session: AgentSession, awaited: Awaited, commit: str) -> None:
    def change(row: AgentSession) -> Mapping[str, Any]:
        ended = pins.waiting_for(row, awaited)
        numbers = list(ended.values_list("number", flat=True))
        if not numbers:
            raise _Sooner
        _take_away(row, ended)
        cause = {"cause": "commit", "path": awaited.path, "commit": commit}
        return {**_pin_facts(row, numbers), **cause}

    with suppress(_Sooner):
        act(None, session, EventKind.UNPINNED, change)


def checkpoint(who: User | None, session: AgentSession, number: int, on: bool = True) -> None:
    def change(row: AgentSession) -> Mapping[str, Any]:
        _chosen(row, [number]).update(checkpoint=on)
        return {"number": number, "set": on}

    act(who, session, EventKind.CHECKPOINT_SET, change)


def floor(session: AgentSession) -> int:
    """Bytes that no compaction can free: the rigid part and what is pinned."""
    parts = session.categories
    return sum(parts[category] for category in RIGID) + session.pinned_bytes


def _end(session: AgentSession, until: str) -> tuple[str, str]:
    """As it is kept, and the commit that is checked out where it is one that waits for the next.
    Git is asked before any row is locked."""
    if not until.startswith(UNTIL_COMMIT):
        return until[:NAME_CHARS], ""
    path = _inside(pins.path_of(until))
    if session.kind != SessionKind.RUN:
        raise read_only(session.kind)
    try:
        head = async_to_sync(commits.head)(Path(session.workspace))
    except NoHistory as error:
        text = _("a pin until a commit needs a git repository in the workspace: %(reason)s")
        raise Refused(text % {"reason": told(str(error))}, "no_repository") from error
    return f"{UNTIL_COMMIT}{path}", head


def _inside(path: str) -> str:
    """Normalized, from the workspace on. Raises Invalid for one that leads out of it."""
    normal = posixpath.normpath(path.strip())
    leads_out = normal.startswith(("/", "../")) or normal == ".."
    if not path.strip() or leads_out or not normal.isprintable() or len(normal) > PATH_CHARS:
        text = _(
            "the path of a commit is one inside the workspace, such as src/a.py, of at most "
            "%(most)s characters, not %(path)s"
        )
        raise Invalid(text % {"most": PATH_CHARS, "path": f"{path!r:.80}"}, "until")
    return normal


def _check_awaited(row: AgentSession) -> None:
    if (count := len(pins.awaited(row.pk))) > MOST_AWAITED:
        text = _("pins would wait for %(count)s commits, %(most)s at most: unpin one of them")
        raise Refused(text % {"count": count, "most": MOST_AWAITED}, "too_many_awaited")


def _take_away(row: AgentSession, chosen: QuerySet[StoredMessage]) -> None:
    chosen.update(pinned=False, pin_reason="", pinned_by=None)
    row.pinned_bytes = pins.bytes_held(row)
    row.thrash = False


def _chosen(row: AgentSession, numbers: Collection[int]) -> QuerySet[StoredMessage]:
    if row.kind != SessionKind.RUN:
        raise read_only(row.kind)
    known(row, numbers)
    return row.messages.filter(number__in=numbers)


def _check_reachable(row: AgentSession) -> None:
    rigid, pinned = floor(row) - row.pinned_bytes, row.pinned_bytes
    limit = row.limit * (BYTES_A_TOKEN if row.unit == Unit.TOKENS else 1)
    if limit and rigid + pinned > limit:
        raise Refused(
            _(
                "%(rigid)s bytes that always stay + %(pinned)s pinned = %(sum)s, over the limit of "
                "%(limit)s: unpin something, or choose a larger budget"
            )
            % {
                "rigid": f"{rigid:,}",
                "pinned": f"{pinned:,}",
                "sum": f"{rigid + pinned:,}",
                "limit": f"{limit:,}",
            },
            "pins_too_large",
        )


def _pin_facts(row: AgentSession, numbers: Collection[int]) -> dict[str, Any]:
    return {
        "numbers": sorted(set(numbers)),
        "pinned_bytes": row.pinned_bytes,
        "floor": floor(row),
    }
