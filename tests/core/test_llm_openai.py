from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest

from agentcore.errors import ContextTooLong, ModelError
from agentcore.llm.openai import OpenAIModel
from agentcore.llm.pictures import FROM_RESULTS
from agentcore.messages import Message, born
from agentcore.usage import Usage

ASKED = [born({"role": "user", "content": "look"})]
READ = {
    "type": "function",
    "function": {"name": "read_file", "description": "reads", "parameters": {"type": "object"}},
}

Handler = Callable[[httpx2.Request], httpx2.Response]


def piece(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m-1", "choices": [choice]}


def call_piece(index: int | None, **call: Any) -> dict[str, Any]:
    place = {} if index is None else {"index": index}
    return piece(tool_calls=[{**place, **call}])


def usage_piece(**usage: Any) -> dict[str, Any]:
    return {**piece(), "choices": [], "usage": usage}


def stream(*pieces: dict[str, Any], done: bool = True) -> httpx2.Response:
    lines = [f"data: {json.dumps(one)}\n\n" for one in pieces] + ["data: [DONE]\n\n"] * done
    head = {"content-type": "text/event-stream"}
    return httpx2.Response(200, headers=head, text="".join(lines))


def refusal(status: int, message: str, code: str | None = None, **headers: str) -> httpx2.Response:
    return httpx2.Response(
        status,
        headers={name.replace("_", "-"): value for name, value in headers.items()},
        json={"error": {"message": message, "code": code}},
    )


def model(answer: httpx2.Response | Handler, **options: Any) -> OpenAIModel:
    handler = answer if callable(answer) else lambda request: answer
    options = {"api_key": "sk-secret", **options}
    return OpenAIModel("m", transport=httpx2.MockTransport(handler), **options)


async def failure(answer: httpx2.Response | Handler) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await model(answer).reply(ASKED, [])
    return caught.value


async def test_text_streams_piece_by_piece_and_comes_back_whole() -> None:
    heard: list[str] = []

    async def hear(text: str) -> None:
        heard.append(text)

    answer = stream(
        piece(role="assistant"), piece(content="Hel"), piece(content="lo"), piece("stop")
    )
    reply = await model(answer).reply(ASKED, [], hear)
    assert heard == ["Hel", "lo"]
    assert reply.message == {"role": "assistant", "content": "Hello"}
    assert (reply.model, reply.usage, reply.extra) == ("m-1", None, {"finish": "stop"})


async def test_request_is_the_rendered_body_and_its_bytes_are_told() -> None:
    sent: list[bytes] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        sent.append(request.content)
        assert request.headers["authorization"] == "Bearer sk-secret"
        return stream(piece(content="ok"), piece("stop"))

    asked = model(handler, temperature=0.5, max_tokens=9)
    reply = await asked.reply(ASKED, [READ])
    body = json.loads(sent[0])
    assert body == asked.render(ASKED, [READ])
    assert body["tools"] == [READ]
    assert body["stream_options"] == {"include_usage": True}
    assert (body["temperature"], body["max_completion_tokens"]) == (0.5, 9)
    assert reply.request_bytes == len(json.dumps(body, separators=(",", ":")))


def test_other_servers_get_the_older_name_of_the_ceiling() -> None:
    body = model(stream(), base_url="http://local/v1", max_tokens=9).render(ASKED, [])
    assert body["max_tokens"] == 9
    assert "max_completion_tokens" not in body
    assert "tools" not in body


async def test_pieces_of_parallel_calls_are_put_together() -> None:
    answer = stream(
        call_piece(0, id="a", type="function", function={"name": "read_file", "arguments": ""}),
        call_piece(0, function={"arguments": '{"path": '}),
        call_piece(1, id="b", type="function", function={"name": "glob", "arguments": "{}"}),
        call_piece(0, function={"arguments": '"x"}'}),
        piece("tool_calls"),
    )
    message = born((await model(answer).reply(ASKED, [READ])).message)
    assert [(call.id, call.name, call.arguments) for call in message.calls] == [
        ("a", "read_file", '{"path": "x"}'),
        ("b", "glob", "{}"),
    ]


async def test_calls_of_servers_without_index_and_with_repeated_ids_are_put_together() -> None:
    answer = stream(
        call_piece(None, id="a", function={"name": "glob", "arguments": '{"pat'}),
        call_piece(None, id="a", function={"name": "glob", "arguments": 'tern": "*"}'}),
        call_piece(None, id="b", function={"name": "glob", "arguments": "{"}),
        call_piece(None, function={"arguments": "}"}),
        piece("stop"),
    )
    message = born((await model(answer).reply(ASKED, [READ])).message)
    assert [(call.id, call.arguments) for call in message.calls] == [
        ("a", '{"pattern": "*"}'),
        ("b", "{}"),
    ]


async def test_call_without_id_gets_one() -> None:
    answer = stream(call_piece(0, function={"name": "glob", "arguments": "{}"}), piece("stop"))
    message = born((await model(answer).reply(ASKED, [READ])).message)
    assert message.calls[0].id == "call_c1_0"


async def test_reasoning_is_kept_beside_the_text() -> None:
    answer = stream(piece(reasoning_content="hm"), piece(content="ok"), piece("stop"))
    reply = await model(answer).reply(ASKED, [])
    assert reply.message["reasoning_content"] == "hm"
    assert reply.message["content"] == "ok"


async def test_cached_tokens_are_taken_out_of_the_input() -> None:
    usage = usage_piece(
        prompt_tokens=1_000,
        completion_tokens=50,
        total_tokens=1_050,
        prompt_tokens_details={"cached_tokens": 700, "cache_write_tokens": 100},
        completion_tokens_details={"reasoning_tokens": 20},
    )
    reply = await model(stream(piece(content="ok"), piece("stop"), usage)).reply(ASKED, [])
    assert reply.usage == Usage(200, 50, cache_read=700, cache_write=100, reasoning=20)
    assert reply.usage.prompt == 1_000


async def test_usage_without_details_is_all_input() -> None:
    usage = usage_piece(prompt_tokens=10, completion_tokens=2, total_tokens=12)
    reply = await model(stream(piece(content="ok"), piece("stop"), usage)).reply(ASKED, [])
    assert reply.usage == Usage(10, 2)


async def test_too_many_requests_is_retryable_after_the_time_told() -> None:
    error = await failure(refusal(429, "slow down", retry_after="7"))
    assert (error.retryable, error.retry_after) == (True, 7.0)
    assert "slow down" in str(error)


@pytest.mark.parametrize("seconds", ["86400", "1e9", "inf", "Mon, 30 Nov 9999 10:00:00 GMT"])
async def test_who_is_told_to_come_back_much_later_is_not_kept_waiting(seconds: str) -> None:
    date = "Mon, 30 Nov 2026 10:00:00 GMT"
    error = await failure(refusal(429, "at night", retry_after=seconds, date=date))
    assert not error.retryable and "use another endpoint" in str(error)


async def test_date_in_retry_after_counts_from_the_date_of_the_answer() -> None:
    date, until = "Mon, 30 Nov 2026 10:00:00 GMT", "Mon, 30 Nov 2026 10:00:30 GMT"
    error = await failure(refusal(503, "busy", retry_after=until, date=date))
    assert (error.retryable, error.retry_after) == (True, 30.0)


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [(400, "bad", None), (401, "no key", None), (404, "no model", None)]
    + [(429, "over quota", "insufficient_quota")],
)
async def test_refusals_that_would_repeat_are_final(
    status: int, message: str, code: str | None
) -> None:
    error = await failure(refusal(status, message, code))
    assert not error.retryable
    assert not isinstance(error, ContextTooLong)
    assert message in str(error)


