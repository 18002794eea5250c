"""Substrings in the whole text of messages, some hundred at a time from the newest."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from agentcore.messages import read
from agentcore.redact import mask
from hermesweb.lines import Line, lines
from hermesweb.listing import NAMED, Choice, light, source
from hermesweb.models import AgentSession, StoredMessage

CHUNK = 500
AROUND = 90


@dataclass(frozen=True, slots=True)
class Hit:
    """A row with the first place of its text: what stands before, the words, what follows."""

    line: Line
    before: str
    words: str
    after: str


@dataclass(frozen=True, slots=True)
class Part:
    """`looked`: messages that were read for it; `next`: the choice of those before, if any."""

    hits: list[Hit]
    looked: int
    next: Choice | None


def search(session: AgentSession, choice: Choice) -> Part:
    """The text is searched as it is shown: with its secrets masked, but for a raw choice."""
    # Lists leave the wire text out; a search reads it.
    rows = light(source(session, replace(choice, q=""))).defer(None).defer("facts")
    rows = rows.order_by("-number")
    if choice.before:
        rows = rows.filter(number__lt=choice.before[1])
    wanted = re.compile(re.escape(choice.q), re.IGNORECASE)
    last = 0
    looked = 0
    found: dict[int, re.Match[str]] = {}
    kept: list[Any] = []
    for row in rows.select_related("body")[:CHUNK].iterator(chunk_size=50):
        looked, last = looked + 1, row.number
        place = _find(wanted, row.text, raw=choice.raw) or _named(wanted, row)
        if place:
            found[row.number] = place
            kept.append(row)
    more = looked == CHUNK
    shown = lines(session, kept, by_size=False, seen=None)
    return Part(
        [_hit(line, found[line.message.number]) for line in shown],
        looked,
        choice.at(before=(last, last)) if more else None,
    )


def _find(wanted: re.Pattern[str], wire: str, *, raw: bool) -> re.Match[str] | None:
    message = read(wire)
    texts = [message.text, *(f"{call.name} {call.arguments}" for call in message.calls)]
    for text in texts:
        place = wanted.search(text)
        # Masking costs more than looking, and few messages hold the words.
        if place and not raw:
            place = wanted.search(mask(text)[0])
        if place:
            return place
    return None


def _named(wanted: re.Pattern[str], row: StoredMessage) -> re.Match[str] | None:
    """In the columns that a search without whole texts looks at; they were masked when stored."""
    places = (wanted.search(getattr(row, name)) for name in NAMED)
    return next(filter(None, places), None)


def _hit(line: Line, place: re.Match[str]) -> Hit:
    start, end = place.span()
    return Hit(
        line,
        place.string[max(0, start - AROUND) : start],
        place[0],
        place.string[end : end + AROUND],
    )
