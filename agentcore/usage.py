"""The tokens that a provider billed, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass, fields
from decimal import Decimal

MILLION = 1_000_000
# What a provider or a recording says beyond is no number of tokens.
MOST_TOKENS = 2**53


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request as the provider reported them, normalized: `input` holds neither
    cache figure; the prompt is input + cache_read + cache_write. `reasoning` is part of output."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    @property
    def prompt(self) -> int:
        return self.input + self.cache_read + self.cache_write

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(Usage)))


def count(value: object) -> int:
    """A number of tokens from outside; what is none counts as 0."""
    return value if type(value) is int and 0 <= value < MOST_TOKENS else 0


@dataclass(frozen=True, slots=True)
class Prices:
    """USD a million tokens; None where it is not known. `source` says who gave them."""

    input: Decimal | None = None
    output: Decimal | None = None
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None
    source: str = ""

    def cost(self, usage: Usage | None) -> Decimal | None:
        """USD, or None where the usage, or a price that it needs, is not known."""
        if usage is None:
            return None
        total = Decimal(0)
        for name in ("input", "output", "cache_read", "cache_write"):
            price: Decimal | None = getattr(self, name)
            if tokens := getattr(usage, name):
                if price is None:
                    return None
                total += tokens * price / MILLION
        return total
