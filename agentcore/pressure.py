"""What the window holds, what limits it, and the one counter that every reader shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TypeVar

from agentcore.breakdown import Category, Sizes, text_tokens

K = TypeVar("K")

ASSUMED_WINDOW = 128_000
# By the beginning of the model's name; the longest match counts.
MODEL_WINDOWS = {
    "claude-": 200_000,
    "gpt-4o": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-5": 400_000,
    "o3": 200_000,
    "o4": 200_000,
    "gemini-": 1_048_576,
    "qwen3": 131_072,
    "deepseek": 131_072,
    "llama-3.1": 131_072,
}


class Unit(StrEnum):
    BYTES = "bytes"
    CHARS = "chars"
    TOKENS = "tokens"


class WindowSource(StrEnum):
    PROFILE = "profile"
    MODEL_TABLE = "model_table"
    ASSUMED = "assumed"
    CONTRADICTED = "contradicted"


class TokenSource(StrEnum):
    PROVIDER = "provider"
    EXACT = "exact"
    ESTIMATE = "estimate"


@dataclass(frozen=True, slots=True)
class Window:
    """What one request must not pass, in tokens, and who says so; `model` where it is the provider
    of that model, who refused a request."""

    tokens: int
    source: WindowSource
    model: str = ""

    @property
    def is_known(self) -> bool:
        return self.source is not WindowSource.ASSUMED

    def corrected(self, contradicted: Window | None) -> Window:
        """What a provider said holds against every other source, but for a profile's own window
        that is smaller."""
        if contradicted is None:
            return self
        smaller = self.source is WindowSource.PROFILE and self.tokens < contradicted.tokens
        return self if smaller else contradicted


@dataclass(frozen=True, slots=True)
class Budget:
    """What pressure is measured against."""

    limit: int
    unit: Unit


@dataclass(frozen=True, slots=True)
class Pressure:
    """`used` of `limit` in `unit`; `tokens` are those of the whole request, next to send."""

    used: int
    limit: int
    unit: Unit
    tokens: int
    window: Window
    reserve: int

    @property
    def fraction(self) -> float:
        """0.0 and up; over 1.0 when the limit is passed."""
        return self.used / self.limit

    @property
    def fits_window(self) -> bool:
        return self.tokens + self.reserve <= self.window.tokens


class TokenCounter:
    """The only counter of a session: estimates by script, corrected by what providers reported."""

    def __init__(self, ratio: float = 1.0) -> None:
        self.ratio = ratio

    def count(self, sizes: Sizes) -> int:
        return round(sizes.tokens * self.ratio)

    def learn(self, reported: int, sizes: Sizes) -> None:
        """Take the ratio of a reported prompt to the estimate of the same request."""
        if reported > 0 and sizes.tokens > 0:
            self.ratio = reported / sizes.tokens

    def pressure(
        self,
        messages: Sizes,
        schemas: Sizes,
        *,
        budget: Budget,
        window: Window,
        reserve: int,
        counts_schemas: bool,
    ) -> Pressure:
        request = messages + schemas
        counted = request if counts_schemas else messages
        used = {
            Unit.BYTES: counted.bytes,
            Unit.CHARS: counted.chars,
            Unit.TOKENS: self.count(counted),
        }[budget.unit]
        return Pressure(used, budget.limit, budget.unit, self.count(request), window, reserve)


def category_tokens(total: int, sizes: Sizes) -> dict[Category, int]:
    """The tokens of a list or request by category; they sum to the total. Text is shared out by its
    bytes, media have what the estimate gives them."""
    text = min(text_tokens(sizes), sizes.tokens)
    length = max(1, sum(sizes.breakdown.values()) - sizes.breakdown[Category.IMAGES])
    weights = {
        category: sizes.tokens - text
        if category is Category.IMAGES
        else Fraction(size * text, length)
        for category, size in sizes.breakdown.items()
    }
    return apportion(total, weights)


def apportion(total: int, weights: Mapping[K, int | Fraction]) -> dict[K, int]:
    """Whole parts in proportion to the weights that sum to the total, by largest remainder. Without
    any weight there is nothing to share out, and all are 0."""
    whole = sum(weights.values(), Fraction(0))
    if not whole:
        return dict.fromkeys(weights, 0)
    exact = {key: total * weight / whole for key, weight in weights.items()}
    parts = {key: int(share) for key, share in exact.items()}
    missing = total - sum(parts.values())
    for key in sorted(exact, key=lambda key: parts[key] - exact[key])[:missing]:
        parts[key] += 1
    return parts


def window_of(model: str, given: int | None = None, assumed: int = ASSUMED_WINDOW) -> Window:
    """The window that a profile gives, else the model table's, else the assumed one."""
    if given:
        return Window(given, WindowSource.PROFILE)
    name = model.rsplit("/", 1)[-1].lower()
    matches = [prefix for prefix in MODEL_WINDOWS if name.startswith(prefix)]
    if matches:
        return Window(MODEL_WINDOWS[max(matches, key=len)], WindowSource.MODEL_TABLE)
    return Window(assumed, WindowSource.ASSUMED)
