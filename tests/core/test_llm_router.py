from __future__ import annotations

from decimal import Decimal

import pytest

from agentcore.llm.masked import MaskedModel
from agentcore.llm.openai import OpenAIModel
from agentcore.llm.router import Purpose, Route, Tier, route
from agentcore.llm.scripted import ScriptedModel
from agentcore.messages import born
from agentcore.usage import Prices, Usage


def tier(name: str, number: int, price: int | None = None, **known: object) -> Tier:
    cost = Decimal(price) if price is not None else None
    known.setdefault("family", "acme")
    return Tier(name, number, prices=Prices(cost, cost), **known)  # type: ignore[arg-type]


LARGE, MIDDLE, SMALL = tier("large", 1, 10), tier("middle", 2, 4), tier("small", 3, 1)
# A million tokens, so that prices are costs.
REQUEST = Usage(input=900_000, output=100_000)


def found(purpose: Purpose, left: int | None = None, others: tuple[Tier, ...] = ()) -> Route:
    budget = Decimal(left) if left is not None else None
    chosen = others or (MIDDLE, SMALL)
    return route(LARGE, [LARGE, *chosen], purpose, expected=lambda _: REQUEST, left=budget)


@pytest.mark.parametrize(
    ("purpose", "left", "name"),
    [
        (Purpose.ANSWER, None, "large"),
        (Purpose.ANSWER, 10, "large"),
        (Purpose.ANSWER, 9, "middle"),
        (Purpose.ANSWER, 3, "small"),
        (Purpose.ANSWER, 0, "small"),
        (Purpose.SUMMARY, None, "middle"),
        (Purpose.SUMMARY, 4, "middle"),
        (Purpose.SUMMARY, 3, "small"),
    ],
)
def test_purpose_and_budget_choose_the_tier(purpose: Purpose, left: int | None, name: str) -> None:
    assert found(purpose, left).tier.name == name


def test_a_step_down_says_why() -> None:
    assert found(Purpose.ANSWER).reason == ""
    reason = found(Purpose.ANSWER, 9).reason
    assert reason == "a request to large costs about 10.0000 USD, the budget has 9.0000 left"


@pytest.mark.parametrize(
    "other",
    [
        tier("of another provider", 2, 1, family="other"),
        tier("with a window too small", 2, 1, window=999_999),
        tier("as good", 1, 1),
    ],
)
def test_only_a_cheaper_one_of_the_family_that_holds_the_request_is_taken(other: Tier) -> None:
    assert found(Purpose.SUMMARY, 0, (other,)).tier == LARGE


def test_without_a_price_nothing_is_judged_by_it() -> None:
    free = tier("unpriced", 1)
    found = route(free, [SMALL], Purpose.ANSWER, expected=lambda _: REQUEST, left=Decimal(0))
    assert found.tier == free


async def test_another_model_gets_no_secrets() -> None:
    secret = "sk-ant-" + "a1B2" * 10
    model = ScriptedModel([{"role": "assistant", "content": "a summary"}])
    await MaskedModel(model).reply([born({"role": "user", "content": f"use {secret} here"})], ())
    (sent,) = model.requests
    assert secret not in str(sent) and "[masked]" in str(sent)


def test_a_model_is_asked_at_a_temperature_where_it_takes_one() -> None:
    asked = [born({"role": "user", "content": "hi"})]
    model = MaskedModel(OpenAIModel("llama-3.1-8b", api_key="none", base_url="http://x/v1"))
    assert model.tempered(0.3).render(asked, ())["temperature"] == 0.3
    assert "temperature" not in model.render(asked, ())
    thinking = OpenAIModel("gpt-5-mini", api_key="none")
    assert "temperature" not in thinking.tempered(0.3).render(asked, ())
