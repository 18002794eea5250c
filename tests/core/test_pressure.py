from __future__ import annotations

import pytest
from histories import user

from agentcore.breakdown import NOTHING, Sizes, measure_schemas
from agentcore.messages import born
from agentcore.pressure import Budget, Pressure, TokenCounter, Unit, Window, WindowSource
from agentcore.usage import Usage

WINDOW = Window(200_000, WindowSource.PROFILE)
SCHEMAS = measure_schemas([{"type": "function", "function": {"name": "f"}}])


def pressure(messages: Sizes, unit: Unit, *, schemas: bool, ratio: float = 1.0) -> Pressure:
    return TokenCounter(ratio).pressure(
        messages,
        SCHEMAS,
        budget=Budget(1_000, unit),
        window=WINDOW,
        reserve=10,
        counts_schemas=schemas,
    )


def test_used_is_in_the_unit_of_the_limit_with_or_without_schemas() -> None:
    sizes = born(user("中" * 100)).sizes
    assert pressure(sizes, Unit.BYTES, schemas=False).used == sizes.bytes
    assert pressure(sizes, Unit.CHARS, schemas=False).used == sizes.chars
    assert pressure(sizes, Unit.BYTES, schemas=True).used == sizes.bytes + SCHEMAS.bytes
    assert pressure(sizes, Unit.TOKENS, schemas=True, ratio=2).used == round(
        (sizes.tokens + SCHEMAS.tokens) * 2
    )


def test_tokens_are_those_of_the_whole_request_whatever_counts() -> None:
    sizes = born(user()).sizes
    with_schemas = pressure(sizes, Unit.BYTES, schemas=True)
    assert with_schemas.tokens == pressure(sizes, Unit.CHARS, schemas=False).tokens
    assert with_schemas.tokens == sizes.tokens + SCHEMAS.tokens


@pytest.mark.parametrize(
    ("tokens", "reserve", "fits"), [(180_000, 20_000, True), (180_001, 20_000, False)]
)
def test_the_reserve_counts_for_the_window_and_not_for_the_percentage(
    tokens: int, reserve: int, fits: bool
) -> None:
    one = Pressure(tokens, 200_000, Unit.TOKENS, tokens, WINDOW, reserve)
    assert one.fits_window is fits
    assert one.fraction == tokens / 200_000


@pytest.mark.parametrize(
    ("used", "window", "percent"),
    [
        (26_000, 32_000, 81),
        (170_000, 1_000_000, 17),
        (170_000, 32_000, 531),
        (494_945, 200_000, 247),
    ],
)
def test_pressure_may_pass_the_limit_and_is_not_cut(used: int, window: int, percent: int) -> None:
    one = Pressure(used, window, Unit.TOKENS, used, Window(window, WINDOW.source), 0)
    assert round(one.fraction * 100) == percent


def test_the_prompt_of_a_request_holds_both_cache_figures() -> None:
    assert Usage(input=3, cache_write=40_000, cache_read=10_000, output=500).prompt == 50_003


def test_the_counter_learns_from_what_was_reported_of_the_same_request() -> None:
    counter = TokenCounter()
    sizes = born(user("word " * 100)).sizes
    counter.learn(sizes.tokens * 3, sizes)
    assert counter.count(sizes) == sizes.tokens * 3
    counter.learn(0, sizes)
    counter.learn(10, NOTHING)
    assert counter.ratio == 3


def test_guard_trigger_and_gauge_read_the_same_counter() -> None:
    """spec-context 3, One counter: what one reader learns, every reader counts with."""
    counter = TokenCounter()
    sizes = born(user("word " * 100)).sizes
    budget = Budget(1_000, Unit.TOKENS)

    def read() -> Pressure:
        return counter.pressure(
            sizes, NOTHING, budget=budget, window=WINDOW, reserve=0, counts_schemas=True
        )

    before = read()
    counter.learn(before.tokens * 2, sizes)
    assert read().used == read().tokens == counter.count(sizes) == before.tokens * 2
