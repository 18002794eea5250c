"""What a run costs: tokens by their prices, broken replies too, and the ceiling that ends it."""

from __future__ import annotations

import time
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from histories import user
from stage import DONE, Stage, use

from agentcore import PRESETS
from agentcore.compaction.breaker import Breaker
from agentcore.compaction.plan import CompactionPlan, Fate, Removal
from agentcore.compaction.result import Failure
from agentcore.compaction.summarizer import summary_request
from agentcore.context import Context
from agentcore.errors import ModelError, ProfileError
from agentcore.events import LimitReached, RequestRetried, RunEnd, RunEnded, TurnEnded
from agentcore.halt import Halt
from agentcore.kinds import EventKind
from agentcore.llm.base import Reply
from agentcore.llm.scripted import ScriptedModel
from agentcore.messages import born
from agentcore.options import Ceilings, SummaryOptions
from agentcore.prefix import Prefix, Sent
from agentcore.pressure import Window, WindowSource
from agentcore.snapshot import Snapshot
from agentcore.turn import Spent
from agentcore.usage import Prices, Usage
from agentcore.writer import SummaryWriter

PRICES = Prices(Decimal("3.00"), Decimal("15.00"), Decimal("0.30"), Decimal("3.75"), "sonnet")
CALL = Usage(input=1_000, output=200, cache_read=10_000)
COST = Decimal("0.009")


def capped(cost: str | None) -> Any:
    return PRESETS["nanohermes"].replace(ceilings=Ceilings(cost=cost))


def billed(*texts: str) -> Reply:
    return Reply(use(*texts) if texts else DONE, usage=CALL)


async def test_a_turn_costs_what_its_tokens_cost_and_tells_the_prices() -> None:
    stage = Stage([billed("{}"), DONE]).say()
    await stage.run(prices=PRICES)
    first, second = stage.events(TurnEnded)
    assert (first.cost, first.prices) == (COST, PRICES)
    assert first.facts["cost"] == "0.009"
    assert second.usage is None and second.cost is None and second.facts["cost"] is None


def test_a_run_ends_at_100_turns_300_calls_and_60_minutes_whatever_it_costs() -> None:
    ceilings = Ceilings()
    assert (ceilings.turns, ceilings.tool_calls, ceilings.minutes) == (100, 300, 60)
    assert ceilings.cost is None
    assert {preset.ceilings for preset in PRESETS.values()} == {ceilings}


@pytest.mark.parametrize(("minutes", "ends"), [(59, False), (60, True)])
async def test_the_minutes_of_a_run_are_a_ceiling_that_says_so(minutes: int, ends: bool) -> None:
    started = time.monotonic() - 60 * minutes - 1
    stage = Stage([DONE]).say()
    agent = stage.agent(run=1, run_open=True, spent=Spent(started=started))
    assert await agent.run() is (RunEnd.LIMIT if ends else RunEnd.ANSWERED)
    assert [event.ceiling for event in stage.events(LimitReached)] == ["minutes"] * ends


async def test_the_cost_of_a_run_is_a_ceiling_that_says_so() -> None:
    stage = Stage([billed("{}")] * 9, profile=capped("0.02")).say()
    assert await stage.run(prices=PRICES) is RunEnd.LIMIT
    assert len(stage.model.requests) == 3
    (reached,) = stage.events(LimitReached)
    assert reached.facts == {"ceiling": "cost", "value": "0.02"}


@pytest.mark.parametrize(("cost", "prices"), [(None, PRICES), ("0.00000001", Prices())])
async def test_without_ceiling_or_price_the_cost_ends_nothing(
    cost: str | None, prices: Prices
) -> None:
    stage = Stage([*[billed("{}")] * 4, DONE], profile=capped(cost)).say()
    assert await stage.run(prices=prices) is RunEnd.ANSWERED


async def test_the_ceilings_of_a_run_hold_for_the_worker_that_comes_next() -> None:
    before = Spent(turns=2, tool_calls=2, cost=COST)
    stage = Stage([billed("{}")] * 9, profile=capped("0.02")).say()
    stage.context.append(user("go"))
    assert await stage.run(prices=PRICES, spent=before, run=1, run_open=True) is RunEnd.LIMIT
    assert len(stage.model.requests) == 2


@pytest.mark.parametrize("cost", ["", "0", "0.0", "-1", "1e3", "NaN", "٣", "2.", 2, 2.5, True])
def test_a_ceiling_of_cost_is_an_amount_as_text(cost: Any) -> None:
    with pytest.raises(ProfileError) as caught:
        Ceilings(cost=cost)
    assert caught.value.field == "ceilings.cost"


async def test_what_a_broken_reply_cost_is_told_and_counts() -> None:
    broken = ModelError("it broke off", retryable=True, retry_after=0.001, usage=CALL)
    stage = Stage([broken, billed("{}"), DONE], profile=capped("0.018")).say()
    assert await stage.run(prices=PRICES) is RunEnd.LIMIT
    (retried,) = stage.events(RequestRetried)
    assert (retried.usage, retried.cost) == (CALL, COST)
    assert retried.facts["usage"]["cache_read"] == 10_000


async def test_a_run_that_fails_keeps_what_its_last_try_cost() -> None:
    stage = Stage([Reply({"role": "assistant", "content": " "}, usage=CALL)] * 3).say()
    assert await stage.run(prices=PRICES) is RunEnd.FAILED
    (ended,) = stage.events(RunEnded)
    assert (ended.usage, ended.cost) == (CALL, COST)
    assert [one.cost for one in stage.events(RequestRetried)] == [COST, COST]


