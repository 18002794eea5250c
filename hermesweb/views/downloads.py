"""Figures as files."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping

from django.http import HttpResponse

# With what a spreadsheet begins a formula, behind white space that it drops too.
FORMULA = re.compile(r"\s*[=+\-@]")


def csv_file(name: str, rows: Iterable[Mapping[str, object]]) -> HttpResponse:
    """With the keys of the first row as its head."""
    response = HttpResponse(
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
    writer = csv.writer(response)
    for place, row in enumerate(rows):
        if place == 0:
            writer.writerow(row)
        writer.writerow(map(_cell, row.values()))
    return response


def _cell(value: object) -> object:
    """Text that a spreadsheet would take for a formula is marked as text."""
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value
