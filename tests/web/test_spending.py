from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from builders import a_user
from channels.db import database_sync_to_async
from django.test import Client
from scenes import a_talk
from working import asked, calls, in_a_thread, says

from agentcore.compaction.asked import CompactionOptions
from agentcore.errors import ContextTooLong, ModelError
from agentcore.llm.base import Reply
from agentcore.llm.scripted import ScriptedModel
from agentcore.messages import Message
from agentcore.options import Ceilings
from agentcore.usage import Usage
from hermesweb import acts, endpoints, runner, spending
from hermesweb.acts.measuring import measure
from hermesweb.models import AgentSession, ModelEndpoint, Profile, StoredTurn

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("woken")]
CALL = Usage(input=1_000, output=200, cache_read=10_000)
COST = Decimal("0.009")


@database_sync_to_async
def priced(**known: Any) -> None:
    prices = {"input": "3", "output": "15", "cache_read": "0.3", "cache_write": "3.75", **known}
    ModelEndpoint.objects.create(
        name="scripted",
        model="scripted",
        **{f"{name}_price": price and Decimal(price) for name, price in prices.items()},
    )


def a_ceiling(cost: str) -> None:
    """On what a run of the profile that sessions have here may cost."""
    values = Profile.objects.get(name="small").current.value
    acts.save_profile(None, "small", values.replace(ceilings=Ceilings(cost=cost)).values())


def billed(message: dict[str, Any]) -> Reply:
    return Reply(message, usage=CALL)


async def turns_of(session: AgentSession) -> list[StoredTurn]:
    await session.arefresh_from_db()
    return [turn async for turn in session.stored_turns.order_by("number")]


