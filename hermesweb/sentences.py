"""What `agentcore` says to people, in the reader's language.

It says it in English, and rows keep it so; beside it they keep how it was made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

from agentcore.said import Said


def told(text: str) -> str:
    """Text of another kind as it is."""
    return _told(text.form, text.figures) if isinstance(text, Said) else text


def retold(kept: Mapping[str, Any]) -> str:
    """Of what `agentcore.said.as_json` made."""
    return _told(kept["form"], kept["figures"])


def _told(form: str, figures: Mapping[str, Any]) -> str:
    return gettext(form).format(**{name: _figure(value) for name, value in figures.items()})


def _figure(value: Any) -> Any:
    if isinstance(value, Mapping):
        return retold(value)
    return told(value) if isinstance(value, str) else value
