from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from histories import answer, calls, exchange, user
from processes import PATIENCE
from stage import DONE, Stage, use

from agentcore import PRESETS, Profile
from agentcore.compaction.plan import Fate
from agentcore.compaction.summarizer import HEADINGS, SHORT, TASK
from agentcore.context import Context
from agentcore.errors import ContextTooLong, ModelError
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
from agentcore.llm.base import Reply
from agentcore.llm.scripted import Line, ScriptedModel
from agentcore.messages import Message
from agentcore.options import Stage as ProfileStage
from agentcore.options import SummaryFailure, SummaryOptions
from agentcore.pressure import Unit
from agentcore.snapshot import Snapshot
from agentcore.usage import Usage

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
    ([answer("I'm sorry, I cannot do that.")], "refusal"),
    ([answer(TASK + SHORT.format(words=300))], "refusal"),
    ([answer("Error code: 529 - boom")], "error"),
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


@pytest.mark.parametrize(("lines", "failure"), FAILURES)
async def test_where_the_profile_says_so_the_note_has_the_ledger_under_it(
    lines: Any, failure: str
) -> None:
    """Two facts are recorded: the failed summary, and the drop with the numbers dropped."""
    options = SummaryOptions(on_failure=SummaryFailure.LEDGER)
    context = Context(Snapshot.of([FULL[0], user("Never drop a table."), *FULL[1:]]))
    context.append(answer("fine"))
    profile = SMALL.replace(summary=options)
    stage = Stage([DONE], profile, context, summarizer=ScriptedModel(lines)).say()
    await stage.run()
    (failed,) = stage.events(CompactionFailed)
    (ended,) = stage.events(CompactionEnded)
    note = stage.context.messages[1]
    assert failed.failure == failure
    assert {cut.fate for cut in ended.result.plan.removals} == {Fate.DROPPED}
    assert ended.result.revision is not None and 2 in ended.result.revision.ended
    assert note.text.startswith("[Messages omitted; reference only]\n")
    assert "\nConstraints:\n- Never drop a table" in note.text
    assert not any(told in note.text for told in ("boom", "sorry", "word word"))


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
    async with asyncio.timeout(PATIENCE):
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


AUTO = Profile(stages=(ProfileStage("auto", at=0.8, keep=3),), budget=8_000, unit=Unit.BYTES)
NINE = "\n".join(f"{heading}\n-" for heading in HEADINGS)


async def test_auto_takes_a_structured_summary_and_tells_who_wrote_it() -> None:
    model = ScriptedModel([Reply(answer(NINE), usage=Usage(input=7, output=3), model="small")])
    stage = loaded([DONE], AUTO, summarizer=model).say()
    await stage.run()
    (ended,) = stage.events(CompactionEnded)
    (written,) = ended.result.summaries
    assert (written.model, written.usage) == ("small", Usage(input=7, output=3))
    assert "Code kept verbatim" in model.requests[0].messages[0].text


async def test_an_input_that_was_too_long_is_shortened_at_most_three_times() -> None:
    too_long = ContextTooLong("too long")
    model = ScriptedModel([too_long, too_long, too_long, answer(NINE)])
    stage = loaded([DONE], AUTO, summarizer=model).say()
    await stage.run()
    (ended,) = stage.events(CompactionEnded)
    sizes = [len(asked.messages[1].text) for asked in model.requests]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) == 4
    assert ended.result.left_out > 0

    model = ScriptedModel([too_long] * 4)
    stage = loaded([DONE], AUTO, summarizer=model).say()
    await stage.run()
    assert [failed.failure for failed in stage.events(CompactionFailed)] == ["error"]


async def test_three_failures_open_the_breaker_and_a_person_may_override_it() -> None:
    model = ScriptedModel([answer("")] * 4 + [answer(NINE)])
    context = Context(Snapshot.of([*FULL, answer()]))
    stage = Stage([DONE], AUTO, context, summarizer=model)
    agent = stage.agent()
    for _ in range(3):
        stage.compact()
        await agent.run()
    assert [failed.breaker.failures for failed in stage.events(CompactionFailed)] == [1, 2, 3]
    stage.say()
    await agent.run()
    assert stage.events(CompactionFailed)[-1].failure == "breaker_open"
    assert len(model.requests) == 3
    stage.compact()
    await agent.run()
    assert len(model.requests) == 4


async def test_a_weak_run_rests_its_stage_until_the_next_ones_threshold() -> None:
    stages = (ProfileStage("snip", at=0.5, keep=0), ProfileStage("keep_recent", at=0.9, keep=2))
    profile = Profile(stages, budget=20_000, unit=Unit.BYTES, target=0.4, min_gain=0.0)
    weak = [use('{"text": "x", "times": 300}', said="y" * 2_000) for _ in range(12)]
    stage = Stage([*weak, DONE], profile).say("z" * 9_000)
    await stage.run()
    first, second = (event.result for event in stage.events(CompactionEnded)[:2])
    assert [report.stage for report in first.stages] == ["snip"]
    assert second.stages[-1].stage == "keep_recent"


async def test_two_weak_runs_of_the_last_stage_stop_automatic_compaction() -> None:
    stages = (ProfileStage("snip", at=0.5, keep=0),)
    profile = Profile(stages, budget=20_000, unit=Unit.BYTES, target=0.4, min_gain=0.01)
    lines = [use('{"text": "x", "times": 500}', said="y" * 800) for _ in range(14)]
    stage = Stage([*lines, DONE], profile).say("z" * 9_000)
    await stage.run()
    ended = stage.events(CompactionEnded)
    assert [event.thrash for event in ended] == [False, True]
    assert ended[-1].facts["thrash"] is True


@pytest.mark.parametrize("window", [None, 2_000])
async def test_a_refused_length_corrects_the_window_and_is_tried_once_more(
    window: int | None,
) -> None:
    profile = PRESETS["nanohermes"].replace(budget=10_000_000)
    refused = ContextTooLong("too long", window=window)
    stage = Stage([refused, DONE], profile, Context(Snapshot.of(exchange(40)))).say()
    assert await stage.run() is RunEnd.ANSWERED
    (ended,) = stage.events(CompactionEnded)
    assert ended.result.trigger == "overflow"
    (turn,) = stage.events(TurnEnded)
    assert turn.pressure.window.source == "contradicted"
    assert turn.pressure.window.tokens == (window or int(0.9 * ended.pressure.tokens))


async def test_a_length_refused_twice_blocks_the_run() -> None:
    refused = ContextTooLong("too long")
    stage = Stage([refused, refused], SMALL, Context(Snapshot.of(exchange(40)))).say()
    assert await stage.run() is RunEnd.BLOCKED


async def test_a_run_may_end_with_a_compaction_at_the_border_of_the_task() -> None:
    profile = SMALL.replace(budget=80_000, compact_at_run_end=0.05)
    stage = loaded([DONE], profile).say()
    await stage.run()
    (ended,) = stage.events(CompactionEnded)
    assert ended.result.trigger == "run_end"
    assert stage.kinds[-1] == ["run_ended"]


async def test_a_hold_leaves_the_list_alone_until_it_has_grown() -> None:
    stage = loaded([DONE], hold=True).say()
    await stage.run()
    assert not stage.events(CompactionEnded)
