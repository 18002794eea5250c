"""Exact token counts, by the tokenizers that are at hand offline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentcore.breakdown import MEDIA_TOKENS, Category, part_category
from agentcore.errors import CounterMissing
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


@dataclass(frozen=True, slots=True)
class ExactCounter:
    """Counts as one tokenizer does; `name` is the tokenizer's."""

    name: str
    encoding: Any

    def message(self, message: Message) -> int:
        """Tokens of the wire form; a picture counts as the estimate has it."""
        text, media = _countable(message)
        return self.text(text) + media * MEDIA_TOKENS

    def schemas(self, schemas: Sequence[Mapping[str, Any]]) -> int:
        """Tokens of the tool schemas of a request, as one JSON array."""
        return self.text(dumps(list(schemas))) if schemas else 0

    def text(self, text: str) -> int:
        # Half a character has no tokens of its own: it is counted as what is sent in its place.
        count: int = self.encoding.count(text.encode("utf-8", "replace").decode())
        return count


def counter_for(model: str) -> ExactCounter | None:
    """The counter that fits the model, or None where no tokenizer does.

    Raises CounterMissing when one would and its package is not installed.
    """
    name = model.rsplit("/", 1)[-1].lower()
    fitting = [prefix for prefix in ENCODINGS if name.startswith(prefix)]
    return _counter(ENCODINGS[max(fitting, key=len)]) if fitting else None


def _counter(name: str) -> ExactCounter:
    # Imported where it is needed: loading it takes longer than a turn may.
    try:
        import quicktok
    except ImportError as error:
        raise CounterMissing("exact counts need the package quicktok-v1: install it") from error
    return ExactCounter(name, quicktok.get_encoding(name))


def _countable(message: Message) -> tuple[str, int]:
    """The wire form without pictures and the like, and how many of them there are."""
    value = message.value()
    content = value.get("content")
    if not isinstance(content, list):
        return message.wire, 0
    kept = [part for part in content if part_category(part) is not Category.IMAGES]
    return dumps({**value, "content": kept}), len(content) - len(kept)
