from __future__ import annotations

from decimal import Decimal

import pytest
from histories import legal_lists
from hypothesis import given
from hypothesis import strategies as st

from agentcore.breakdown import MEDIA_TOKENS, NOTHING, Category
from agentcore.messages import born
from agentcore.pressure import TokenCounter, apportion, category_tokens
from agentcore.snapshot import Snapshot
from agentcore.usage import Prices, Usage

SONNET = Prices(Decimal("3.00"), Decimal("15.00"), Decimal("0.30"), Decimal("3.75"), "endpoint")


def test_schemas_read_from_the_cache_cost_a_tenth() -> None:
    """spec-context 9: 11,000 tokens x (3.00 - 0.30) USD a million, a call and 30 calls."""
    paid, cached = SONNET.cost(Usage(input=11_000)), SONNET.cost(Usage(cache_read=11_000))
    assert paid is not None and cached is not None
    assert paid - cached == Decimal("0.0297")
    assert round(30 * (paid - cached), 2) == Decimal("0.89")


def test_each_kind_of_token_has_its_own_price() -> None:
    usage = Usage(1_000_000, 2_000_000, 3_000_000, 4_000_000, reasoning=1_000_000)
    assert SONNET.cost(usage) == Decimal("3.00") + 30 + Decimal("0.90") + 15


@pytest.mark.parametrize(
    ("prices", "usage", "cost"),
    [
        (Prices(), Usage(input=1), None),
        (SONNET, None, None),
        (Prices(input=Decimal(3)), Usage(input=1_000_000), Decimal(3)),
        (Prices(input=Decimal(3)), Usage(input=1_000_000, output=1), None),
        (Prices(Decimal(0), Decimal(0)), Usage(input=9, output=9), Decimal(0)),
    ],
)
def test_a_price_that_is_not_known_makes_the_cost_unknown_and_not_0(
    prices: Prices, usage: Usage | None, cost: Decimal | None
) -> None:
    assert prices.cost(usage) == cost


def test_usages_add_up() -> None:
    assert Usage(1, 2, 3, 4, 5) + Usage(10, 20, 30, 40, 50) == Usage(11, 22, 33, 44, 55)


@given(st.integers(0, 10**9), st.dictionaries(st.text(), st.integers(1, 10**9), min_size=1))
def test_parts_sum_to_the_total_and_none_is_off_by_one(total: int, weights: dict[str, int]) -> None:
    parts = apportion(total, weights)
    whole = sum(weights.values())
    assert sum(parts.values()) == total
    assert all(abs(parts[key] * whole - total * weight) < whole for key, weight in weights.items())


def test_the_largest_remainder_takes_what_is_left_over() -> None:
    assert apportion(10, {"a": 1, "b": 1, "c": 1}) == {"a": 4, "b": 3, "c": 3}
    assert apportion(3, {"a": 70, "b": 25, "c": 5}) == {"a": 2, "b": 1, "c": 0}
    assert apportion(7, {}) == {}
    assert apportion(7, {"a": 0}) == {"a": 0}


@given(legal_lists(), st.floats(0.2, 5))
def test_the_tokens_of_the_categories_sum_to_those_shown(
    values: list[dict[str, object]], ratio: float
) -> None:
    sizes = Snapshot.of(values).sizes
    counter = TokenCounter(ratio)
    parts = category_tokens(counter.count(sizes), sizes)
    assert sum(parts.values()) == counter.count(sizes) == round(sizes.tokens * ratio)
    assert set(parts) == set(sizes.breakdown)


def test_a_picture_has_the_tokens_of_the_estimate_whatever_its_length() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 400_000}}
    text = {"type": "text", "text": "what is this? " * 100}
    sizes = born({"role": "user", "content": [text, picture]}).sizes
    parts = category_tokens(sizes.tokens, sizes)
    assert abs(parts[Category.IMAGES] - MEDIA_TOKENS) < 100
    assert parts[Category.USER] > 300
    assert category_tokens(0, NOTHING) == {}
