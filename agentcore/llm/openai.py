"""Any endpoint that speaks OpenAI's chat completions, streamed."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentcore.breakdown import byte_length
from agentcore.errors import ModelError
from agentcore.llm import failures
from agentcore.llm.base import OnText, Reply, ToolSchema, tokens_of
from agentcore.llm.pictures import after_results
from agentcore.llm.strict import (
    JOINT,
    Entry,
    Part,
    arguments_text,
    joined_text,
    name_of,
    sendable,
    strict,
)
from agentcore.messages import Message, Role
from agentcore.usage import Usage
from agentcore.wire import dumps

if TYPE_CHECKING:
    from httpx2 import AsyncBaseTransport
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletionChunk
    from openai.types.chat.chat_completion_chunk import ChoiceDelta

# By the beginning of their names.
REASONING = ("o1", "o3", "o4", "gpt-5")
BASE_URL = "https://api.openai.com/v1"


class OpenAIModel:
    """`base_url` None is OpenAI itself. `transport` stands in for the network in tests."""

    def __init__(
        self,
        name: str,
        *,
        api_key: str,
        base_url: str | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        transport: AsyncBaseTransport | None = None,
    ) -> None:
        self.name = name
        self._api_key = api_key
        self._base_url = base_url or BASE_URL
        # OpenAI's newer models refuse the old name, other servers know no other.
        ceiling = "max_tokens" if base_url else "max_completion_tokens"
        options = {"temperature": temperature, ceiling: max_tokens}
        self._options = {key: value for key, value in options.items() if value is not None}
        self._transport = transport

    def tempered(self, temperature: float) -> OpenAIModel:
        """The models that reason refuse one."""
        if self.name.rsplit("/", 1)[-1].startswith(REASONING):
            return self
        other = copy(self)
        other._options = {**self._options, "temperature": temperature}
        return other

    def render(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> dict[str, Any]:
        offered = {"tools": list(tools)} if tools else {}
        return {
            "model": self.name,
            **offered,
            "messages": chat_messages(messages),
            **self._options,
            "stream": True,
            "stream_options": {"include_usage": True},
        }

    async def reply(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSchema],
        on_text: OnText | None = None,
    ) -> Reply:
        body = self.render(messages, tools)
        started = time.monotonic()
        draft = _Draft()
        try:
            await self._read(body, draft, on_text)
        except ModelError as error:
            error.usage = _usage(draft.usage)
            raise
        return Reply(
            draft.message(),
            _usage(draft.usage),
            draft.model or self.name,
            byte_length(dumps(body)),
            time.monotonic() - started,
            {"finish": draft.finish},
        )

    async def _read(self, body: Mapping[str, Any], draft: _Draft, on_text: OnText | None) -> None:
        """Raises ModelError for an answer that is not complete or says nothing."""
        async with aclosing(self._chunks(body)) as chunks:
            async for chunk in chunks:
                with failures.no_chat(self.name):
                    text = draft.add(chunk)
                if text and on_text:
                    await on_text(text)
        if not draft.finish:
            raise failures.unfinished(self.name)
        with failures.no_chat(self.name):
            content = draft.message()["content"]
        if not (draft.calls or (content or "").strip()):
            raise failures.said_nothing(self.name, draft.finish)

    async def _chunks(self, body: Mapping[str, Any]) -> AsyncGenerator[ChatCompletionChunk]:
        import openai

        client = openai.AsyncOpenAI(
            api_key=self._api_key or "none",
            base_url=self._base_url,
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(
                transport=self._transport, follow_redirects=False
            ),
        )
        try:
            async with client, await client.chat.completions.create(**body) as stream:
                async for chunk in stream:
                    yield chunk
        except openai.APIStatusError as error:
            text = f"{error.message} {error.code or ''}".strip()
            raise self._refused(error.status_code, text, error.response.headers) from error
        except (openai.APIConnectionError, ValueError) as error:
            reason = str(error.__cause__ or error)
            raise failures.unreachable(self.name, self._base_url, reason) from error
        except openai.APIError as error:
            # An error that came inside a stream has no status of its own.
            status = int(error.code) if error.code and error.code.isdecimal() else 500
            raise self._refused(status, f"{error.message} {error.code or ''}", {}) from error

    def _refused(self, status: int, text: str, headers: Mapping[str, str]) -> ModelError:
        return failures.refused(self.name, status, text, headers=headers, key=self._api_key)


def chat_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The list for chat completions: at most one system message, in front, then taking turns.
    Thinking goes back to the model only within the run it belongs to."""
    listed = after_results(strict(messages))
    told = JOINT.join(listed.leading + listed.notes)
    system = [{"role": "system", "content": told}] if told else []
    turns = [
        _message(entry, thinking=index >= listed.newest)
        for index, entry in enumerate(listed.entries)
    ]
    return [*system, *turns]


