"""Lists are read by key, a page at a time: `{"items": [...], "next": cursor | null}`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.db.models import QuerySet
from ninja import Schema
from pydantic import Field

from hermesweb.acts import Invalid

Row = TypeVar("Row")

MOST_ROWS = 200
MOST_DIGITS = 18


class Window(Schema):
    cursor: str = ""
    limit: int = Field(default=50, ge=1, le=MOST_ROWS)

    def numbers(self, count: int) -> list[int]:
        """The cursor as so many numbers, none for the first page. Raises Invalid."""
        if not self.cursor:
            return []
        parts = self.cursor.split(".")
        if len(parts) != count or not all(
            part.isascii() and part.isdigit() and len(part) <= MOST_DIGITS for part in parts
        ):
            raise Invalid(f"{self.cursor!r:.60} is not a cursor that was given here", "cursor")
        return [int(part) for part in parts]


def by_number(
    rows: QuerySet[Any], window: Window, shape: Callable[[Any], dict[str, Any]]
) -> dict[str, Any]:
    """A page of rows in the order of their `number`."""
    if after := window.numbers(1):
        rows = rows.filter(number__gt=after[0])
    found = list(rows.order_by("number")[: window.limit + 1])
    return page(found, window, lambda row: str(row.number), shape)


def page(
    found: Sequence[Row],
    window: Window,
    key: Callable[[Row], str],
    shape: Callable[[Row], dict[str, Any]],
) -> dict[str, Any]:
    """`found` may hold one row more than the page: then there is a next one."""
    rows = found[: window.limit]
    more = len(found) > len(rows)
    return {"items": [shape(row) for row in rows], "next": key(rows[-1]) if more else None}
