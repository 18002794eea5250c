"""What `agentcore`, and we where no page is drawn, say to people, in the reader's language.

It is said in English, and rows keep it so; beside it they keep how it was made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

from agentcore.said import Said


def told(text: str) -> str:
    """Text of another kind as it is."""
    if not isinstance(text, Said):
        return text
    figures = text.figures.items()
    return gettext(text.form).format(
        **{name: told(value) if isinstance(value, Said) else value for name, value in figures}
    )


def retold(kept: Mapping[str, Any]) -> str:
    """Of what `agentcore.said.as_json` made; empty for what it cannot have made."""
    try:
        return _anew(kept)
    except (AttributeError, LookupError, TypeError, ValueError):
        return ""


def _anew(kept: Mapping[str, Any]) -> str:
    figures = kept["figures"].items()
    return gettext(kept["form"]).format(
        **{name: _anew(value) if isinstance(value, Mapping) else value for name, value in figures}
    )
