"""Where a message stands that is put into a list (design: place)."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Container, Sequence
from operator import itemgetter

from agentcore.snapshot import Snapshot


class Places:
    """`empty`: the runs of rows (start, stop) that leave the list with nothing in their places."""

    def __init__(self, before: Snapshot, empty: Sequence[tuple[int, int]]) -> None:
        self._before = before
        self._empty = empty
        self._leading = before.leading

    def put_in(self, row: int, covers: Sequence[range], *, is_summary: bool) -> int:
        """The place of what is put in front of a row, for the rows that it covers."""
        return min(self._wanted(row, covers, is_summary=is_summary), self._behind(row) - 1)

    def _wanted(self, row: int, covers: Sequence[range], *, is_summary: bool) -> int:
        """What is put in for rows takes the place of the first; what is added stands after the row
        in front of it, a summary so after the leading messages, or at the place of a note that is
        kept there, behind it by its number."""
        places, messages = self._before.places, self._before.messages
        if covers and covers[0].start == row != self._leading:
            return places[row]
        if row and is_summary and messages[row - 1].is_summary:
            return places[row - 1]
        return places[row - 1] + 1 if row else 1

    def _behind(self, row: int) -> int:
        """The place of the first row that stays behind: of two at one place the higher number would
        come second."""
        at = bisect_right(self._empty, row, key=itemgetter(0)) - 1
        for start, stop in self._empty[max(at, 0) :]:
            if not start <= row < stop:
                break
            row = stop
        places = self._before.places
        return places[row] if row < len(places) else sys.maxsize


def note_row(before: Snapshot, kept: Container[int]) -> int:
    """Where a summary or note is put in: after the leading messages and the notes kept there."""
    row = before.leading
    while row in kept and before.messages[row].is_summary:
        row += 1
    return row
