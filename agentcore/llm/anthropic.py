"""Anthropic's Messages API, streamed."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from agentcore.breakdown import THINKING_PARTS, Category, byte_length, part_category
from agentcore.errors import ModelError
from agentcore.llm import failures
from agentcore.llm.base import OnText, Reply, ToolSchema, tokens_of
from agentcore.llm.strict import JOINT, Entry, Part, arguments_of, joined_text, name_of, strict
from agentcore.messages import Message, Role
from agentcore.usage import Usage
from agentcore.wire import dumps

if TYPE_CHECKING:
    from anthropic import APIStatusError
    from anthropic.lib.streaming import ParsedMessageStreamEvent
    from anthropic.types import Message as AnthropicMessage
    from anthropic.types import Usage as Reported
    from httpx2 import AsyncBaseTransport

BASE_URL = "https://api.anthropic.com"
# The API wants a ceiling; all models in use grant this one, and thinking counts towards it.
MAX_TOKENS = 16_000

_CACHED = {"cache_control": {"type": "ephemeral"}}
_NOT_IN_IDS = re.compile(r"[^a-zA-Z0-9_-]")
_DATA_URL = re.compile(r"data:([\w.+/-]+);base64,(.*)", re.DOTALL)
# The status that an error has as an answer of its own; inside a stream it comes without.
_STATUS_OF = {
    "invalid_request_error": 400,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "overloaded_error": 529,
}


class AnthropicModel:
    """There is no `temperature`: from version 2026-10-21 on the API refuses one.
    `transport` stands in for the network in tests."""

    def __init__(
        self,
        name: str,
        *,
        api_key: str,
        base_url: str | None = None,
        max_tokens: int | None = None,
        transport: AsyncBaseTransport | None = None,
    ) -> None:
        self.name = name
        self._api_key = api_key
        self._base_url = base_url or BASE_URL
        self._max_tokens = max_tokens or MAX_TOKENS
        self._transport = transport

    def render(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> dict[str, Any]:
        listed = strict(messages)
        system = _system(listed.leading, listed.notes)
        return {
            "model": self.name,
            "max_tokens": self._max_tokens,
            **({"tools": [_tool(schema) for schema in tools]} if tools else {}),
            **({"system": system} if system else {}),
            "messages": _turns(listed.entries, listed.newest),
        }

    async def reply(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSchema],
        on_text: OnText | None = None,
    ) -> Reply:
        body = self.render(messages, tools)
        started = time.monotonic()
        heard = _Heard()
        try:
            answer, message = await self._read(body, heard, on_text)
        except ModelError as error:
            error.usage = heard.usage
            raise
        return Reply(
            message,
            _usage(answer.usage),
            answer.model,
            byte_length(dumps(body)),
            time.monotonic() - started,
            {"finish": answer.stop_reason},
        )

    async def _read(
        self, body: Mapping[str, Any], heard: _Heard, on_text: OnText | None
    ) -> tuple[AnthropicMessage, dict[str, Any]]:
        """Raises ModelError for an answer that is not complete or says nothing."""
        async with aclosing(self._events(body)) as events:
            async for event in events:
                if event.type == "text" and on_text:
                    await on_text(event.text)
                heard.take(event)
        if heard.answer is None:
            raise failures.unfinished(self.name)
        message = _message(heard.answer, heard.written)
        if message is None:
            raise failures.said_nothing(self.name, heard.answer.stop_reason)
        return heard.answer, message

    async def _events(
        self, body: Mapping[str, Any]
    ) -> AsyncGenerator[ParsedMessageStreamEvent[None]]:
        import anthropic
        import httpx2

        client = anthropic.AsyncAnthropic(
            api_key=self._api_key,
            base_url=self._base_url,
            max_retries=0,
            http_client=anthropic.DefaultAsyncHttpxClient(
                transport=self._transport, follow_redirects=False
            ),
        )
        try:
            async with client, client.messages.stream(**body) as stream:
                async for event in stream:
                    yield event
        except anthropic.APIStatusError as error:
            raise self._refused(error) from error
        # The SDK hands on what breaks while it reads a stream as it is, bad JSON included.
        except (anthropic.APIError, httpx2.HTTPError, ValueError) as error:
            reason = str(error.__cause__ or error)
            raise failures.unreachable(self.name, self._base_url, reason) from error

    def _refused(self, error: APIStatusError) -> ModelError:
        text = f"{error.api_message or error.message} {error.type or ''}".strip()
        status = error.status_code
        if status < 400:
            status = _STATUS_OF.get(error.type or "", 500)
        headers = error.response.headers
        return failures.refused(self.name, status, text, headers=headers, key=self._api_key)


@dataclass(slots=True)
class _Heard:
    """What came so far: the usage is told in pieces, long before the answer is complete."""

    answer: AnthropicMessage | None = None
    usage: Usage | None = None
    written: dict[int, str] = field(default_factory=dict)

    def take(self, event: ParsedMessageStreamEvent[None]) -> None:
        if event.type == "content_block_delta" and event.delta.type == "input_json_delta":
            written = self.written.get(event.index, "")
            self.written[event.index] = written + event.delta.partial_json
        elif event.type == "message_start":
            self.usage = _usage(event.message.usage)
        elif event.type == "message_delta" and self.usage:
            self.usage = replace(self.usage, output=tokens_of(event.usage, "output_tokens"))
        elif event.type == "message_stop":
            self.answer, self.usage = event.message, _usage(event.message.usage)


def _system(leading: Sequence[str], notes: Sequence[str]) -> list[dict[str, Any]]:
    """The leading text is a block of its own, so that what stays the same is cached apart."""
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": JOINT.join(texts)} for texts in (leading, notes) if texts
    ]
    if leading:
        blocks[0] |= _CACHED
    return blocks


def _tool(schema: ToolSchema) -> dict[str, Any]:
    function = schema["function"]
    return {
        "name": function["name"],
        "description": function["description"],
        "input_schema": function["parameters"],
    }


def _turns(entries: Sequence[Entry], newest: int) -> list[dict[str, Any]]:
    """User and assistant in turn; the results of a message's calls open the next user message.
    Thinking goes back only within the run it belongs to."""
    turns: list[dict[str, Any]] = []
    ids = _Ids()
    for index, entry in enumerate(entries):
        role = "assistant" if entry.role is Role.ASSISTANT else "user"
        blocks = list(_blocks(entry, ids, thinking=index >= newest))
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    turns[-1]["content"][-1] |= _CACHED
    return turns


class _Ids:
    """Call ids in the letters that the API accepts, each given once in a request. Other providers
    write other letters and begin anew in each answer."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}
        self._used: set[str] = set()

    def of_call(self, call_id: str) -> str:
        given, nth = call_id, 0
        while given in self._used or not given or _NOT_IN_IDS.search(given):
            text = f"{nth} {call_id}".encode("utf-8", "surrogatepass")
            given, nth = f"toolu_{hashlib.sha256(text).hexdigest()[:24]}", nth + 1
        self._used.add(given)
        self._given[call_id] = given
        return given

    def of_result(self, call_id: str) -> str:
        """The id that the newest call of this name went by."""
        return self._given.get(call_id, call_id)