@pytest.mark.parametrize(
    ("status", "message", "is_over_pictures"),
    [
        (400, "Invalid content type. image_url is only supported by certain models.", True),
        (400, "messages[2].content must be a string", True),
        (404, "No endpoints found that support image input", True),
        (422, "unknown variant `image_url`, expected `text`", True),
        (413, "Payload Too Large", True),
        (400, "invalid tool schema", False),
        (401, "no key for images", False),
        (500, "image worker crashed", False),
    ],
)
async def test_a_refusal_over_pictures_is_known_by_its_words(
    status: int, message: str, is_over_pictures: bool
) -> None:
    assert (await failure(refusal(status, message))).over_pictures is is_over_pictures


def test_pictures_of_results_follow_in_a_message_of_the_user() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}}
    content = [{"type": "text", "text": "read_file a.png: PNG picture"}, picture]
    values = [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": None, "tool_calls": [call, {**call, "id": "b"}]},
        {"role": "tool", "tool_call_id": "a", "content": content},
        {"role": "tool", "tool_call_id": "b", "content": "plain"},
    ]
    sent = model(stream()).render([born(value) for value in values], [])["messages"]
    assert [one["role"] for one in sent] == ["user", "assistant", "tool", "tool", "user"]
    assert sent[2]["content"] == "read_file a.png: PNG picture\n\n[image]"
    assert sent[4]["content"] == [FROM_RESULTS, picture]
    more = born({"role": "user", "content": "and now?"})
    sent = model(stream()).render([*map(born, values), more], [])["messages"]
    assert sent[4]["content"] == [FROM_RESULTS, picture, {"type": "text", "text": "and now?"}]


@pytest.mark.parametrize("status", [500, 502, 503, 529])
async def test_faults_of_the_server_are_retryable(status: int) -> None:
    assert (await failure(httpx2.Response(status, text="<html>oops</html>"))).retryable


@pytest.mark.parametrize(
    ("message", "code", "window"),
    [
        ("The maximum context length is 8,192 tokens. However, you sent 9000", None, 8_192),
        ("the request exceeds the available context size (4096 tokens)", None, 4_096),
        ("Please shorten", "context_length_exceeded", None),
        (f"prompt is too long: 5 > {'9' * 5_000}", None, None),
        (f"maximum context length is {'9' * 30} tokens", None, None),
        ("prompt is too long: 5 > 000", None, None),
    ],
)
async def test_length_errors_are_told_apart_with_the_window_they_name(
    message: str, code: str | None, window: int | None
) -> None:
    error = await failure(refusal(400, message, code))
    assert isinstance(error, ContextTooLong)
    assert (error.window, error.retryable) == (window, False)


