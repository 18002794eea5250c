from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from histories import answer, calls, exchange
from stage import DONE, Stage, use

from agentcore import PRESETS, Profile
from agentcore.context import Context
from agentcore.errors import ModelError
from agentcore.events import (
    Blocked,
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    Event,
    OverBudget,
    RunEnd,
    TurnEnded,
)
from agentcore.invariants import legal
from agentcore.llm.scripted import Line, ScriptedModel
from agentcore.messages import Message
from agentcore.options import Stage as ProfileStage
from agentcore.options import SummaryFailure, SummaryOptions
from agentcore.pressure import Unit
from agentcore.snapshot import Snapshot

SMALL = Profile(
    stages=(ProfileStage("keep_recent", keep=10, to_target=True),), budget=8_000, unit=Unit.BYTES
)
FULL = exchange(8)


def loaded(lines: Sequence[Line], profile: Profile = SMALL, **options: Any) -> Stage:
    """A session whose list stands well over the threshold of the small budget."""
    return Stage(lines, profile, Context(Snapshot.of(FULL)), **options)


async def test_the_list_is_compacted_before_the_request_that_would_be_too_large() -> None:
    seen: list[int] = []

    def measure(messages: Sequence[Message]) -> dict[str, Any]:
        assert legal(messages) == []
        seen.append(sum(message.sizes.bytes for message in messages))
        return DONE

    stage = loaded([measure]).say()
    await stage.run()
    (ended,) = stage.events(CompactionEnded)
    assert ended.result.trigger == "threshold"
    assert seen[0] < 8_000 * SMALL.target
    assert ended.facts["before"] > 8_000 > ended.facts["after"]
    assert stage.kinds[1] == ["compaction_started", "compaction_ended"]
    assert stage.events(TurnEnded)[0].pressure.fraction < 0.8


async def test_a_chat_without_tools_is_compacted_too() -> None:
    values = [value for turn in range(40) for value in (answer("a" * 300), answer("b"))]
    context = Context(Snapshot.of([*FULL[:2], *values]))
    stage = Stage([DONE], SMALL, context).say()
    await stage.run()
    assert len(stage.events(CompactionEnded)) == 1


async def test_compact_now_waits_for_the_border_and_is_told_to_who_asked() -> None:
    stage = loaded([], PRESETS["nanohermes"]).compact()
    await stage.run()
    (ended,) = stage.events(CompactionEnded)
    assert (ended.instruction, ended.result.trigger, ended.result.changed) == (1, "manual", True)
    assert stage.queue == []


async def test_compact_now_with_nothing_to_do_is_a_noop_with_its_reason() -> None:
    stage = Stage([]).compact()
    await stage.run()
    (ended,) = stage.events(CompactionEnded)
    assert ended.facts["state"] == "noop"
    assert ended.facts["reason"] == "nothing_to_compact"
    assert ended.facts["revision"] is None
    assert len(stage.context.messages) == 1


async def test_a_pin_that_is_set_while_the_run_goes_on_holds_at_the_next_border() -> None:
    stage = loaded([DONE], pins=frozenset({4}))
    await stage.say().run()
    assert {3, 4} <= {message.number for message in stage.context.messages}


async def test_automatic_off_leaves_the_list_alone() -> None:
    stage = loaded([DONE], SMALL.replace(automatic="off")).say()
    assert await stage.run() is RunEnd.ANSWERED
    assert not stage.events(CompactionStarted)


async def test_over_budget_is_told_once_and_names_the_largest_part() -> None:
    """Ten parallel results obey their own caps and exceed the budget together."""
    profile = PRESETS["nanohermes"]
    big = use(*['{"text": "x", "times": 19000}'] * 10)
    stage = Stage([big, use("{}"), use("{}"), DONE], profile).say()
    assert await stage.run() is RunEnd.ANSWERED
    (over,) = stage.events(OverBudget)
    assert over.largest == 4 and over.largest_bytes > 19_000
    assert over.pressure.used > over.pressure.limit


async def test_a_request_that_cannot_fit_a_known_window_is_never_sent() -> None:
    profile = PRESETS["balanced"].replace(window=1_000, reserve=100)
    stage = Stage([DONE], profile).say("x" * 9_000)
    assert await stage.run() is RunEnd.BLOCKED
    (blocked,) = stage.events(Blocked)
    assert blocked.facts["tokens"] + 100 > 1_000
    assert "unpin" in blocked.facts["ways_out"]
    assert stage.model.requests == []


