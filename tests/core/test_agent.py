from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from histories import answer, calls, exchange, user
from processes import PATIENCE
from stage import DONE, Echo, Stage, use

from agentcore import PRESETS
from agentcore.agent import Agent
from agentcore.breakdown import total
from agentcore.context import Context
from agentcore.errors import InstructionChanged, ModelError
from agentcore.events import (
    Event,
    LimitReached,
    MessageAdded,
    Recovered,
    Repaired,
    RequestRetried,
    RunEnd,
    RunEnded,
    ToolEnded,
    TurnEnded,
)
from agentcore.invariants import legal
from agentcore.llm.base import Reply
from agentcore.messages import Message
from agentcore.options import Ceilings
from agentcore.snapshot import Snapshot
from agentcore.usage import Usage


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentcore.asking.BACKOFF_SECONDS", 0.0)


def roles(context: Context) -> list[str]:
    return [str(message.role) for message in context.messages]


async def test_a_run_takes_the_instruction_runs_tools_and_answers() -> None:
    stage = Stage([use('{"text": "seen"}', "{}"), DONE]).say("look")
    assert await stage.run() is RunEnd.ANSWERED
    assert roles(stage.context) == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert stage.kinds == [
        ["run_started", "message_added"],
        ["message_added", "tool_started", "tool_started"],
        ["tool_ended", "message_added", "tool_ended", "message_added", "turn_ended"],
        ["message_added", "turn_ended"],
        ["run_ended"],
    ]
    assert [added.message.text for added in stage.events(MessageAdded)] == [
        "look", "", "seen", "ok", "done",
    ]  # fmt: skip
    assert stage.events(RunEnded) == [RunEnded(1, RunEnd.ANSWERED)]


async def test_a_turn_tells_its_states_sizes_and_pressure() -> None:
    stage = Stage([use("{}"), DONE]).say()
    await stage.run()
    first, second = stage.events(TurnEnded)
    assert (str(first.requested), str(first.ended)) == ("0.2", "0.4")
    assert (str(second.requested), str(second.ended)) == ("0.4", "0.5")
    messages = stage.context.messages
    assert second.sizes == total(message.sizes for message in messages)
    assert second.breakdown.total == second.sizes.bytes == second.pressure.used
    assert second.breakdown.request > second.breakdown.total
    assert second.facts["breakdown"]["tool_schemas"] > 0
    assert first.stable_prefix == 0 and second.break_reason is None
    # Everything the first request sent is the front of the second.
    sent = second.breakdown.request - sum(message.sizes.bytes for message in messages[2:])
    assert second.stable_prefix == sent


async def test_every_request_is_legal_and_ends_with_what_is_owed() -> None:
    def check(messages: Sequence[Message]) -> dict[str, Any]:
        assert legal(messages) == []
        assert messages[-1].role in ("user", "tool")
        return DONE

    stage = Stage([use("{}"), use("{}", "{}"), check]).say()
    assert await stage.run() is RunEnd.ANSWERED


async def test_queued_instructions_become_messages_in_order_at_the_border() -> None:
    stage = Stage([DONE, DONE]).say("one").say("two")
    await stage.run()
    assert [message.text for message in stage.context.messages[1:3]] == ["one", "two"]
    assert stage.queue == []
    assert [added.instruction for added in stage.events(MessageAdded)][:2] == [1, 2]


async def test_an_instruction_that_comes_while_tools_run_waits_for_the_border() -> None:
    stage = Stage([use("{}"), DONE])

    def meanwhile(events: Sequence[Event]) -> None:
        if any(event.kind == "tool_started" for event in events):
            stage.say("also this")

    stage.on_emit = meanwhile
    await stage.say("first").run()
    assert roles(stage.context)[1:] == ["user", "assistant", "tool", "user", "assistant"]
    assert len(stage.events(RunEnded)) == 1


async def test_an_instruction_edited_in_the_last_moment_is_taken_as_edited() -> None:
    stage = Stage([DONE])
    tries = 0

    def refuse_once(events: Sequence[Event]) -> None:
        nonlocal tries
        if tries == 0:
            tries += 1
            stage.edit("new text")
            raise InstructionChanged("edited")

    stage.on_emit = refuse_once
    assert await stage.say("old text").run() is RunEnd.ANSWERED
    assert [message.text for message in stage.context.messages[1:]] == ["new text", "done"]
    assert [message.number for message in stage.context.messages] == [1, 2, 3]


async def test_nothing_owed_is_no_run() -> None:
    stage = Stage([])
    assert await stage.run() is RunEnd.ANSWERED
    assert stage.told == []


async def test_a_failing_tool_is_a_result_that_the_model_reads() -> None:
    stage = Stage([use('{"fail": true}', "no json"), DONE]).say()
    await stage.run()
    first, second = (message for message in stage.context.messages if message.tool)
    assert first.text == "echo: it would not" and first.status == "failed"
    assert "not JSON" in second.text and second.status == "failed"