async def test_a_contradicted_window_holds_for_the_worker_that_comes_next() -> None:
    stage = Stage([DONE], PRESETS["balanced"]).say()
    await stage.run(contradicted=Window(9_000, WindowSource.CONTRADICTED, "scripted"))
    (turn,) = stage.events(TurnEnded)
    assert turn.facts["window"] == {"tokens": 9_000, "from": "contradicted"}


@pytest.mark.parametrize(
    ("given", "tokens", "source"),
    [(None, 9_000, "contradicted"), (20_000, 9_000, "contradicted"), (8_000, 8_000, "profile")],
)
def test_a_contradiction_gives_way_to_a_smaller_window_of_the_profile_alone(
    given: int | None, tokens: int, source: str
) -> None:
    window = PRESETS["balanced"].replace(window=given).window_for("gpt-4o")
    corrected = window.corrected(Window(9_000, WindowSource.CONTRADICTED, "gpt-4o"))
    assert (corrected.tokens, corrected.source) == (tokens, source)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (EventKind.COMPACTION_ENDED, "compaction"),
        (EventKind.UNDONE, "compaction"),
        (EventKind.TOPIC_STARTED, "compaction"),
        (EventKind.RESTORED, "pin"),
        (EventKind.EXCLUDED, "edit"),
        (EventKind.REPAIRED, "edit"),
        (EventKind.ERASED, "edit"),
    ],
)
def test_the_kind_of_change_that_took_the_message_out_is_the_reason(
    kind: EventKind, reason: str
) -> None:
    context = Context(Snapshot.of([user("one"), user("two"), user("three")]))
    prefix = Prefix()
    prefix.advance(context.snapshot(), (), Snapshot.of([]).sizes)
    context.apply(cut(context, 1), kind)
    stable, why = prefix.advance(
        context.snapshot(), (), Snapshot.of([]).sizes, causes=context.take_causes()
    )
    assert (why, prefix.break_number) == (reason, 2)
    assert stable >= context.messages[0].sizes.bytes
    assert context.take_causes() == {}


async def test_another_model_shares_no_prefix() -> None:
    stage = Stage([billed("{}"), DONE]).say()
    agent = stage.agent(prefix=Prefix(Sent(stage.context.snapshot(), "", "other", {})))
    await agent.run()
    first, second = stage.events(TurnEnded)
    assert (first.break_reason, first.stable_prefix) == ("model", 0)
    again = Prefix(Sent(stage.context.snapshot()))
    nothing = Snapshot.of([]).sizes
    assert again.advance(stage.context.snapshot(), (), nothing)[1] is None
    assert second.break_reason is None and second.stable_prefix > 0


async def test_a_worker_that_goes_on_knows_the_last_request() -> None:
    stage = Stage([billed("{}"), DONE, DONE]).say()
    await stage.run()
    last = stage.events(TurnEnded)[-1]
    sent = Snapshot.of(stage.context.messages[:-1])
    seen = Prefix(Sent(sent, last.schemas, last.requested_model, {}))
    stage.say("more").told.clear()
    await stage.run(prefix=seen, turn=2, run=1)
    (turn,) = stage.events(TurnEnded)
    schemas = turn.breakdown.request - turn.breakdown.total
    assert turn.stable_prefix == schemas + sent.sizes.bytes
    assert turn.break_reason is None


def cut(context: Context, row: int) -> Any:
    return CompactionPlan(context.state, (Removal(row, row + 1, Fate.EXCLUDED, ""),), ())


async def test_what_the_summaries_of_a_run_cost_counts_towards_its_ceiling() -> None:
    stage = Stage([billed("{}")] * 9, profile=capped("0.02")).say()
    stage.summaries = Decimal("0.012")
    assert await stage.run(prices=PRICES) is RunEnd.LIMIT
    assert len(stage.model.requests) == 1
    (reached,) = stage.events(LimitReached)
    assert reached.facts == {"ceiling": "cost", "value": "0.02"}


def test_what_summaries_cost_is_not_left_to_a_run() -> None:
    spent = Spent(cost=Decimal("0.010"), summaries=Decimal("0.004"))
    assert spent.left(capped("0.02")) == Decimal("0.006")
    assert spent.left(capped(None)) is None and spent.ceiling(capped(None), Decimal(9)) is None


TOO_LONG = Reply({"role": "assistant", "content": "word " * 2_000}, usage=CALL)
UNBILLED = Reply({"role": "assistant", "content": "It is half fixed."})


@pytest.mark.parametrize(
    ("replies", "reason", "times"),
    [
        ([replace(UNBILLED, usage=CALL)], None, 1),
        ([TOO_LONG, replace(UNBILLED, usage=CALL)], None, 2),
        ([TOO_LONG, UNBILLED], None, 1),
        ([TOO_LONG, TOO_LONG], Failure.TOO_LONG, 2),
        ([Reply({"role": "assistant", "content": " "}, usage=CALL)], Failure.EMPTY, 1),
        ([ModelError("it broke off", usage=CALL)], Failure.ERROR, 1),
        ([TOO_LONG, ModelError("it broke off", usage=CALL)], Failure.ERROR, 2),
        ([TOO_LONG, TimeoutError()], Failure.TIMEOUT, 1),
    ],
)
async def test_a_summary_has_what_all_its_requests_took_taken_or_not(
    replies: list[Reply | Exception], reason: Failure | None, times: int
) -> None:
    gone = [born(user("x" * 1_000)).numbered(1)]
    request = summary_request(gone, SummaryOptions(), 100_000)
    writer = SummaryWriter(ScriptedModel(replies), Halt(), Breaker())
    answer = await writer.write(request, override=True)
    assert answer and getattr(answer, "reason", None) is reason
    assert answer.usage == sum([CALL] * times, Usage())
