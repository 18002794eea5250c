from __future__ import annotations

from collections.abc import Mapping

from django import template
from django.utils.translation import gettext as _

from agentcore.compaction.plan import Fate
from hermesweb.templatetags.units import size

register = template.Library()

# A sign for each fate, so that colour is never alone; what was added has one for all origins.
SIGNS: Mapping[str, str] = {
    Fate.KEPT: "=",
    Fate.PINNED: "◆",
    Fate.SNIPPED: "~",
    Fate.MASKED: "#",
    Fate.CUT: "⌁",
    Fate.FOLDED: "&",
    Fate.SUMMARIZED: "Σ",
    Fate.DROPPED: "×",
    Fate.EXCLUDED: "−",
    Fate.REPAIRED: "✓",
    Fate.REBUILT: "↻",
}


@register.filter
def fate_sign(name: str) -> str:
    return SIGNS.get(name, "+")


@register.filter
def change(count: int | None) -> str:
    """Bytes with their sign: `+1.2 kB`, `−9.2 kB`, `0 B`."""
    if not count:
        return _("unknown") if count is None else size(0)
    return f"{'+' if count > 0 else '−'}{size(abs(count))}"
