"""Exact token counts, for models whose tokenizer is at hand offline."""

from __future__ import annotations

from collections.abc import Iterable

from agentcore.breakdown import MEDIA_TOKENS, Category, part_category
from agentcore.errors import TranscriptError
from agentcore.messages import Message
from agentcore.wire import dumps

# By the beginning of the model's name; the longest match counts.
ENCODINGS = {
    "gpt-3.5": "cl100k_base",
    "gpt-4": "cl100k_base",
    "gpt-4o": "o200k_base",
    "gpt-4.1": "o200k_base",
    "gpt-4.5": "o200k_base",
    "gpt-5": "o200k_base",
    "chatgpt-4o": "o200k_base",
    "o1": "o200k_base",
    "o3": "o200k_base",
    "o4": "o200k_base",
    "llama-3": "llama3",
    "qwen": "qwen3",
}


def count_tokens(messages: Iterable[Message], model: str) -> int:
    """Tokens of the wire forms; a picture counts as the estimate has it.

    Raises TranscriptError without the tokenizer, or when none fits the model.
    """
    name = model.rsplit("/", 1)[-1].lower()
    fitting = [prefix for prefix in ENCODINGS if name.startswith(prefix)]
    if not fitting:
        known = ", ".join(sorted(ENCODINGS))
        named = f"the model {model!r}" if model else "a recording that names no model"
        raise TranscriptError(f"no exact tokenizer for {named}: known are {known}")
    try:
        import quicktok
    except ImportError as error:
        raise TranscriptError("exact counts need the package quicktok-v1: install it") from error
    encoding = quicktok.get_encoding(ENCODINGS[max(fitting, key=len)])
    total = 0
    for message in messages:
        text, media = _countable(message)
        total += len(encoding.encode_ordinary(text)) + media * MEDIA_TOKENS
    return total


def _countable(message: Message) -> tuple[str, int]:
    """The wire form without pictures and the like, and how many of them there are."""
    value = message.value()
    content = value.get("content")
    if not isinstance(content, list):
        return message.wire, 0
    kept = [part for part in content if not _is_media(part)]
    return dumps({**value, "content": kept}), len(content) - len(kept)


def _is_media(part: object) -> bool:
    return part_category(part) is Category.IMAGES
