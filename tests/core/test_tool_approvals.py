"""Calls that a person allows before they run: what waits, what runs, and what the model reads."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from histories import answer as said_by_model
from histories import calls
from hypothesis import given, settings
from hypothesis import strategies as st
from stage import DONE, Echo, Stage

from agentcore import PRESETS
from agentcore.calling import ALTERED_BYTES
from agentcore.context import Context
from agentcore.directives import Answer
from agentcore.errors import ProfileError
from agentcore.events import CallWanted, Event, MessageAdded, RunEnd, ToolStarted, TurnEnded
from agentcore.invariants import legal
from agentcore.limits import Limits
from agentcore.messages import Message
from agentcore.options import ApprovalOptions, Effect, Mode
from agentcore.prefix import Prefix
from agentcore.profile import Profile
from agentcore.snapshot import Snapshot
from agentcore.tools import Lent, Web, Workspace, toolbox

BASE = PRESETS["nanohermes"]
ASKS = BASE.replace(approvals=ApprovalOptions(goal=(Effect.WRITE,)))
YES, NO = Answer(True), Answer(False, reason="not this one")


def group(*wanted: tuple[str, str]) -> dict[str, Any]:
    """A reply that calls these tools with these arguments."""
    value = calls(*(f"c{place}" for place in range(len(wanted))))
    for call, (name, arguments) in zip(value["tool_calls"], wanted, strict=True):
        call["function"] = {"name": name, "arguments": arguments}
    return value


def staged(*lines: Any, profile: Profile = ASKS) -> Stage:
    """`echo` asks nobody, `write` does."""
    stage = Stage([*lines, DONE], profile=profile)
    stage.others = [Echo("write", effect=Effect.WRITE)]
    return stage.say()


class Died(BaseException):
    """The worker is gone."""


@dataclass
class Mortal(Stage):
    """The worker of its write number `dies_at` dies, before or after it."""

    dies_at: int = 0
    after: bool = False
    writes: int = 0

    async def _emit(self, events: Sequence[Event]) -> None:
        self.writes += 1
        if self.writes == self.dies_at and not self.after:
            raise Died
        await super()._emit(events)
        if self.writes == self.dies_at:
            raise Died


async def lived_through(stage: Stage, answers: Sequence[Answer], stop: bool) -> None:
    """One worker after the other, until the run has ended; questions are answered, then perhaps a
    stop is asked for."""
    end: RunEnd | None = None
    while end is None:
        try:
            end = await stage.go_on(recovered="run" in stage.stands and not stage.asked)
        except Died:
            stage.context = stored(stage)
        else:
            stage.asked |= {place: answers[place] for place in stage.asked}
            stage.stop = stop


def checked(messages: Sequence[Message]) -> dict[str, Any]:
    """A model that reads legal lists only."""
    assert legal(messages) == []
    return said_by_model("done")


def written(stage: Stage) -> int:
    return stage.others[0].ran


def stored(stage: Stage) -> Context:
    """The list without what a lost worker had not told."""
    told = [added.message for added in stage.events(MessageAdded)]
    return Context(Snapshot.of([stage.context.messages[0], *told]))


def results(stage: Stage) -> list[str]:
    return [message.text for message in stage.context.messages if message.role == "tool"]


TWO = group(("echo", '{"text": "read"}'), ("write", '{"text": "wrote"}'))


async def test_what_comes_before_runs_and_the_question_is_told_with_the_turn_so_far() -> None:
    stage = staged(TWO)
    assert await stage.run() is None
    assert results(stage) == ["read"] and written(stage) == 0
    assert stage.kinds[-2:] == [
        ["message_added", "tool_started"],
        ["tool_ended", "message_added", "approval_wanted"],
    ]
    (wanted,) = stage.events(CallWanted)
    assert (wanted.call.name, wanted.place, wanted.number) == ("write", 1, 3)
    assert wanted.turn is not None and (wanted.turn.turn, str(wanted.turn.ended)) == (1, "0.4")
    facts = wanted.facts
    assert (facts["subject"], facts["tool"], facts["arguments"]) == (
        "c1",
        "write",
        '{"text": "wrote"}',
    )
    assert len(json.dumps(facts)) < 2_000


async def test_a_group_is_answered_in_one_turn_as_if_nobody_had_been_asked() -> None:
    free = staged(TWO, profile=BASE)
    await free.run()
    stage, prefix = staged(TWO), Prefix()
    await stage.run(prefix=prefix)
    stage.asked[1] = YES
    assert await stage.go_on(prefix=prefix) is RunEnd.ANSWERED
    assert [one.wire for one in stage.context.messages] == [
        one.wire for one in free.context.messages
    ]
    for mine, theirs in zip(stage.events(TurnEnded), free.events(TurnEnded), strict=True):
        assert replace(mine, waited=False, seconds=0) == replace(theirs, seconds=0)
    assert [event.waited for event in stage.events(TurnEnded)] == [True, False]
    assert [one.waited for one in stage.events(ToolStarted)] == [False, True]


async def test_nothing_runs_out_of_order_and_all_questions_of_a_group_come_at_once() -> None:
    stage = staged(group(("write", "{}"), ("echo", "{}"), ("write", "{}")))
    await stage.run()
    assert [one.place for one in stage.events(CallWanted)] == [0, 2]
    assert [one.turn is None for one in stage.events(CallWanted)] == [False, True]
    assert (results(stage), stage.tool.ran, written(stage)) == ([], 0, 0)
    stage.asked[0] = YES
    assert await stage.go_on() is None
    assert (results(stage), written(stage)) == ([], 0)
    stage.asked[2] = YES
    assert await stage.go_on() is RunEnd.ANSWERED
    assert (len(results(stage)), stage.tool.ran, written(stage)) == (3, 1, 2)


async def test_waiting_again_tells_nothing_twice() -> None:
    stage = staged(TWO)
    await stage.run()
    told = len(stage.told)
    for recovered in (False, True):
        assert await stage.go_on(recovered=recovered) is None
    assert len(stage.told) == told


async def test_a_denial_is_read_by_the_model_with_its_reason_and_the_rest_runs() -> None:
    stage = staged(group(("write", "{}"), ("echo", '{"text": "still"}')))
    await stage.run()
    stage.asked[0] = NO
    await stage.go_on()
    assert results(stage) == ["[write was not run: a person denied it: not this one]", "still"]
    assert written(stage) == 0
    assert [one.status for one in stage.context.messages if one.tool] == ["failed", "ok"]


async def test_nobody_in_time_is_a_denial_that_says_so() -> None:
    stage = staged(TWO)
    await stage.run()
    stage.asked[1] = Answer(False, reason="within 15 minutes", late=True)
    await stage.go_on()
    assert results(stage)[1] == (
        "[write was not run: nobody answered within 15 minutes, which counts as a no]"
    )


async def test_altered_arguments_run_and_the_result_says_how_while_the_message_stays() -> None:
    stage = staged(group(("write", '{"text": "rm", "times": 2}')))
    await stage.run()
    asked = stage.context.messages[2].wire
    stage.asked[0] = Answer(True, '{"text": "ls"}')
    await stage.go_on()
    assert stage.context.messages[2].wire == asked
    assert results(stage) == [
        "[a person altered the arguments before write ran; in place of yours it ran with "
        '{"text":"ls","times":null}]\nls'
    ]
    (started,) = stage.events(ToolStarted)
    assert started.call.arguments == '{"text": "ls"}'


async def test_the_same_arguments_again_are_no_alteration() -> None:
    stage = staged(group(("write", '{"text": "ls"}')))
    await stage.run()
    stage.asked[0] = Answer(True, '{"text": "ls"}')
    await stage.go_on()
    assert results(stage) == ["ls"]


async def test_what_is_said_of_an_alteration_is_bounded_and_so_is_the_result() -> None:
    profile = ASKS.replace(limits=Limits(result_bytes=3_000))
    stage = staged(group(("write", "{}")), profile=profile)
    await stage.run()
    long = json.dumps({"text": "word " * 20_000})
    stage.asked[0] = Answer(True, long)
    await stage.go_on()
    (text,) = results(stage)
    note = text.partition("\n")[0]
    assert ALTERED_BYTES < len(note) < ALTERED_BYTES + 200 and "bytes more)]" in note
    assert len(text.encode()) < 3_000 + 200


async def test_a_stop_while_it_waits_answers_every_call_without_running_it() -> None:
    stage = staged(group(("write", "{}"), ("echo", "{}"), ("write", "{}")))
    await stage.run()
    stage.asked[0], stage.asked[2] = YES, NO
    stage.stop = True
    assert await stage.go_on() is RunEnd.STOPPED
    assert legal(stage.context.messages) == []
    assert (stage.tool.ran, written(stage)) == (0, 0)
    assert sorted(results(stage)) == [
        "[echo was not run: the run was stopped]",
        "[write was not run: a person denied it: not this one]",
        "[write was not run: the run was stopped]",
    ]
    assert stage.kinds[-1] == ["run_ended"] and "turn_ended" in stage.kinds[-2]


async def test_a_crash_after_the_answer_never_runs_the_call_again_and_keeps_the_denials() -> None:
    stage = staged(group(("write", "{}"), ("write", "{}")))
    await stage.run()
    stage.asked[0], stage.asked[1] = YES, NO

    def dies(events: Sequence[Event]) -> None:
        if any(event.kind == "turn_ended" for event in events):
            raise Died

    stage.on_emit = dies
    with pytest.raises(Died):
        await stage.go_on()
    assert written(stage) == 1
    stage.on_emit = None
    stage.context = stored(stage)
    assert await stage.go_on(recovered=True) is RunEnd.ANSWERED
    assert written(stage) == 1
    assert sorted(results(stage)) == [
        "[write was interrupted; it may have run in part]",
        "[write was not run: a person denied it: not this one]",
    ]
    first = stage.events(TurnEnded)[0]
    assert (first.turn, first.waited, str(first.requested)) == (1, True, "0.2")


async def test_every_request_is_legal_whatever_is_answered() -> None:
    for answers in ((YES, YES), (YES, NO), (NO, YES), (NO, NO)):
        stage = staged(group(("write", "{}"), ("echo", "{}"), ("write", "{}")), checked)
        await stage.run()
        stage.asked[0], stage.asked[2] = answers
        assert await stage.go_on() is RunEnd.ANSWERED


@given(
    names=st.lists(st.sampled_from(["echo", "write"]), min_size=1, max_size=4),
    answers=st.lists(st.sampled_from([YES, NO]), min_size=4, max_size=4),
    stop=st.booleans(),
    dies_at=st.integers(0, 8),
    after=st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_whoever_dies_a_call_runs_once_at_most_and_only_with_a_yes(
    names: list[str], answers: list[Answer], stop: bool, dies_at: int, after: bool
) -> None:
    reply = group(*((name, json.dumps({"text": f"ran {name}"})) for name in names))
    stage = Mortal([reply, *[checked] * 4], profile=ASKS, dies_at=dies_at, after=after)
    stage.others = [Echo("write", effect=Effect.WRITE)]
    asyncio.run(lived_through(stage.say(), answers, stop))
    messages = stage.context.messages
    assert legal(messages) == []
    told = [one.tool_call_id for one in messages if one.role == "tool"]
    assert len(told) == len(set(told)) and stage.tool.ran <= names.count("echo")
    asking = [place for place, name in enumerate(names) if name == "write"]
    assert written(stage) <= sum(answers[place].allow for place in asking)
    for one in messages:
        if one.text == "ran write":
            assert answers[int(str(one.tool_call_id)[1:])].allow


async def test_an_instruction_that_comes_while_it_waits_is_taken_after_the_group() -> None:
    stage = staged(TWO)
    await stage.run()
    stage.say("and this")
    assert await stage.go_on() is None
    stage.asked[1] = YES
    await stage.go_on()
    said = [message.role for message in stage.context.messages]
    assert said[1:] == ["user", "assistant", "tool", "tool", "user", "assistant"]


@pytest.mark.parametrize(
    "reply",
    [group(("write", "no json")), group(("write", '{"wrong": 1}')), group(("rm", "{}"))],
    ids=["no JSON", "wrong arguments", "no such tool"],
)
async def test_a_call_that_cannot_run_asks_nobody(reply: Any) -> None:
    stage = staged(reply)
    assert await stage.run() is RunEnd.ANSWERED
    assert stage.events(CallWanted) == [] and written(stage) == 0


async def test_a_question_that_comes_up_later_is_asked_before_its_call() -> None:
    stage = staged(group(("write", "{}"), ("echo", "{}")))
    await stage.run()
    stage.asked[0] = YES
    stage.profile = BASE.replace(approvals=ApprovalOptions(goal=(Effect.READ, Effect.WRITE)))
    assert await stage.go_on() is None
    assert (written(stage), stage.tool.ran) == (1, 0)
    first, second = stage.events(CallWanted)
    assert (second.place, second.turn) == (1, None)
    stage.asked[1] = YES
    assert await stage.go_on() is RunEnd.ANSWERED
    assert (written(stage), stage.tool.ran) == (1, 1)
    assert len([one for one in stage.events(TurnEnded) if one.turn == 1]) == 1


def test_the_default_asks_nobody_and_the_values_read_back() -> None:
    assert all(not PRESETS[name].approvals.of(mode) for name in PRESETS for mode in Mode)
    stored = json.loads(json.dumps(ASKS.values()))
    assert Profile.of(stored) == ASKS
    assert Profile.of({**stored, "approvals": {}}).approvals.minutes == 15
    twice = ApprovalOptions(goal=["write", "command", "write"])  # type: ignore[arg-type]
    assert twice.goal == (Effect.COMMAND, Effect.WRITE)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"goal": "write"}, "approvals.goal"),
        ({"debug": ["delete"]}, "approvals.debug"),
        ({"minutes": -1}, "approvals.minutes"),
        ({"ask": []}, "approvals.ask"),
    ],
)
def test_wrong_approvals_are_refused_by_name(wrong: dict[str, Any], field: str) -> None:
    with pytest.raises(ProfileError) as caught:
        Profile.of({**BASE.values(), "approvals": wrong})
    assert caught.value.field == field


def test_each_tool_says_what_it_does_outside(tmp_path: Path) -> None:
    box = toolbox(Workspace(tmp_path), Mode.GOAL, Lent(web=Web(search="https://example.org")))
    effects = {name: str(tool.effect) for name, tool in box._tools.items()}
    reads = dict.fromkeys(
        ("read_file", "list_dir", "grep", "glob", "checkpoint", "read_task", "stop_task"), "read"
    )
    assert effects == {
        **reads,
        **{"run_command": "command", "start_task": "command"},
        **{"web_fetch": "web", "web_search": "web"},
        **{"write_file": "write", "edit_file": "write"},
    }
