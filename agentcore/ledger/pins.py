"""Messages that a person may want to pin: rules and decisions that hold."""

from __future__ import annotations

from agentcore.facts import FactKind
from agentcore.ledger.book import Ledger

SUGGESTED = (FactKind.CONSTRAINT, FactKind.DECISION)


def suggest_pins(ledger: Ledger) -> dict[int, str]:
    """Message numbers, ascending, each with the reason: the kind and the first such statement."""
    reasons: dict[int, str] = {}
    for kind in SUGGESTED:
        for fact in ledger.facts(kind):
            reasons.setdefault(fact.number, f"{kind}: {fact.text}")
    return dict(sorted(reasons.items()))
