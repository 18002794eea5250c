"""Facts that must not get lost: found without a model, in English and Chinese."""

from __future__ import annotations

from agentcore.facts import Fact, FactKind
from agentcore.ledger.book import Ledger
from agentcore.ledger.extract import extract, facts_of, with_facts
from agentcore.ledger.pins import suggest_pins
from agentcore.ledger.survival import Kept, Survival, survival

__all__ = [
    "Fact",
    "FactKind",
    "Kept",
    "Ledger",
    "Survival",
    "extract",
    "facts_of",
    "suggest_pins",
    "survival",
    "with_facts",
]
