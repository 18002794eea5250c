"""When compaction starts, and when it is left alone: areas trigger, loop and race."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cases.given import (
    Desk,
    assistant,
    exchanges,
    failing,
    profile,
    speaker,
    text_of,
    unpaired,
    user,
)

from agentcore import Snapshot
from agentcore.breakdown import NOTHING
from agentcore.compaction.plan import apply_plan
from agentcore.compaction.repair import INTERRUPTED, repair
from agentcore.compaction.result import Failure, Trigger
from agentcore.directives import InstructionKind
from agentcore.events import EventKind
from agentcore.llm.scripted import ScriptedModel
from agentcore.messages import Message
from agentcore.options import Effect
from agentcore.pressure import Budget, TokenCounter, Unit, Window, WindowSource
from agentcore.tools.base import Toolbox, ToolResult, Workspace


async def test_chat_without_tools_never_compacts(case: dict[str, Any]) -> None:
    turn = case["each_turn"]
    desk = Desk(
        case["messages"], profile(case), speaker(turn["assistant"]), summarizer=speaker("SUM")
    )
    for _ in range(case["turns"]):
        await desk.turn(turn["user"])
    exchange = len(turn["user"]) + len(turn["assistant"]) + 200
    ended = desk.told(EventKind.COMPACTION_ENDED)
    assert len(desk.sent) == case["turns"]
    largest = max(Snapshot.of(sent).sizes.chars for sent in desk.sent)
    assert largest <= case["budget_chars"] + exchange
    assert ended
    assert {event.result.trigger for event in ended} == {Trigger.THRESHOLD}
    assert all(event.facts["before"] > event.facts["after"] for event in ended)


async def test_forced_failure_resets_the_latch(case: dict[str, Any]) -> None:
    assert len(case["events"]) == 3
    longer = ScriptedModel([_said_back] * 20)
    settings = profile({"keep_recent": 2, "budget_chars": 1_500}, min_gain=0.3)
    messages = [{"role": "system", "content": "Work."}, *_exchanges_of(300)]
    desk = Desk(messages, settings, speaker("Yes."), summarizer=longer)
    await desk.turn("go on")
    automatic = len(longer.requests)
    await desk.compact()
    by_hand = len(longer.requests)
    await desk.turn("and on")
    failed = desk.told(EventKind.COMPACTION_FAILED)
    assert automatic > 0
    assert by_hand > automatic
    assert len(longer.requests) == by_hand
    assert [event.trigger for event in failed] == [Trigger.THRESHOLD, Trigger.MANUAL]
    assert {event.failure for event in failed} == {Failure.DID_NOT_SHRINK}


async def test_fresh_tool_output_not_counted(case: dict[str, Any]) -> None:
    desk = Desk(case["messages"], profile(case), speaker("Many."))
    await desk.agent.run()
    turn = desk.told(EventKind.TURN_ENDED)[0]
    over = desk.told(EventKind.OVER_BUDGET)
    assert turn.pressure.used > 100_000
    assert over and over[0].pressure.used > case["budget_chars"]


def test_counter_still_old_after_compaction(case: dict[str, Any]) -> None:
    request, compaction, _ = case["events"]
    counter = TokenCounter()
    counter.learn(request["prompt_tokens"], _sizes(compaction["chars_before"]))
    window = Window(case["window_tokens"], WindowSource.PROFILE)
    pressure = counter.pressure(
        _sizes(compaction["chars_after"]),
        NOTHING,
        budget=Budget(window.tokens, Unit.TOKENS),
        window=window,
        reserve=0,
        counts_schemas=True,
    )
    assert pressure.fraction < case["threshold"]
    of_new_list = 0.95 * compaction["chars_after"] / compaction["chars_before"]
    assert abs(pressure.fraction - of_new_list) < 0.001


async def test_fixed_part_above_threshold(case: dict[str, Any]) -> None:
    summarizer = speaker("SUM")
    desk = Desk(case["messages"], profile(case), speaker("fine"), summarizer=summarizer)
    for place in range(case["turns"]):
        await desk.turn(f"and now {place}?")
    notices = desk.told(EventKind.OVER_BUDGET)
    system = Snapshot.of(case["messages"][:1]).sizes.bytes
    assert len(summarizer.requests) <= 1
    assert notices
    assert notices[0].facts["largest"] == 1
    assert notices[0].facts["largest_bytes"] == system
    assert notices[0].facts["limit"] == case["budget_chars"]
    assert len(desk.sent) >= case["turns"]
    assert desk.values[-1] == assistant("fine")


async def test_compact_deletes_the_queue(case: dict[str, Any]) -> None:
    desk: Desk

    class Job:
        """While it runs, a person asks for a compaction and sends two messages."""

        name = "run_command"
        description = "runs"
        parameters: dict[str, Any] = {"type": "object", "properties": {}}
        effect = Effect.COMMAND

        def check(self, arguments: Any) -> None:
            """Takes anything."""

        async def run(self, arguments: Any, workspace: Workspace) -> ToolResult:
            desk.ask("", InstructionKind.COMPACT)
            for text in case["queue"]:
                desk.ask(text)
            return ToolResult("ok")

    call = case["messages"][2]
    toolbox = Toolbox((Job(),), Workspace(Path()))
    for summarizer in (speaker("SUM"), failing("down")):
        desk = Desk(
            [case["messages"][0], *exchanges(12)],
            profile({"keep_recent": 2}),
            ScriptedModel([call, *[assistant("Done.")] * 5]),
            summarizer=summarizer,
            toolbox=toolbox,
        )
        await desk.turn("run the long job")
        kinds = [event.kind for event in desk.events]
        assert kinds.index(EventKind.COMPACTION_STARTED) > kinds.index(EventKind.TOOL_ENDED)
        assert unpaired(desk.values) == []
        said = [one["content"] for one in desk.sent[-1] if one["role"] == "user"]
        assert said[-2:] == case["queue"]


async def test_interrupted_parallel_calls(case: dict[str, Any]) -> None:
    desk = Desk(case["messages"], profile(case), speaker("One of three."), recovered=True)
    await desk.turn(case["then"][-1]["content"])
    late = {"role": "tool", "tool_call_id": "i2", "content": "b ok"}
    with_late = Snapshot.of([*desk.values, late])
    built = apply_plan(repair(with_late)[0], with_late)[0]
    for messages in (desk.sent[0], [message.value() for message in built.messages]):
        answers = {one["tool_call_id"]: one["content"] for one in messages[3:6]}
        assert unpaired(messages) == []
        assert list(answers) == ["i1", "i2", "i3"]
        assert answers["i3"] == INTERRUPTED.format(tool="run_command")
        assert text_of(messages).count('"b ok"') + answers["i2"].count("interrupted") == 1


def _said_back(messages: Sequence[Message]) -> dict[str, Any]:
    """A summary longer than what it was made from, within the cap."""
    return assistant(" ".join(["word"] * 290) + " " + "y" * 900)


def _exchanges_of(chars: int) -> list[dict[str, Any]]:
    return [one for _ in range(3) for one in (user("a" * chars), assistant("b" * chars))]


def _sizes(chars: int) -> Any:
    return Snapshot.of([user("x" * chars)]).sizes