async def test_key_that_a_provider_repeats_does_not_reach_the_message() -> None:
    error = await failure(refusal(401, "Incorrect API key provided: sk-secret"))
    assert "sk-secret" not in str(error)
    assert "[key]" in str(error)


async def test_word_that_stands_for_no_key_stays_in_the_message() -> None:
    refused = model(refusal(404, "none such model"), api_key="none", base_url="http://local/v1")
    with pytest.raises(ModelError, match="none such model"):
        await refused.reply(ASKED, [])


async def test_server_that_cannot_be_reached_is_named() -> None:
    def handler(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("no route")

    error = await failure(handler)
    assert error.retryable
    assert "https://api.openai.com/v1" in str(error)
    assert "no route" in str(error)


class Broken(httpx2.AsyncByteStream):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield f"data: {json.dumps(piece(content='half'))}\n\n".encode()
        raise httpx2.ReadError("connection lost")


@pytest.mark.parametrize(
    "answer",
    [
        stream(piece(content="half"), done=False),
        stream(piece(content="half"), {"error": {"message": "overloaded", "code": "503"}}),
        httpx2.Response(200, headers={"content-type": "text/event-stream"}, text="data: {no\n\n"),
        httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Broken()),
    ],
    ids=["ended early", "error inside", "no JSON", "connection lost"],
)
async def test_broken_stream_is_retryable(answer: httpx2.Response) -> None:
    assert (await failure(answer)).retryable


class Endless(httpx2.AsyncByteStream):
    def __init__(self) -> None:
        self.is_closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield f"data: {json.dumps(piece(content='half'))}\n\n".encode()
        await asyncio.sleep(3_600)

    async def aclose(self) -> None:
        self.is_closed = True


async def test_reply_that_is_cancelled_closes_its_stream() -> None:
    endless, begun = Endless(), asyncio.Event()
    head = {"content-type": "text/event-stream"}

    async def hear(text: str) -> None:
        begun.set()

    asked = model(httpx2.Response(200, headers=head, stream=endless)).reply(ASKED, [], hear)
    task = asyncio.create_task(asked)
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert endless.is_closed


async def test_empty_answer_is_retryable_unless_its_reason_would_hold_again() -> None:
    assert (await failure(stream(piece(content=" "), piece("stop")))).retryable
    error = await failure(stream(piece(reasoning_content="hm"), piece("length")))
    assert not error.retryable
    assert "max_tokens" in str(error)


async def test_server_without_key_is_asked_all_the_same() -> None:
    answer = stream(piece(content="ok"), piece("stop"))
    reply = await model(answer, api_key="", base_url="http://local/v1").reply(ASKED, [])
    assert reply.message["content"] == "ok"


def test_render_asks_nothing_of_the_network_and_gives_the_same_twice() -> None:
    def handler(request: httpx2.Request) -> httpx2.Response:
        raise AssertionError("render must not send")

    messages: list[Message] = [born({"role": "system", "content": "s"}), *ASKED]
    asked = model(handler)
    assert asked.render(messages, [READ]) == asked.render(messages, [READ])


@pytest.mark.parametrize(
    "answer",
    [
        stream(piece(content="Hel"), usage_piece(prompt_tokens=9, completion_tokens=2), done=False),
        stream(piece("length"), usage_piece(prompt_tokens=9, completion_tokens=2)),
    ],
    ids=["broke off", "said nothing"],
)
async def test_a_broken_reply_tells_what_was_billed(answer: httpx2.Response) -> None:
    assert (await failure(answer)).usage == Usage(input=9, output=2)
    assert (await failure(refusal(429, "slow down"))).usage is None


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        {"choices": 5},
        piece(content=5),
        call_piece(0, function={"name": "grep", "arguments": {"path": "a"}}),
        call_piece(0, function="grep"),
    ],
)
async def test_a_piece_that_is_no_chat_is_told_and_not_a_fault_of_ours(wrong: Any) -> None:
    error = await failure(stream(wrong, piece("stop")))
    assert error.retryable and "no part of a chat completion" in str(error)


async def test_figures_that_are_none_count_as_nothing() -> None:
    told = usage_piece(prompt_tokens=-5, completion_tokens="x", prompt_tokens_details="y")
    reply = await model(stream(piece(content="hi"), piece("stop"), told)).reply(ASKED, [])
    assert reply.usage == Usage(0, 0, 0, 0, 0)


async def test_a_redirect_is_a_failure_and_is_not_followed() -> None:
    asked: list[str] = []

    def elsewhere(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        return httpx2.Response(302, headers={"location": "http://169.254.169.254/"})

    await failure(elsewhere)
    assert len(asked) == 1
