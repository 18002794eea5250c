"""How the categories of a breakdown are named and lettered, in the order of the gauge.

The order is that of the request: rigid parts first, tool results last.
"""

from __future__ import annotations

from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from hermesweb.labels import words

LETTERS: dict[str, str] = {
    "system_prompt": "S",
    "project_docs": "D",
    "project_context": "P",
    "skills": "K",
    "tool_schemas": "F",
    "memory": "M",
    "summary": "Y",
    "user": "U",
    "assistant": "A",
    "thinking": "T",
    "tool_calls": "C",
    "images": "I",
    "tool_results": "R",
}

# The wall draws five groups instead of thirteen categories; each takes the colour of its key.
GROUPS: dict[str, tuple[str, ...]] = {
    "system_prompt": (
        "system_prompt",
        "project_docs",
        "project_context",
        "skills",
        "tool_schemas",
    ),
    "memory": ("memory",),
    "summary": ("summary",),
    "user": ("user", "assistant", "thinking", "tool_calls", "images"),
    "tool_results": ("tool_results",),
}

GROUP_NAMES = {
    "system_prompt": _("system and tools"),
    "memory": _("memory"),
    "summary": _("summary"),
    "user": _("conversation"),
    "tool_results": _("tool results"),
}


def label(category: str) -> str:
    """`tool_results` -> `Tool results`."""
    return capfirst(words(category))