async def test_an_unknown_tool_is_answered_with_those_that_exist() -> None:
    stage = Stage([calls("x", name="rm"), DONE]).say()
    await stage.run()
    assert "the tools are echo" in stage.context.messages[3].text


async def test_a_long_result_is_clamped_and_the_capture_kept() -> None:
    stage = Stage([use('{"text": "0123456789", "times": 5000}'), DONE]).say()
    await stage.run()
    added = stage.events(MessageAdded)[2]
    assert added.captured == "0123456789" * 5_000
    assert added.message.cut is not None and added.message.cut.original == 50_000
    assert len(added.message.text) <= 20_120
    assert added.facts["cut"]["original"] == 50_000


async def test_calls_without_ids_of_their_own_get_some() -> None:
    reply = use("{}", "{}")
    for call in reply["tool_calls"]:
        call["id"] = ""
    stage = Stage([reply, DONE]).say()
    await stage.run()
    assert legal(stage.context.messages) == []
    assert [call.id for call in stage.context.messages[2].calls] == ["call_3_0", "call_3_1"]


async def test_passing_faults_are_tried_three_times_and_told() -> None:
    busy = ModelError("busy", retryable=True)
    stage = Stage([busy, busy, DONE]).say()
    assert await stage.run() is RunEnd.ANSWERED
    assert [event.attempt for event in stage.events(RequestRetried)] == [1, 2]


async def test_a_server_that_refuses_pictures_is_asked_without_them_and_told() -> None:
    blind = ModelError("no image input", over_pictures=True)
    stage = Stage([use('{"picture": true}'), blind, use("{}"), DONE]).say()
    assert await stage.run() is RunEnd.ANSWERED
    (told,) = stage.events(RequestRetried)
    assert told.reason == "no image input; asked again without pictures"
    assert "data:image/png" in stage.context.messages[3].wire
    first, refused, *later = [
        "".join(one.wire for one in asked.messages) for asked in stage.model.requests
    ]
    assert "data:image/png" in refused
    for sent in later:
        assert "data:image" not in sent and "the model's server takes none" in sent


@pytest.mark.parametrize("arguments", ["{}", '{"picture": true}'])
async def test_a_refusal_of_pictures_that_stays_ends_the_run(arguments: str) -> None:
    blind = ModelError("no image input", over_pictures=True)
    stage = Stage([use(arguments), blind, blind, DONE]).say()
    assert await stage.run() is RunEnd.FAILED


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([ModelError("busy", retryable=True)] * 3, "busy"),
        ([ModelError("no such key")], "no such key"),
        ([answer("")] * 3, "empty reply"),
    ],
)
async def test_a_model_that_cannot_reply_ends_the_run_as_failed(
    lines: list[Any], says: str
) -> None:
    stage = Stage(lines).say()
    assert await stage.run() is RunEnd.FAILED
    (ended,) = stage.events(RunEnded)
    assert ended.end is RunEnd.FAILED and says in ended.reason
    assert roles(stage.context) == ["system", "user"]


async def test_retry_after_is_obeyed() -> None:
    stage = Stage([ModelError("busy", retryable=True, retry_after=0.01), DONE]).say()
    await stage.run()
    assert stage.events(RequestRetried)[0].wait == 0.01


async def stop_when(stage: Stage, kind: str) -> tuple[RunEnd, Agent]:
    agent = stage.agent()

    def throw(events: Sequence[Event]) -> None:
        if any(event.kind == kind for event in events):
            asyncio.get_running_loop().call_soon(agent.stop)

    stage.on_emit = throw
    async with asyncio.timeout(PATIENCE):
        return await agent.run(), agent


async def test_stop_ends_a_running_tool_and_leaves_a_legal_list() -> None:
    stage = Stage([use('{"wait": true}', "{}")]).say()
    end, _ = await stop_when(stage, "tool_started")
    assert end is RunEnd.STOPPED
    assert legal(stage.context.messages) == []
    texts = [message.text for message in stage.context.messages if message.tool]
    assert texts == [
        "[echo was stopped; it may have run in part]",
        "[echo was not run: the run was stopped]",
    ]
    assert stage.tool.ran == 1
    assert [event.status for event in stage.events(ToolEnded)] == ["unknown", "unknown"]


async def test_stop_discards_a_reply_that_is_still_coming() -> None:
    class Slow(Stage):
        def __post_init__(self) -> None:
            super().__post_init__()
            self.model.reply = self.never  # type: ignore[method-assign]

        async def never(self, *_: Any) -> Reply:
            await asyncio.sleep(3_600)
            raise AssertionError

    stage = Slow([]).say()
    end, _ = await stop_when(stage, "run_started")
    assert end is RunEnd.STOPPED
    assert roles(stage.context) == ["system", "user"]


