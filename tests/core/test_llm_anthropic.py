from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest

from agentcore.breakdown import Category
from agentcore.errors import ContextTooLong, ModelError
from agentcore.llm.anthropic import AnthropicModel
from agentcore.messages import born
from agentcore.usage import Usage

ASKED = [born({"role": "system", "content": "be brief"}), born({"role": "user", "content": "look"})]
READ = {
    "type": "function",
    "function": {"name": "read_file", "description": "reads", "parameters": {"type": "object"}},
}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "sig"}

Handler = Callable[[httpx2.Request], httpx2.Response]


def start(**usage: Any) -> dict[str, Any]:
    counts = {"input_tokens": 10, "output_tokens": 1, **usage}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x"}
    message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": counts}
    return {"type": "message_start", "message": message}


def block(index: int, opened: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": opened},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def text(index: int, *pieces: str) -> list[dict[str, Any]]:
    deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
    return block(index, {"type": "text", "text": ""}, *deltas)


def call(index: int, call_id: str, *pieces: str) -> list[dict[str, Any]]:
    opened = {"type": "tool_use", "id": call_id, "name": "read_file", "input": {}}
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return block(index, opened, *deltas)


def stop(reason: str = "end_turn", **usage: Any) -> list[dict[str, Any]]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    counts = {"output_tokens": 7, **usage}
    return [{"type": "message_delta", "delta": delta, "usage": counts}, {"type": "message_stop"}]


def stream(*events: dict[str, Any]) -> httpx2.Response:
    lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
    return httpx2.Response(200, headers={"content-type": "text/event-stream"}, text="".join(lines))


def refusal(status: int, kind: str, message: str, **headers: str) -> httpx2.Response:
    return httpx2.Response(
        status,
        headers={name.replace("_", "-"): value for name, value in headers.items()},
        json={"type": "error", "error": {"type": kind, "message": message}},
    )


def model(answer: httpx2.Response | Handler, **options: Any) -> AnthropicModel:
    handler = answer if callable(answer) else lambda request: answer
    return AnthropicModel(
        "claude", api_key="sk-secret", transport=httpx2.MockTransport(handler), **options
    )


async def failure(answer: httpx2.Response | Handler) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await model(answer).reply(ASKED, [])
    return caught.value


async def test_text_streams_piece_by_piece_and_comes_back_whole() -> None:
    heard: list[str] = []

    async def hear(piece: str) -> None:
        heard.append(piece)

    reply = await model(stream(start(), *text(0, "Hel", "lo"), *stop())).reply(ASKED, [], hear)
    assert heard == ["Hel", "lo"]
    assert reply.message == {"role": "assistant", "content": "Hello"}
    assert (reply.model, reply.extra) == ("claude-x", {"finish": "end_turn"})


async def test_request_is_the_rendered_body() -> None:
    sent: list[Any] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        sent.append(json.loads(request.content))
        assert request.headers["authorization"] == "Bearer sk-secret"
        return stream(start(), *text(0, "ok"), *stop())

    asked = model(handler, max_tokens=99)
    await asked.reply(ASKED, [READ])
    body = asked.render(ASKED, [READ])
    assert sent == [{**body, "stream": True}]
    assert body["max_tokens"] == 99
    assert body["tools"] == [
        {"name": "read_file", "description": "reads", "input_schema": {"type": "object"}}
    ]
    assert body["system"] == [
        {"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}
    ]


async def test_parallel_calls_keep_ids_and_the_arguments_as_written() -> None:
    answer = stream(
        start(),
        *text(0, "I read."),
        *call(1, "toolu_1", '{"path": ', '"a"}'),
        *call(2, "toolu_2"),
        *stop("tool_use"),
    )
    message = born((await model(answer).reply(ASKED, [READ])).message)
    assert message.text == "I read."
    assert [(one.id, one.name, one.arguments) for one in message.calls] == [
        ("toolu_1", "read_file", '{"path": "a"}'),
        ("toolu_2", "read_file", "{}"),
    ]


async def test_arguments_cut_off_by_the_ceiling_are_not_completed() -> None:
    answer = stream(start(), *call(0, "toolu_1", '{"path": "a'), *stop("max_tokens"))
    message = born((await model(answer).reply(ASKED, [READ])).message)
    assert message.calls[0].arguments == '{"path": "a'


async def test_signed_thinking_is_kept_and_goes_back_unchanged_within_its_run() -> None:
    deltas = [
        {"type": "thinking_delta", "thinking": "hm"},
        {"type": "signature_delta", "signature": "sig"},
    ]
    opened = {"type": "thinking", "thinking": "", "signature": ""}
    answer = stream(
        start(), *block(0, opened, *deltas), *text(1, "I read."), *call(2, "t", "{}"), *stop()
    )
    asked = model(answer)
    message = born((await asked.reply(ASKED, [READ])).message)
    assert message.value()["content"] == [THOUGHT, {"type": "text", "text": "I read."}]
    assert message.text == "I read."
    assert message.sizes.breakdown[Category.THINKING] > 0

    result = born({"role": "tool", "tool_call_id": "t", "content": "text"})
    within = asked.render([*ASKED, message, result], [])["messages"][1]["content"]
    assert within[0] == THOUGHT
    later = [*ASKED, message, result, born({"role": "user", "content": "and now?"})]
    assert THOUGHT not in asked.render(later, [])["messages"][1]["content"]


@pytest.mark.parametrize("odd", [None, -5, 10**30])
async def test_what_is_no_number_of_tokens_counts_as_none(odd: Any) -> None:
    told = stream(start(input_tokens=odd), *text(0, "ok"), *stop(output_tokens=odd))
    assert (await model(told).reply(ASKED, [])).usage == Usage()
    begun = stream(start(input_tokens=odd), *stop(output_tokens=odd)[:1])
    assert (await failure(begun)).usage == Usage()


async def test_usage_takes_the_last_counts_of_the_stream() -> None:
    answer = stream(
        start(cache_read_input_tokens=10_000, cache_creation_input_tokens=40_000),
        *text(0, "ok"),
        *stop(input_tokens=3, output_tokens_details={"thinking_tokens": 4}),
    )
    reply = await model(answer).reply(ASKED, [])
    assert reply.usage == Usage(3, 7, cache_read=10_000, cache_write=40_000, reasoning=4)


async def test_too_many_requests_is_retryable_after_the_time_told() -> None:
    error = await failure(refusal(429, "rate_limit_error", "slow down", retry_after="7"))
    assert (error.retryable, error.retry_after) == (True, 7.0)
    assert "slow down" in str(error)


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, "invalid_request_error", False),
        (401, "authentication_error", False),
        (404, "not_found_error", False),
        (500, "api_error", True),
        (529, "overloaded_error", True),
    ],
)
async def test_refusals_say_whether_to_try_again(status: int, kind: str, retryable: bool) -> None:
    error = await failure(refusal(status, kind, "no"))
    assert error.retryable is retryable