def _blocks(entry: Entry, ids: _Ids, *, thinking: bool) -> Iterator[dict[str, Any]]:
    if entry.role is Role.TOOL:
        yield {
            "type": "tool_result",
            "tool_use_id": ids.of_result(entry.call_id),
            "content": [_block(part) for part in entry.visible],
        }
        return
    if entry.role is Role.USER:
        yield from map(_block, entry.parts)
        return
    for part in entry.parts if thinking else entry.visible:
        if part_category(part) is not Category.THINKING:
            yield {"type": "text", "text": joined_text([part])}
        elif part.get("signature") or part.get("data"):
            yield dict(part)
    for call in entry.calls:
        yield {
            "type": "tool_use",
            "id": ids.of_call(call.id),
            "name": name_of(call),
            "input": arguments_of(call),
        }


def _block(part: Part) -> dict[str, Any]:
    """A part as a block; pictures of chat completions take this API's form."""
    if part.get("type") == "text":
        return {"type": "text", "text": part["text"]}
    if part.get("type") in ("image", "document"):
        return dict(part)
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, Mapping) else None
    if not isinstance(url, str):
        return {"type": "text", "text": joined_text([part])}
    data = _DATA_URL.fullmatch(url)
    if data is None:
        return {"type": "image", "source": {"type": "url", "url": url}}
    source = {"type": "base64", "media_type": data[1], "data": data[2]}
    return {"type": "image", "source": source}


def _message(answer: AnthropicMessage, written: Mapping[int, str]) -> dict[str, Any] | None:
    """The answer in chat form, or None without text and calls. Thinking blocks stay parts of the
    content, unchanged, since the API wants them back as they were, signature included."""
    parts: list[dict[str, Any]] = []
    texts: list[str] = []
    calls: list[dict[str, Any]] = []
    for index, block in enumerate(answer.content):
        if block.type == "tool_use":
            arguments = written.get(index) or dumps(block.input)
            function = {"name": block.name, "arguments": arguments}
            calls.append({"id": block.id, "type": "function", "function": function})
        elif block.type == "text" and block.text:
            texts.append(block.text)
            parts.append({"type": "text", "text": block.text})
        elif block.type in THINKING_PARTS:
            parts.append(block.to_dict())
    if not calls and not "".join(texts).strip():
        return None
    content = parts if len(parts) > len(texts) else "".join(texts) or None
    message: dict[str, Any] = {"role": "assistant", "content": content}
    return {**message, "tool_calls": calls} if calls else message


def _usage(usage: Reported) -> Usage:
    """`input_tokens` holds neither cache figure here, as ours."""
    details = getattr(usage, "output_tokens_details", None)
    return Usage(
        tokens_of(usage, "input_tokens"),
        tokens_of(usage, "output_tokens"),
        tokens_of(usage, "cache_read_input_tokens"),
        tokens_of(usage, "cache_creation_input_tokens"),
        tokens_of(details, "thinking_tokens"),
    )
