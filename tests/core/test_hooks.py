from __future__ import annotations

import threading
from typing import Any

import pytest
from histories import exchange
from stage import DONE, Stage, use

from agentcore import PRESETS, Snapshot
from agentcore.compaction.hooks import Abort, AfterTurn, BeforeCompaction, Hooks
from agentcore.compaction.result import CompactionResult, Deed, HookReport
from agentcore.context import Context
from agentcore.events import (
    ApprovalWanted,
    CompactionEnded,
    CompactionFailed,
    HookFailed,
    MessageAdded,
    RunEnd,
    RunEnded,
)
from agentcore.invariants import legal

PROFILE = PRESETS["balanced"].replace(budget=8_000, unit="bytes")
NOTE = {"role": "system", "content": "[Earlier summary; reference only]\nmind the tests"}


def stage(**options: Any) -> Stage:
    profile = options.pop("profile", PROFILE)
    return Stage([DONE], profile, Context(Snapshot.of(exchange(8))), **options).say()


async def test_a_hook_may_abort_with_a_reason_that_is_shown() -> None:
    def no(event: BeforeCompaction) -> Abort:
        return Abort(f"not at {event.trigger}")

    run = stage()
    assert await run.run(hooks=Hooks(pre_compact=(no,))) is RunEnd.ANSWERED
    (failed,) = run.events(CompactionFailed)
    assert (failed.failure, failed.detail) == ("aborted", "not at threshold")
    assert not run.events(CompactionEnded)


async def test_a_hook_may_add_messages_before_and_after() -> None:
    def before(event: BeforeCompaction) -> list[dict[str, Any]]:
        return [{"role": "system", "content": "before"}]

    def after(result: CompactionResult) -> list[dict[str, Any]]:
        assert result.changed
        return [NOTE]

    run = stage()
    await run.run(hooks=Hooks((before,), (after,)))
    assert [added.message.text for added in run.events(MessageAdded)][1:3] == [
        "before",
        NOTE["content"],
    ]
    assert run.model.requests[0].messages[-1].text == NOTE["content"]


def at_task_borders(event: AfterTurn) -> str | None:
    return "the tests pass" if event.turn == 1 else None


def always(event: AfterTurn) -> str:
    return "I like it short"


def roomy(lines: int, **changes: Any) -> Stage:
    """A run of so many turns with a tool, far below every threshold."""
    turns = [use(f'{{"text": "{n}", "times": 40}}') for n in range(lines)]
    profile = PROFILE.replace(budget=100_000, **changes)
    return Stage([*turns, DONE], profile, Context(Snapshot.of(exchange(8)))).say()


async def test_a_hook_may_have_the_list_compacted_after_a_turn_and_says_why() -> None:
    run = roomy(3)
    assert await run.run(hooks=Hooks(after_turn=(at_task_borders,))) is RunEnd.ANSWERED
    (ended,) = run.events(CompactionEnded)
    assert (ended.result.trigger, ended.turn) == ("hook", 1)
    assert ended.hooks == (HookReport("at_task_borders", Deed.ASKED, "the tests pass"),)
    assert ended.after.used < ended.pressure.used
    assert all(legal(request.messages) == [] for request in run.model.requests)


async def test_a_hook_that_asks_after_every_turn_is_heard_again_only_once_the_list_has_grown() -> (
    None
):
    heard: list[int] = []

    def eager(event: AfterTurn) -> str:
        heard.append(event.turn)
        return "always"

    run = roomy(6, min_gain=0.2)
    run.pins = frozenset(message.number for message in run.context.messages)
    await run.run(hooks=Hooks(after_turn=(eager,)))
    assert heard == [1]
    assert "compaction_started" not in str(run.kinds)
    assert not run.events(CompactionEnded) and not run.events(CompactionFailed)


