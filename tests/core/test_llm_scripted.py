from __future__ import annotations

import pytest

from agentcore.errors import ModelError
from agentcore.llm.base import Reply
from agentcore.llm.scripted import ScriptedModel
from agentcore.messages import born
from agentcore.usage import Usage

ASKED = [born({"role": "user", "content": "look"})]
SCHEMA = {"type": "function", "function": {"name": "glob", "description": "", "parameters": {}}}


async def test_lines_are_given_in_order_and_requests_recorded() -> None:
    hello = {"role": "assistant", "content": "hello"}
    model = ScriptedModel([hello, {"role": "assistant", "content": "bye"}])
    assert (await model.reply(ASKED, [SCHEMA])).message == hello
    longer = [*ASKED, born(hello), born({"role": "user", "content": "and?"})]
    assert (await model.reply(longer, [])).message["content"] == "bye"
    assert [len(asked.messages) for asked in model.requests] == [1, 3]
    assert model.requests[0].tools == (SCHEMA,)


async def test_function_of_the_list_makes_the_answer() -> None:
    model = ScriptedModel([lambda messages: {"role": "assistant", "content": messages[0].text}])
    assert (await model.reply(ASKED, [])).message["content"] == "look"


async def test_reply_carries_its_usage() -> None:
    line = Reply({"role": "assistant", "content": "ok"}, Usage(10, 2))
    assert await ScriptedModel([line]).reply(ASKED, []) is line


async def test_exception_is_raised_and_counts_as_a_request() -> None:
    model = ScriptedModel(
        [ModelError("no", retryable=True), {"role": "assistant", "content": "ok"}]
    )
    with pytest.raises(ModelError, match="no"):
        await model.reply(ASKED, [])
    assert (await model.reply(ASKED, [])).message["content"] == "ok"


async def test_script_that_is_used_up_says_so() -> None:
    with pytest.raises(ModelError, match="0 lines"):
        await ScriptedModel([]).reply(ASKED, [])


async def test_text_is_streamed_and_the_body_measured() -> None:
    heard: list[str] = []

    async def hear(text: str) -> None:
        heard.append(text)

    model = ScriptedModel([{"role": "assistant", "content": "ok"}])
    reply = await model.reply(ASKED, [], hear)
    assert heard == ["ok"]
    body = '{"model":"scripted","tools":[],"messages":[{"role":"user","content":"look"}]}'
    assert reply.request_bytes == len(body)