async def test_a_request_over_the_window_is_sent_once_compaction_made_it_fit() -> None:
    profile = PRESETS["nanohermes"].replace(window=3_400)
    context = Context(Snapshot.of(exchange(16)))
    stage = Stage([DONE], profile, context).say()
    assert await stage.run() is RunEnd.ANSWERED
    (ended,) = stage.events(CompactionEnded)
    assert ended.result.trigger == "overflow"


async def test_an_assumed_window_blocks_nothing() -> None:
    stage = Stage([DONE], PRESETS["nanohermes"]).say("x" * 600_000)
    assert await stage.run() is RunEnd.ANSWERED
    assert not stage.events(Blocked)


async def test_a_summary_takes_the_place_of_the_note() -> None:
    model = ScriptedModel([answer("goal: fix the parser; port 8080")])
    stage = loaded([DONE], summarizer=model).say()
    await stage.run()
    summary = stage.context.messages[1]
    assert summary.text == "[Earlier summary; reference only]\ngoal: fix the parser; port 8080"
    assert stage.kinds[1:3] == [["compaction_started"], ["compaction_ended"]]
    (asked,) = model.requests
    assert asked.tools == () and len(asked.messages) == 2
    assert "read_file(" in asked.messages[1].text


FAILURES = [
    ([answer("  ")], "empty"),
    ([calls("x")], "tool_call"),
    ([answer("word " * 400)] * 2, "too_long"),
    ([ModelError("boom: sk-secret")], "error"),
]


@pytest.mark.parametrize(("lines", "failure"), FAILURES)
async def test_a_failed_summary_leaves_the_list_and_is_told(lines: Any, failure: str) -> None:
    stage = loaded([DONE], summarizer=ScriptedModel(lines)).say()
    before = [message.wire for message in stage.context.messages]
    assert await stage.run() is RunEnd.ANSWERED
    (failed,) = stage.events(CompactionFailed)
    assert failed.failure == failure
    assert not stage.events(CompactionEnded)
    assert [message.wire for message in stage.context.messages[: len(before)]] == before


@pytest.mark.parametrize(("lines", "failure"), FAILURES)
async def test_where_the_profile_says_so_the_bare_note_takes_its_place(
    lines: Any, failure: str
) -> None:
    options = SummaryOptions(on_failure=SummaryFailure.NOTE)
    stage = loaded([DONE], SMALL.replace(summary=options), summarizer=ScriptedModel(lines)).say()
    await stage.run()
    (failed,) = stage.events(CompactionFailed)
    (ended,) = stage.events(CompactionEnded)
    assert (failed.failure, ended.result.changed) == (failure, True)
    assert "boom" not in stage.context.messages[1].text
    assert stage.context.messages[1].text.startswith("[Messages omitted")


async def test_what_failed_is_not_tried_again_until_the_list_has_grown() -> None:
    model = ScriptedModel([answer("")] * 9)
    lines = [use("{}"), use("{}"), use('{"text": "x", "times": 900}'), DONE]
    stage = loaded(lines, SMALL.replace(min_gain=0.1), summarizer=model)
    await stage.say().run()
    assert len(model.requests) == 2


async def test_a_summary_that_takes_too_long_is_given_up() -> None:
    stage = loaded([DONE], SMALL.replace(summary=SummaryOptions(seconds=1)))
    stage.summarizer = Hanging([])
    await stage.say().run()
    assert [event.failure for event in stage.events(CompactionFailed)] == ["timeout"]


async def test_stop_while_a_summary_is_written_cancels_the_compaction() -> None:
    stage = loaded([DONE])
    stage.summarizer = Hanging([])
    agent = stage.say().agent()

    def throw(events: Sequence[Event]) -> None:
        if any(isinstance(event, CompactionStarted) for event in events):
            asyncio.get_running_loop().call_soon(agent.stop)

    stage.on_emit = throw
    async with asyncio.timeout(5):
        assert await agent.run() is RunEnd.STOPPED
    assert [event.failure for event in stage.events(CompactionFailed)] == ["cancelled"]
    assert len(stage.context.messages) == len(FULL) + 1


class Hanging(ScriptedModel):
    async def reply(self, *_: Any) -> Any:
        await asyncio.sleep(3_600)


async def test_the_prefix_breaks_at_a_compaction_and_only_there() -> None:
    big = use('{"text": "x", "times": 1500}')
    stage = Stage([big] * 8 + [DONE], SMALL).say()
    await stage.run()
    turns = stage.events(TurnEnded)
    compacted = {event.turn + 1 for event in stage.events(CompactionEnded)}
    assert compacted
    assert {turn.turn for turn in turns if turn.break_reason == "compaction"} == compacted
    for turn in turns[1:]:
        assert 0 < turn.stable_prefix <= turn.breakdown.request
