"""What a change of the list did to each row, from the lives that its revision ended and began."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Q

from agentcore import diff
from agentcore.compaction.plan import Fate, Origin
from agentcore.events import EventKind
from agentcore.snapshot import State
from hermesweb.models import AgentSession, Compaction, Revision


def rows_of(session: AgentSession, compaction: Compaction) -> list[diff.Row]:
    """Two light queries over the lives of both lists; empty where nothing was changed."""
    if compaction.revision is None:
        return []
    change = session.revisions.filter(number=compaction.revision).first()
    return diff.rows(_entries(session, change)) if change else []


def between(session: AgentSession, start: State, end: State) -> list[diff.Row]:
    """What the way from one state to a later one did to each row; over several revisions the last
    fate holds."""
    held = Q(to_revision=None) | Q(to_revision__gt=start.revision)
    lives = session.lives.filter(held, from_revision__lte=end.revision).order_by("from_revision")
    found: dict[int, diff.Entry] = {}
    for number, begun, ended, *told in lives.values_list(
        "number", "from_revision", "to_revision", "place", "message__bytes", "message__pinned",
        "message__replaces", "fate", "ended_stage", "origin", "begun_stage",
    ):  # fmt: skip
        before, after = (_holds(number, begun, ended, state) for state in (start, end))
        known = found.get(number)
        if before or after or known:
            was_there = before or bool(known and known.before)
            found[number] = _entry(number, told, before=was_there, after=after)
    return diff.rows(entry for entry in found.values() if entry.before or entry.after)


def counts(rows: Iterable[diff.Row]) -> Counter[str]:
    """Rows a fate or origin, in the order of the closed lists."""
    found = Counter(row.name for row in rows)
    return Counter({name: found[name] for name in (*Fate, *Origin) if found[name]})


def _entries(session: AgentSession, change: Revision) -> list[diff.Entry]:
    lives = session.lives.filter(
        Q(to_revision=None) | Q(to_revision__gte=change.number),
        from_revision__lte=change.number,
        number__lte=change.last_number,
    )
    pins = _pins_then(session, change)
    return [
        diff.Entry(
            number=number,
            place=place,
            bytes=size,
            pinned=pins.get(number, pinned),
            replaces=replaces,
            before=begun < change.number,
            after=ended is None or ended > change.number,
            fate=Fate(fate) if ended == change.number and fate else None,
            ended_stage=ended_stage if ended == change.number else "",
            origin=Origin(origin) if begun == change.number and origin else None,
            begun_stage=begun_stage if begun == change.number else "",
        )
        for (
            number, place, size, pinned, replaces, begun, ended, fate, ended_stage, origin,
            begun_stage,
        ) in lives.values_list(
            "number", "place", "message__bytes", "message__pinned", "message__replaces",
            "from_revision", "to_revision", "fate", "ended_stage", "origin", "begun_stage",
        )
    ]  # fmt: skip


def _holds(number: int, begun: int, ended: int | None, state: State) -> bool:
    return (
        begun <= state.revision
        and number <= state.last_number
        and (ended is None or ended > state.revision)
    )


def _entry(number: int, told: Sequence[Any], *, before: bool, after: bool) -> diff.Entry:
    """Of the last life that was looked at."""
    place, size, pinned, replaces, fate, ended_stage, origin, begun_stage = told
    return diff.Entry(
        number,
        place,
        size,
        pinned,
        replaces,
        before=before,
        after=after,
        fate=Fate(fate) if fate and not after else None,
        ended_stage=ended_stage,
        origin=Origin(origin) if origin else None,
        begun_stage=begun_stage,
    )


def _pins_then(session: AgentSession, change: Revision) -> dict[int, bool]:
    """What was pinned at the change, of all that was ever pinned or unpinned here: by the last such
    event before it, else by the first after it, since what is unpinned was pinned."""
    kinds = (EventKind.PINNED, EventKind.UNPINNED)
    events = session.events.filter(kind__in=kinds).order_by("seq")
    pins: dict[int, bool] = {}
    for kind, facts, at in events.values_list("kind", "data", "at"):
        if at <= change.at:
            pins |= dict.fromkeys(facts["numbers"], kind == EventKind.PINNED)
        else:
            before = dict.fromkeys(facts["numbers"], kind == EventKind.UNPINNED)
            pins = before | pins
    return pins
