"""Sentences for people: English, and made so that another language can say them anew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentcore.kinds import shown

FIGURE_CHARS = 500


class Said(str):
    """A form with figures in it; one of them may be such a sentence too. It is the English text
    for all who look no further, and an error that is made of it keeps it: `str(error)` is it."""

    form: str
    figures: Mapping[str, Any]

    def __new__(cls, form: str, /, **figures: Any) -> Said:
        said = super().__new__(cls, form.format(**figures))
        said.form, said.figures = form, figures
        return said

    def __str__(self) -> Said:
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[str], Mapping[str, Any]]:
        return (self.form,), self.figures


def as_json(text: str, chars: int = FIGURE_CHARS) -> dict[str, Any]:
    """How a sentence was made: `form` and `figures`, texts as they may be seen and at most so long.
    Empty for text that is none."""
    if not isinstance(text, Said):
        return {}
    figures = {name: _figure(value, chars) for name, value in text.figures.items()}
    return {"form": text.form, "figures": figures}


def _figure(value: Any, chars: int) -> Any:
    if isinstance(value, Said):
        return as_json(value, chars)
    return value if isinstance(value, int | float) else shown(str(value), chars)
