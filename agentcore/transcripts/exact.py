"""Exact token counts of a recording."""

from __future__ import annotations

from collections.abc import Iterable

from agentcore.counting import ENCODINGS, counter_for
from agentcore.errors import TranscriptError
from agentcore.messages import Message


def count_tokens(messages: Iterable[Message], model: str) -> int:
    """Tokens of the wire forms. Raises TranscriptError when no tokenizer fits the model, and
    CounterMissing without the tokenizer."""
    counter = counter_for(model)
    if counter is None:
        known = ", ".join(sorted(ENCODINGS))
        named = f"the model {model!r}" if model else "a recording that names no model"
        raise TranscriptError(f"no exact tokenizer for {named}: known are {known}")
    return sum(map(counter.message, messages))
