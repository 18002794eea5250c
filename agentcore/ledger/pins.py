"""Messages that a person may want to pin: rules and decisions that hold."""

from __future__ import annotations

from agentcore.facts import FactKind
from agentcore.ledger.book import Ledger
from agentcore.said import Said

_NAMES = {FactKind.CONSTRAINT: Said("constraint"), FactKind.DECISION: Said("decision")}


def suggest_pins(ledger: Ledger) -> dict[int, str]:
    """Message numbers, ascending, each with the reason: the kind and the first such statement."""
    reasons: dict[int, str] = {}
    for kind in _NAMES:
        for fact in ledger.facts(kind):
            said = Said("{kind}: {text}", kind=_NAMES[kind], text=fact.text)
            reasons.setdefault(fact.number, said)
    return dict(sorted(reasons.items()))