async def test_a_stop_that_was_asked_for_before_ends_at_the_border() -> None:
    stage = Stage([DONE], stop=True).say()
    assert await stage.run() is RunEnd.STOPPED
    assert roles(stage.context) == ["system"]


async def test_a_stopped_run_is_resumed_as_the_next_run() -> None:
    stage = Stage([DONE])
    stage.context.append(user("go on"))
    assert await stage.run(run=3, turn=7) is RunEnd.ANSWERED
    assert stage.kinds[0] == ["run_started"]
    (turn,) = stage.events(TurnEnded)
    assert (turn.turn, turn.run) == (8, 4)


async def test_after_a_crash_open_calls_are_answered_and_no_tool_runs_again() -> None:
    stage = Stage([DONE])
    for value in [user(), use("{}", "{}")]:
        stage.context.append(value)
    end = await stage.run(run=1, turn=4, run_open=True, recovered=True)
    assert end is RunEnd.ANSWERED
    assert stage.tool.ran == 0
    assert legal(stage.context.messages) == []
    (repaired,) = stage.events(Repaired)
    assert [number for number, _ in repaired.reasons] == [3, 3]
    assert stage.events(Recovered) == [Recovered(4, 2)]
    assert [turn.turn for turn in stage.events(TurnEnded)] == [5, 6]
    assert all(turn.run == 1 for turn in stage.events(TurnEnded))
    assert "interrupted" in stage.context.messages[3].text


@pytest.mark.parametrize(
    ("ceilings", "name"),
    [(Ceilings(turns=2), "turns"), (Ceilings(tool_calls=3), "tool_calls")],
)
async def test_a_ceiling_ends_the_run_and_says_which(ceilings: Ceilings, name: str) -> None:
    profile = PRESETS["nanohermes"].replace(ceilings=ceilings)
    stage = Stage([use("{}", "{}")] * 5, profile=profile).say()
    assert await stage.run() is RunEnd.LIMIT
    assert [event.ceiling for event in stage.events(LimitReached)] == [name]
    assert len(stage.model.requests) == 2


async def test_calls_beyond_the_ceiling_are_answered_and_not_run() -> None:
    profile = PRESETS["nanohermes"].replace(ceilings=Ceilings(tool_calls=5))
    stage = Stage([use("{}", "{}"), use(*["{}"] * 9), DONE], profile=profile).say()
    assert await stage.run() is RunEnd.LIMIT
    assert stage.tool.ran == 5
    assert legal(stage.context.messages) == []
    told = "[echo was not run: the run has made as many tool calls as its profile allows]"
    asked, *results = stage.context.messages[5:]
    by_call = {message.tool_call_id: message.text for message in results}
    assert [by_call[call.id] for call in asked.calls] == ["ok"] * 3 + [told] * 6


async def test_provider_usage_corrects_the_count_of_the_next_request() -> None:
    def counted(messages: Sequence[Message]) -> Reply:
        return Reply(use("{}"), usage=Usage(input=10_000, cache_read=2_000))

    stage = Stage([counted, DONE]).say("x" * 40_000)
    await stage.run()
    first, second = stage.events(TurnEnded)
    assert first.usage is not None and first.usage.prompt == 12_000
    assert first.ratio == pytest.approx(12_000 / first.estimate)
    assert second.estimate == pytest.approx(12_000, rel=0.05)
    assert first.pressure.tokens == second.estimate


async def test_a_worker_that_lost_its_session_runs_no_tool() -> None:
    class Lost(Exception):
        pass

    async def check() -> None:
        raise Lost

    stage = Stage([use("{}")], tool=Echo()).say()
    with pytest.raises(Lost):
        await stage.run(check=check)
    assert stage.tool.ran == 0


async def test_a_turn_writes_at_most_three_times() -> None:
    stage = Stage([use("{}", "{}", "{}")] * 9 + [DONE]).say()
    await stage.run()
    turns = len(stage.events(TurnEnded))
    assert len(stage.told) <= 3 * turns


async def test_the_archive_rebuilds_every_message_that_was_ever_told() -> None:
    profile = PRESETS["balanced"].replace(budget=6_000, unit="bytes")
    context = Context(Snapshot.of(exchange(3)))
    stage = Stage([use('{"text": "x", "times": 900}')] * 12 + [DONE], profile, context).say()
    assert await stage.run() is RunEnd.ANSWERED
    numbers = [event.message.number for event in stage.events(MessageAdded)]
    assert numbers == sorted(set(numbers))


async def test_an_answer_that_a_compaction_took_is_not_asked_for_again() -> None:
    stage = Stage([])
    stage.context.append(user("answered long ago"))
    assert await stage.run(answered=True) is RunEnd.ANSWERED
    assert stage.told == [] and stage.model.requests == []