async def test_a_refusal_over_a_picture_is_known_by_its_words() -> None:
    error = await failure(refusal(400, "invalid_request_error", "Could not process image"))
    assert error.over_pictures and not error.retryable
    assert not (await failure(refusal(400, "invalid_request_error", "bad role"))).over_pictures


@pytest.mark.parametrize(
    ("kind", "retryable"), [("overloaded_error", True), ("invalid_request_error", False)]
)
async def test_error_inside_a_stream_counts_as_its_kind(kind: str, retryable: bool) -> None:
    inside = {"type": "error", "error": {"type": kind, "message": "no"}}
    error = await failure(stream(start(), *text(0, "half"), inside))
    assert error.retryable is retryable


async def test_length_error_is_told_apart_with_its_window() -> None:
    message = "prompt is too long: 210000 tokens > 200000 maximum"
    error = await failure(refusal(400, "invalid_request_error", message))
    assert isinstance(error, ContextTooLong)
    assert error.window == 200_000


async def test_key_that_a_provider_repeats_does_not_reach_the_message() -> None:
    error = await failure(refusal(401, "authentication_error", "invalid x-api-key sk-secret"))
    assert "sk-secret" not in str(error)


class Broken(httpx2.AsyncByteStream):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield f"event: message_start\ndata: {json.dumps(start())}\n\n".encode()
        raise httpx2.ReadError("connection lost")


def unreachable(request: httpx2.Request) -> httpx2.Response:
    raise httpx2.ConnectError("no route")


@pytest.mark.parametrize(
    "answer",
    [
        stream(start(), *text(0, "half")),
        stream(),
        stream(start(), *call(0, "t", '{"path": nope')),
        httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Broken()),
        unreachable,
    ],
    ids=["ended early", "nothing", "bad JSON", "connection lost", "unreachable"],
)
async def test_broken_stream_is_retryable(answer: httpx2.Response | Handler) -> None:
    assert (await failure(answer)).retryable


async def test_empty_answer_is_retryable_unless_its_reason_would_hold_again() -> None:
    assert (await failure(stream(start(), *stop()))).retryable
    assert not (await failure(stream(start(), *text(0, " "), *stop("refusal")))).retryable


async def test_a_broken_reply_tells_what_was_billed() -> None:
    begun = [start(cache_read_input_tokens=400), *text(0, "Hel")]
    told, ended = stop(output_tokens=5)
    assert (await failure(stream(*begun))).usage == Usage(input=10, output=1, cache_read=400)
    late = await failure(stream(*begun, told))
    assert late.usage == Usage(input=10, output=5, cache_read=400)
    silent = await failure(stream(start(), told, ended))
    assert silent.usage == Usage(input=10, output=5)


async def test_a_redirect_is_a_failure_and_is_not_followed() -> None:
    asked: list[str] = []

    def elsewhere(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        return httpx2.Response(302, headers={"location": "http://169.254.169.254/"})

    await failure(elsewhere)
    assert len(asked) == 1
