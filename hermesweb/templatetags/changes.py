from __future__ import annotations

from collections.abc import Mapping

from django import template

from agentcore.compaction.plan import Fate
from hermesweb.templatetags.units import amount

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
def change(count: int | None, unit: str = "bytes") -> str:
    """A quantity with its sign: `+1.2 kB`, `−9.2k tok`, `0 B`."""
    if not count:
        return amount(count, unit)
    return f"{'+' if count > 0 else '−'}{amount(abs(count), unit)}"