@pytest.mark.parametrize("given", [{"hold": True}, {"automatic": "off"}], ids=["hold", "off"])
async def test_no_hook_is_heard_where_compaction_holds_or_is_off(given: dict[str, Any]) -> None:
    heard: list[int] = []
    run = roomy(2, **{name: value for name, value in given.items() if name != "hold"})
    run.hold = "hold" in given
    await run.run(hooks=Hooks(after_turn=(lambda event: heard.append(event.turn),)))
    assert heard == []


async def test_where_a_person_decides_a_hook_asks_them() -> None:
    hooks = Hooks(after_turn=(always,))
    run = roomy(1, automatic="ask")
    assert await run.run(hooks=hooks) is None
    (wanted,) = run.events(ApprovalWanted)
    assert (wanted.facts["hook"], wanted.facts["reason"]) == ("always", "I like it short")
    run.allowed = False
    assert await run.go_on(hooks=hooks) is RunEnd.ANSWERED
    assert not run.events(CompactionEnded)


async def test_a_hook_that_a_person_agrees_with_has_its_compaction() -> None:
    run = roomy(1, automatic="ask")
    run.allowed = True
    await run.run(hooks=Hooks(after_turn=(always,)))
    assert [ended.result.trigger for ended in run.events(CompactionEnded)] == ["hook"]


@pytest.mark.parametrize("answer", [7, ["x"], True], ids=["number", "list", "yes"])
async def test_what_is_no_reason_is_reported_and_the_next_hook_is_heard(answer: Any) -> None:
    run = roomy(1)
    await run.run(hooks=Hooks(after_turn=(lambda event: answer, at_task_borders)))
    (failed,) = run.events(HookFailed)
    assert "a reason is a text" in failed.report
    assert [ended.result.trigger for ended in run.events(CompactionEnded)] == ["hook"]


async def test_a_hook_that_raises_is_reported_and_passed_over() -> None:
    def broken(event: BeforeCompaction) -> None:
        raise KeyError("oops")

    run = stage()
    await run.run(hooks=Hooks(pre_compact=(broken,)))
    assert [failed.report for failed in run.events(HookFailed)] == ["broken: KeyError: 'oops'"]
    assert run.events(CompactionEnded)


async def test_a_hook_that_sleeps_is_reported_and_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agentcore.compaction.hooks.HOOK_SECONDS", 0.05)
    awake = threading.Event()

    def slow(event: BeforeCompaction) -> None:
        awake.wait()

    run = stage()
    try:
        await run.run(hooks=Hooks(pre_compact=(slow,)))
    finally:
        awake.set()
    assert [failed.report for failed in run.events(HookFailed)] == ["slow: took over 0.05 s"]
    assert run.events(CompactionEnded)


@pytest.mark.parametrize(
    "answer",
    [
        "text",
        7,
        [3],
        [{"content": "no role"}],
        [{"role": "tool", "tool_call_id": "x", "content": "a result without a call"}],
        exchange(1)[2:3],
    ],
    ids=["text", "number", "no message", "no role", "result", "call"],
)
async def test_a_hook_that_adds_no_legal_message_is_reported_and_passed_over(answer: Any) -> None:
    run = stage()
    await run.run(hooks=Hooks((lambda event: answer,), (lambda result: answer,)))
    assert len(run.events(HookFailed)) == 2
    assert run.events(CompactionEnded)
    assert legal(run.model.requests[0].messages) == []


async def test_where_a_person_decides_the_run_waits_and_stays_open() -> None:
    run = stage(profile=PROFILE.replace(automatic="ask"))
    assert await run.run() is None
    (wanted,) = run.events(ApprovalWanted)
    assert wanted.subject == "compaction"
    assert not run.events(RunEnded) and not run.model.requests

    run.allowed = True
    assert await run.run(run=1, run_open=True) is RunEnd.ANSWERED
    assert run.events(CompactionEnded)


async def test_a_no_leaves_the_list_alone_and_the_run_goes_on() -> None:
    run = stage(profile=PROFILE.replace(automatic="ask"), allowed=False)
    assert await run.run() is RunEnd.ANSWERED
    assert not run.events(CompactionEnded) and not run.events(ApprovalWanted)
