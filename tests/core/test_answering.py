"""Who answers where a run has a ceiling of cost."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from histories import calls, result, user, with_picture
from stage import DONE, Stage, use

from agentcore import PRESETS
from agentcore.answering import ANSWER_TOKENS, Answering
from agentcore.asking import Asking
from agentcore.context import Context
from agentcore.errors import ModelError
from agentcore.events import Event, LimitReached, RunEnd, TurnEnded
from agentcore.halt import Halt
from agentcore.llm.base import Reply
from agentcore.llm.router import Tier, Tiers
from agentcore.llm.scripted import ScriptedModel
from agentcore.options import Ceilings
from agentcore.prefix import Prefix
from agentcore.pressure import TokenCounter
from agentcore.snapshot import Snapshot
from agentcore.tools.base import Toolbox, Workspace
from agentcore.turn import Spent
from agentcore.usage import Prices, Usage

CALL = Usage(input=1_000, output=1_000)


def prices(amount: int, read: str | None = None) -> Prices:
    """USD a million tokens; a thousand of them cost a thousandth of it."""
    price = Decimal(amount)
    return Prices(price, price, Decimal(read) if read else None, source=str(amount))


LARGE = Tier("large", 1, "acme", "scripted", prices=prices(1_000))
MIDDLE = Tier("middle", 2, "acme", "middle-2", prices=prices(100))
SMALL = Tier("small", 3, "acme", "small-3", prices=prices(50))


class Other(ScriptedModel):
    def __init__(self, name: str, *lines: Any) -> None:
        super().__init__(lines)
        self.name = name  # type: ignore[misc]


def billed(*texts: str) -> Reply:
    return Reply(use(*texts) if texts else DONE, usage=CALL)


def chosen(left: str | None, tokens: int = 1_000, *, heard: Usage | None = None) -> str:
    tiers = Tiers(LARGE, [MIDDLE, SMALL], lambda tier: Other(tier.model))
    answering = Answering(Other("scripted"), LARGE.prices, tiers)
    answering.heard(heard)
    answering.choose(tokens, Decimal(left) if left else None)
    return answering.now.model.name


@pytest.mark.parametrize(
    ("left", "name"),
    [(None, "scripted"), ("2", "scripted"), ("1.99", "middle-2"), ("0.2", "middle-2")]
    + [("0.19", "small-3"), ("0.001", "small-3")],
)
def test_one_tier_down_at_a_time_until_the_next_request_fits(left: str | None, name: str) -> None:
    assert ANSWER_TOKENS == 1_000
    assert chosen(left) == name


def test_an_answer_is_expected_as_long_as_the_last_one() -> None:
    assert chosen("1.1", heard=Usage(input=10, output=100)) == "scripted"
    assert chosen("1.1", heard=Usage(input=10, output=101)) == "middle-2"


def test_what_lies_in_the_cache_of_a_model_is_cheap_for_that_one_alone() -> None:
    large = Tier("large", 1, "acme", "scripted", prices=prices(1_000, "100"))
    middle = Tier("middle", 2, "acme", "middle-2", prices=prices(900, "1"))
    answering = Answering(
        Other("scripted"), large.prices, Tiers(large, [middle], lambda tier: Other(tier.model))
    )
    answering.heard(Usage(input=0, cache_write=10_000, output=0))
    # 1.00 from the cache and 0.10 beside it; at the other model all 10,100 tokens are new.
    answering.choose(10_100, Decimal("1.1"))
    assert answering.now.model.name == "scripted"
    answering.choose(10_100, Decimal("1.0999"))
    assert answering.now.model.name == "middle-2"
    assert answering.now.reason == (
        "a request to large costs about 1.1000 USD, the budget has 1.0999 left"
    )


def test_without_other_tiers_the_own_model_answers() -> None:
    own = Other("scripted")
    for tiers in (None, Tiers(LARGE, [], lambda tier: Other(tier.model))):
        answering = Answering(own, LARGE.prices, tiers)
        answering.choose(10**6, Decimal("0.01"))
        assert (answering.now.model, answering.now.reason) == (own, "")


async def test_a_model_that_takes_no_pictures_does_not_speak_for_another() -> None:
    async def emit(events: Sequence[Event]) -> None:
        pass

    blind = Other("small-3", ModelError("no image input", over_pictures=True), DONE)
    seeing = Other("scripted", DONE)
    asking = Asking(
        Answering(seeing, LARGE.prices, Tiers(LARGE, [SMALL], lambda tier: blind)),
        Toolbox((), Workspace(Path())),
        counter=TokenCounter(),
        prefix=Prefix(),
        halt=Halt(),
        emit=emit,
        on_text=None,
    )
    shown = Context(Snapshot.of([user("look"), calls("c"), with_picture(result("c", "a.png"))]))
    free = PRESETS["nanohermes"]
    for profile in (free.replace(ceilings=Ceilings(cost="0.5")), free):
        await asking.reply(shown, profile, Spent())
    sent = [asked.messages[2].wire for model in (blind, seeing) for asked in model.requests]
    assert ["data:image" in wire for wire in sent] == [True, False, True]


async def test_a_run_steps_down_within_its_ceiling_and_each_turn_says_so() -> None:
    middle, small = Other("middle-2", billed("{}")), Other("small-3", *[billed("{}")] * 9)
    models = {"middle-2": middle, "small-3": small}
    profile = PRESETS["nanohermes"].replace(ceilings=Ceilings(cost="2.43"))
    stage = Stage([billed("{}")], profile).say()
    tiers = Tiers(LARGE, [MIDDLE, SMALL], lambda tier: models[tier.model])
    assert await stage.run(prices=LARGE.prices, tiers=tiers) is RunEnd.LIMIT
    turns = stage.events(TurnEnded)
    asked = [turn.requested_model for turn in turns]
    assert asked[:2] == ["scripted", "middle-2"] and set(asked[2:]) == {"small-3"}
    assert [turn.prices.source for turn in turns[:3]] == ["1000", "100", "50"]
    assert [turn.cost for turn in turns[:3]] == [Decimal(2), Decimal("0.2"), Decimal("0.1")]
    assert turns[0].routed == "" and turns[1].facts["model"] == "middle-2"
    assert turns[1].facts["routed"].startswith("a request to large costs about ")
    assert turns[2].facts["routed"].startswith("a request to middle costs about ")
    assert [turn.break_reason for turn in turns[:4]] == [None, "model", "model", None]
    assert sum(turn.cost or 0 for turn in turns) >= Decimal("2.43")
    assert [event.ceiling for event in stage.events(LimitReached)] == ["cost"]
