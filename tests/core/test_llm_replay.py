from __future__ import annotations

from typing import Any

from agentcore.llm.base import Reply
from agentcore.llm.replay import END, ReplayModel
from agentcore.messages import Message, born
from agentcore.usage import Usage


def call(call_id: str, text: str | None = None) -> dict[str, Any]:
    function = {"name": "glob", "arguments": '{"pattern": "*"}'}
    calls = [{"id": call_id, "type": "function", "function": function}]
    return {"role": "assistant", "content": text, "tool_calls": calls}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "a.py"}


def say(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


USER = {"role": "user", "content": "look"}
RECORDING = [USER, call("a"), result("a"), call("b"), result("b"), say("done")]


def listed(*values: dict[str, Any]) -> list[Message]:
    return [born(value) for value in values]


async def next_of(model: ReplayModel, *values: dict[str, Any]) -> Any:
    return (await model.reply(listed(*values), [])).message


async def test_replies_come_in_order_with_their_ids_then_a_plain_end() -> None:
    model = ReplayModel(RECORDING)
    so_far = [USER]
    for expected in (call("a"), call("b"), say("done"), say(END), say(END)):
        message = await next_of(model, *so_far)
        assert message == expected
        so_far += [message, *(result(one["id"]) for one in message.get("tool_calls", []))]
        if "tool_calls" not in message:
            so_far.append(USER)


async def test_another_instance_goes_on_where_the_list_ends() -> None:
    assert await next_of(ReplayModel(RECORDING), USER, call("a"), result("a")) == call("b")
    ended = (USER, call("a"), result("a"), call("b"), result("b"), say("done"), USER)
    assert await next_of(ReplayModel(RECORDING), *ended) == say(END)
    assert await next_of(ReplayModel(RECORDING), *ended, say(END), USER) == say(END)


async def test_place_is_found_after_a_compaction_took_the_front() -> None:
    note = {"role": "system", "content": "[Messages omitted; reference only]"}
    assert await next_of(ReplayModel(RECORDING), note, USER, call("b"), result("b")) == say("done")


async def test_reply_that_stands_twice_is_told_by_those_before_it() -> None:
    recording = [say("ok"), call("a"), say("ok"), call("b")]
    first = await next_of(ReplayModel(recording), USER, say("ok"), USER)
    second = await next_of(
        ReplayModel(recording), USER, say("ok"), USER, call("a"), result("a"), say("ok"), USER
    )
    assert (first, second) == (call("a"), call("b"))


async def test_reply_that_was_altered_in_the_list_still_counts() -> None:
    altered = {**call("b"), "content": "[shortened]"}
    shown = (USER, call("a"), result("a"), altered, result("b"))
    assert await next_of(ReplayModel(RECORDING), *shown) == say("done")


async def test_instance_remembers_its_place_when_the_list_shows_no_reply() -> None:
    model = ReplayModel(RECORDING)
    await next_of(model, USER)
    assert await next_of(model, USER) == call("b")


async def test_usage_goes_with_its_reply_and_messages_do_as_well_as_dicts() -> None:
    model = ReplayModel([born(USER), Reply(say("ok"), Usage(10, 2), model="m-1"), born(say("bye"))])
    heard: list[str] = []

    async def hear(text: str) -> None:
        heard.append(text)

    first = await model.reply(listed(USER), [], hear)
    second = await model.reply(listed(USER, say("ok"), USER), [], hear)
    assert (first.usage, first.model) == (Usage(10, 2), "m-1")
    assert (second.usage, second.model) == (None, "replay")
    assert heard == ["ok", "bye"]
    assert first.request_bytes > 0
