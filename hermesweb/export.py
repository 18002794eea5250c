"""A session as lines of JSON, for reading elsewhere and for importing again; `exported` in
agentcore.transcripts reads it. Each step asks anew by keys, so that no length needs much memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.db.models import F, Max, Min, QuerySet

from agentcore.compaction.result import CompactionState
from agentcore.events import EventKind
from agentcore.redact import mask
from agentcore.snapshot import PLACES_A_NUMBER
from hermesweb.models import AgentSession, Compaction, Revision, StoredMessage, StoredTurn
from hermesweb.reader import event_facts

VERSION = 1
CHUNK = 50


def lines(session: AgentSession, *, raw: bool) -> Iterator[str]:
    """What had happened when it was asked for. Secrets are masked unless it is `raw`."""
    yield _line("session", _about(session, raw))
    born = 0
    for change in _changes(session):
        yield from _messages(session, born, change["last_number"], raw=raw)
        born = change["last_number"]
        yield _line("revision", change)
    yield from _messages(session, born, session.last_number, raw=raw)
    for turn in _turns(session):
        yield _line("turn", turn)
    for row in _by_key(session.stored_compactions.filter(state=CompactionState.APPLIED), "number"):
        yield _line("compaction", _compaction(row))
    for row in _by_key(session.events.filter(seq__lte=session.seq), "seq"):
        yield _line("event", event_facts(row))


def _about(session: AgentSession, raw: bool) -> dict[str, Any]:
    return {
        "version": VERSION,
        "id": session.pk,
        "title": session.title,
        "kind": session.kind,
        "model": session.model,
        "masked": not raw,
        "messages": session.last_number,
        "revision": session.revision,
        "seq": session.seq,
    }


def _changes(session: AgentSession) -> Iterator[dict[str, Any]]:
    """Of the list other than appending. A fork begins with messages that stand elsewhere than
    where they were born."""
    moved = session.lives.filter(from_revision=0).exclude(place=F("number") * PLACES_A_NUMBER)
    if begun := list(moved.order_by("place", "number").values_list("number", "place")):
        last = max(number for number, _ in begun)
        yield {
            "number": 0,
            "cause": EventKind.FORKED,
            "at": session.created_at.isoformat(),
            "last_number": last,
            "ended": [],
            "begun": begun,
        }
    for row in _by_key(session.revisions.filter(number__lte=session.revision), "number"):
        yield _change(session, row)


def _change(session: AgentSession, row: Revision) -> dict[str, Any]:
    ended = session.lives.filter(to_revision=row.number).order_by("place", "number")
    begun = session.lives.filter(from_revision=row.number, number__lte=row.last_number)
    return {
        "number": row.number,
        "cause": row.cause,
        "at": row.at.isoformat(),
        "last_number": row.last_number,
        "ended": list(ended.values_list("number", flat=True)),
        "begun": list(begun.order_by("place", "number").values_list("number", "place")),
    }


def _messages(session: AgentSession, after: int, last: int, *, raw: bool) -> Iterator[str]:
    """The wire text stands in its line as it is."""
    rows = session.messages.filter(number__gt=after, number__lte=last).defer("facts")
    for row in _by_key(rows, "number"):
        wire, masked = (row.text, 0) if raw else mask(row.text)
        facts = _dumps({"type": "message", **_message(row, masked)})
        yield f'{facts[:-1]},"message":{wire}}}\n'


def _message(row: StoredMessage, masked: int) -> dict[str, Any]:
    """What is as usual is left out."""
    facts = {
        "number": row.number,
        "at": row.at.isoformat(),
        "turn": row.turn,
        "mark": row.mark,
        "tool": row.tool,
        "status": row.status,
        "replaces": row.replaces,
        "stands_for": row.stands_for,
        "cut": [row.original_bytes, row.kept_bytes] if row.original_bytes is not None else None,
        "masked": masked,
    }
    return {name: value for name, value in facts.items() if value}


def _turns(session: AgentSession) -> Iterator[dict[str, Any]]:
    for row in _by_key(session.stored_turns.filter(number__lte=session.turns), "number"):
        born = session.messages.filter(turn=row.number)
        span = born.aggregate(first=Min("number"), last=Max("number"))
        yield _turn(row, span["first"] or row.ended_number + 1, span["last"] or row.ended_number)


def _turn(row: StoredTurn, first: int, last: int) -> dict[str, Any]:
    return {
        "number": row.number,
        "at": row.at.isoformat(),
        "status": row.status,
        "model": row.model,
        "usage": row.usage,
        "first": first,
        "last": last,
        "requested": [row.requested_revision, row.requested_number],
        "ended": [row.ended_revision, row.ended_number],
    }


def _compaction(row: Compaction) -> dict[str, Any]:
    return {
        "number": row.number,
        "at": row.at.isoformat(),
        "turn": row.turn,
        "revision": row.revision,
        "asked_by": row.trigger,
        "before": row.before,
        "after": row.after,
    }


def _by_key(rows: QuerySet[Any], key: str) -> Iterator[Any]:
    ordered, after = rows.order_by(key), -1
    while chunk := list(ordered.filter(**{f"{key}__gt": after})[:CHUNK]):
        yield from chunk
        after = getattr(chunk[-1], key)


def _line(kind: str, facts: dict[str, Any]) -> str:
    return _dumps({"type": kind, **facts}) + "\n"


def _dumps(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
