"""A list with some of its rows taken out, replaced and put in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


def splice(
    rows: Sequence[T],
    empty: Sequence[tuple[int, int]],
    replaced: Mapping[int, T],
    added: Sequence[tuple[int, T]],
) -> list[T]:
    """The rows without those that leave an empty place (start, stop); what is added stands in front
    of its row. First what replaces, since nothing moves by it, then the rest from cut to cut: the
    cost is that of what stays and of the changes."""
    if replaced or not (empty or added):
        rows = list(rows)
        for row, entry in replaced.items():
            rows[row] = entry
        if not (empty or added):
            return rows
    spliced: list[T] = []
    row = waiting = 0
    for start, stop in (*empty, (len(rows), len(rows))):
        while waiting < len(added) and added[waiting][0] <= start:
            at, entry = added[waiting]
            at = max(row, at)
            spliced += rows[row:at]
            spliced.append(entry)
            row, waiting = at, waiting + 1
        spliced += rows[row:start]
        row = stop
    return spliced


def left_empty(
    cuts: Iterable[tuple[int, int]], replaced: Collection[int]
) -> Iterator[tuple[int, int]]:
    """The runs of rows that leave with nothing in their places."""
    for start, stop in cuts:
        for row in range(start, stop):
            if row in replaced:
                if start < row:
                    yield start, row
                start = row + 1
        if start < stop:
            yield start, stop