def _message(entry: Entry, *, thinking: bool) -> dict[str, Any]:
    if entry.role is Role.TOOL:
        content: Any = joined_text(entry.visible)
        return {"role": "tool", "tool_call_id": entry.call_id, "content": content}
    if entry.role is Role.USER:
        is_text = all(part.get("type") == "text" for part in entry.parts)
        content = joined_text(entry.parts) if is_text else [_part(part) for part in entry.parts]
        return {"role": "user", "content": content}
    message: dict[str, Any] = {"role": "assistant", "content": joined_text(entry.visible) or None}
    if entry.reasoning and thinking:
        message["reasoning_content"] = entry.reasoning
    if entry.calls:
        message["tool_calls"] = [
            _call(call.id, name_of(call), arguments_text(call)) for call in entry.calls
        ]
    return message


def _part(part: Part) -> Part:
    """A part of a user message; pictures of the Messages API take this API's form."""
    if part.get("type") in ("text", "image_url", "input_audio", "file"):
        return part
    source = part.get("source")
    if part.get("type") == "image" and isinstance(source, Mapping):
        url = source.get("url") or f"data:{source.get('media_type')};base64,{source.get('data')}"
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "text", "text": joined_text([part])}


def _call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": sendable(call_id), "type": "function", "function": function}


@dataclass(slots=True)
class _CallDraft:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Draft:
    """An answer as its pieces come in. Put together here and not by the SDK, whose assembly stops
    at what compatible servers do: a call without index or type, an id sent twice."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: dict[int, _CallDraft] = field(default_factory=dict)
    id: str = ""
    finish: str | None = None
    usage: CompletionUsage | None = None
    model: str = ""

    def add(self, chunk: ChatCompletionChunk) -> str:
        """Take a piece in; returns the text it brought."""
        self.id = chunk.id or self.id
        self.usage = chunk.usage or self.usage
        self.model = chunk.model or self.model
        known = len(self.texts)
        for choice in chunk.choices or ():
            self.finish = choice.finish_reason or self.finish
            # Compatible servers end a stream with a choice that has no delta.
            delta: ChoiceDelta | None = choice.delta
            if delta is not None:
                self._add_delta(delta)
        return "".join(self.texts[known:])

    def message(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self.texts) or None}
        if thought := "".join(self.thoughts):
            message["reasoning_content"] = thought
        if self.calls:
            message["tool_calls"] = [
                _call(call.id or f"call_{self.id}_{index}", call.name, "".join(call.arguments))
                for index, call in sorted(self.calls.items())
            ]
        return message

    def _add_delta(self, delta: ChoiceDelta) -> None:
        self.texts.append(delta.content or delta.refusal or "")
        extra = delta.model_extra or {}
        self.thoughts.append(extra.get("reasoning_content") or extra.get("reasoning") or "")
        for piece in delta.tool_calls or ():
            index: int | None = piece.index
            call = self.calls.setdefault(
                self._place(piece.id) if index is None else index, _CallDraft()
            )
            call.id = call.id or piece.id or ""
            if piece.function:
                call.name = call.name or piece.function.name or ""
                call.arguments.append(piece.function.arguments or "")

    def _place(self, call_id: str | None) -> int:
        """Where a piece without index belongs: an id that is new begins a call."""
        for index, call in self.calls.items():
            if call_id and call.id == call_id:
                return index
        return len(self.calls) if call_id or not self.calls else len(self.calls) - 1


def _usage(usage: CompletionUsage | None) -> Usage | None:
    """The provider's prompt count holds both cache figures; ours holds neither."""
    if usage is None:
        return None
    details, output = usage.prompt_tokens_details, usage.completion_tokens_details
    prompt = tokens_of(usage, "prompt_tokens")
    read = min(prompt, tokens_of(details, "cached_tokens"))
    written = min(prompt - read, tokens_of(details, "cache_write_tokens"))
    return Usage(
        prompt - read - written,
        tokens_of(usage, "completion_tokens"),
        read,
        written,
        tokens_of(output, "reasoning_tokens"),
    )
