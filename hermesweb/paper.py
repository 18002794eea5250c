"""A whole diff for paper: every row, and what the rewritten ones say differently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentcore import diff
from hermesweb.models import AgentSession, StoredMessage
from hermesweb.rewording import Rewording, rewording

# Bytes of the messages that are compared word by word; later ones are named alone.
MOST_BYTES = 400_000
SHOWN_CHARS = 400


@dataclass(frozen=True, slots=True)
class Line:
    """`words` None for a row that was not rewritten, and for one that had no room (`skipped`)."""

    row: diff.Row
    message: StoredMessage
    words: Rewording | None = None
    skipped: bool = False


def lines(session: AgentSession, rows: Sequence[diff.Row]) -> list[Line]:
    """Two queries, whatever the length: the messages without their bodies, and the bodies of those
    that are compared."""
    numbers = {row.number for row in rows}
    light = session.messages.defer("wire", "facts").filter(number__in=numbers)
    messages = {message.number: message for message in light}
    rewritten = [row for row in rows if row.replaced_by]
    compared = dict(_compared(session, list(_within(rewritten))))
    return [
        Line(
            row,
            messages[row.number],
            compared.get(row.number),
            skipped=bool(row.replaced_by) and row.number not in compared,
        )
        for row in rows
    ]


def _within(rewritten: Sequence[diff.Row]) -> Iterator[diff.Row]:
    room = MOST_BYTES
    for row in rewritten:
        room -= (row.bytes_before or 0) + (row.bytes_after or 0)
        if room < 0:
            return
        yield row


def _compared(session: AgentSession, rows: Sequence[diff.Row]) -> Iterator[tuple[int, Rewording]]:
    numbers = {number for row in rows for number in (row.number, row.replaced_by) if number}
    found = session.messages.filter(number__in=numbers).select_related("body").defer("facts")
    texts = {message.number: message.text for message in found}
    for row in rows:
        assert row.replaced_by is not None
        yield row.number, rewording(texts[row.number], texts[row.replaced_by], most=SHOWN_CHARS)