async def test_each_turn_keeps_its_cost_and_the_prices_then_in_force(
    tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    await priced()
    script(billed(calls("glob", '{"pattern": "*"}', "c1")), billed(says("done")))
    _, session = await asked(tmp_path, "go")
    await runner.run(session.pk)
    await ModelEndpoint.objects.aupdate(input_price=Decimal(99))
    first, second = await turns_of(session)
    assert first.cost == second.cost == COST
    assert (first.prices["input"], first.prices["source"]) == ("3.000000", "scripted")
    assert spending.cost(session) == 2 * COST
    assert spending.spent(session) == CALL + CALL


async def test_a_turn_that_stepped_down_says_why_on_the_page(
    tmp_path: Path, script: Callable[..., ScriptedModel], client: Client
) -> None:
    await priced()
    await ModelEndpoint.objects.acreate(
        name="small", model="small-3", tier=2, input_price=1, output_price=1, cache_read_price=1
    )
    dear = Usage(input=1_000, output=1_000, cache_read=10_000)
    script(Reply(calls("glob", '{"pattern": "*"}', "c1"), usage=dear))
    small = ScriptedModel([billed(says("done"))])
    small.name = "small-3"
    await database_sync_to_async(a_ceiling)("0.025")
    owner, session = await asked(tmp_path, "go")
    with patch.object(endpoints, "model_of", lambda row: small):
        await runner.run(session.pk)
    first, second = await turns_of(session)
    assert (first.requested_model, first.routed) == ("scripted", "")
    assert second.requested_model == "small-3"
    assert second.routed.startswith("a request to scripted costs about 0.0")

    await database_sync_to_async(client.force_login)(owner)
    page = await database_sync_to_async(client.get)(f"/sessions/{session.pk}/")
    assert f"stepped down to small-3: {second.routed}" in page.content.decode()


async def test_without_a_price_the_cost_is_unknown_and_not_0(
    tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    await priced(output=None)
    script(billed(says("done")))
    _, session = await asked(tmp_path, "go")
    await runner.run(session.pk)
    (turn,) = await turns_of(session)
    assert turn.cost is None and spending.cost(session) is None
    assert session.unpriced == 1


async def test_broken_replies_count_in_the_total_and_in_no_turn(
    tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    await priced()
    broken = ModelError("broke off", retryable=True, retry_after=0.001, usage=CALL)
    final = ModelError("no more", usage=CALL)
    script(broken, billed(calls("glob", '{"pattern": "*"}', "c1")), final)
    _, session = await asked(tmp_path, "go")
    await runner.run(session.pk)
    (turn,) = await turns_of(session)
    assert (turn.cost, spending.cost(session)) == (COST, 3 * COST)
    session.run_open = True
    assert (await database_sync_to_async(spending.of_run)(session)).cost == 2 * COST
    told = [one.data async for one in session.events.filter(kind="request_retried")]
    assert [one["cost"] for one in told] == ["0.009"]
    assert [one["usage"]["cache_read"] for one in told] == [10_000]


async def test_a_corrected_window_outlives_the_worker_and_ends_with_the_model(
    tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    script(ContextTooLong("too long", window=90_000), says("one"), says("two"))
    owner, session = await asked(tmp_path, "go", profile="balanced")
    await runner.run(session.pk)
    await database_sync_to_async(acts.send)(owner, session, "again")
    await runner.run(session.pk)
    windows = [(turn.window_tokens, turn.window_from) for turn in await turns_of(session)]
    assert windows == [(90_000, "contradicted")] * 2
    assert session.window_model == "scripted"
    await database_sync_to_async(measure)(session)
    assert (session.window_tokens, session.limit) == (90_000, 90_000)
    session.model = "other"
    await database_sync_to_async(measure)(session)
    assert session.window_from == "assumed"
    assert endpoints.contradicted(session, "other") is None


async def test_the_turn_keeps_what_was_expected_of_its_request(
    tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    script(billed(calls("glob", '{"pattern": "*"}', "c1")), billed(says("done")))
    _, session = await asked(tmp_path, "go")
    await runner.run(session.pk)
    first, second = await turns_of(session)
    assert first.ratio == pytest.approx(CALL.prompt / first.request_estimate)
    assert second.request_estimate == first.tokens
    assert first.requested_model == "scripted" and len(first.schemas) == 16


async def test_the_first_request_of_another_worker_knows_what_broke_its_prefix(
    tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    script(says("one"), says("two"), says("three"), says("four"))
    owner, session = await asked(tmp_path, "first")
    await runner.run(session.pk)
    await database_sync_to_async(acts.send)(owner, session, "second")
    await runner.run(session.pk)
    await AgentSession.objects.filter(pk=session.pk).aupdate(mode="plan")
    await database_sync_to_async(acts.send)(owner, session, "third")
    await runner.run(session.pk)
    (tmp_path / "NANOHERMES.md").write_text("Use tabs.")
    await database_sync_to_async(acts.send)(owner, session, "fourth")
    await runner.run(session.pk)
    turns = await turns_of(session)
    assert [turn.break_reason for turn in turns] == ["", "", "schemas", "prompt"]
    assert [turn.break_number for turn in turns[:3]] == [None] * 3
    assert turns[1].stable_prefix > turns[0].bytes - 100
    assert turns[2].stable_prefix == 0 and turns[3].stable_prefix > 0


async def test_what_an_open_run_has_used_is_read_from_its_rows(
    tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    await priced()
    script(billed(calls("glob", '{"pattern": "*"}', "c1")), billed(says("done")))
    _, session = await asked(tmp_path, "go")
    await runner.run(session.pk)
    await session.arefresh_from_db()
    assert (await database_sync_to_async(spending.of_run)(session)).turns == 0
    session.run_open = True
    spent = await database_sync_to_async(spending.of_run)(session)
    assert (spent.turns, spent.tool_calls, spent.cost) == (2, 1, 2 * COST)
    assert 0 <= time.monotonic() - spent.started < 60


@pytest.mark.parametrize(
    ("text", "state", "cost"),
    [("The parser is half fixed.", "applied", COST), ("", "failed", None)],
)
async def test_summaries_of_a_run_count_towards_its_ceiling_and_those_that_failed(
    tmp_path: Path,
    script: Callable[..., ScriptedModel],
    text: str,
    state: str,
    cost: Decimal | None,
) -> None:
    await priced()
    await database_sync_to_async(a_ceiling)("0.02")
    owner = await database_sync_to_async(a_user)()
    there = {"text": "x" * 2_000, "workspace": str(tmp_path)}
    talk = await database_sync_to_async(a_talk)(owner, 24, **there)
    await database_sync_to_async(acts.send)(owner, talk, "go")
    glob = {"name": "glob", "arguments": '{"pattern": "*"}'}

    def asks_to_compact(messages: Sequence[Message]) -> Reply:
        wish = CompactionOptions(stage="keep_recent", keep_last=2)
        in_a_thread(lambda: acts.compact_now(owner, talk, wish))
        return billed(calls(**glob, call_id="c1"))

    model = script(
        asks_to_compact, billed(says(text)), billed(calls(**glob, call_id="c2")), says("done")
    )
    await runner.run(talk.pk)
    (compaction,) = [one async for one in talk.stored_compactions.all()]
    assert (compaction.state, compaction.cost) == (state, cost)
    await talk.arefresh_from_db()
    assert (talk.run_end, talk.turns - 11, len(model.requests)) == ("limit", 2, 3)
    reached = await talk.events.aget(kind="limit_reached")
    assert reached.data["ceiling"] == "cost"

    assert (talk.cost, talk.unpriced) == (3 * COST, 11)
    talk.run_open = True
    spent = await database_sync_to_async(spending.of_run)(talk)
    assert (spent.cost, spent.summaries) == (2 * COST, COST)
    assert await database_sync_to_async(spending.of_summaries)(talk) == COST
