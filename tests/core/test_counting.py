from __future__ import annotations

import sys

import pytest

from agentcore.breakdown import MEDIA_TOKENS
from agentcore.counting import counter_for
from agentcore.errors import CounterMissing
from agentcore.messages import born


@pytest.mark.parametrize(
    ("model", "counter"),
    [
        ("gpt-4", "cl100k_base"),
        ("gpt-4o-mini", "o200k_base"),
        ("openai/gpt-5", "o200k_base"),
        ("meta/Llama-3.1-8B", "llama3"),
        ("qwen3-coder", "qwen3"),
    ],
)
def test_a_model_is_counted_by_the_tokenizer_that_fits_it(model: str, counter: str) -> None:
    found = counter_for(model)
    assert found is not None and found.name == counter
    assert found.text("hello world") == 2


@pytest.mark.parametrize("model", ["claude-opus-4", "", "explorer"])
def test_no_tokenizer_stands_in_for_another(model: str) -> None:
    assert counter_for(model) is None


def test_a_message_counts_by_its_wire_form_and_a_picture_by_the_estimate() -> None:
    counter = counter_for("gpt-4o")
    assert counter is not None
    plain = born({"role": "user", "content": "hello world"})
    assert counter.message(plain) == counter.text(plain.wire)
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 99_000}}
    shown = counter.message(born({"role": "user", "content": [picture]}))
    assert MEDIA_TOKENS < shown < MEDIA_TOKENS + 30
    assert counter.schemas(()) == 0
    assert counter.schemas([{"type": "function"}]) == counter.text('[{"type":"function"}]')


def test_special_tokens_and_half_characters_are_text() -> None:
    counter = counter_for("gpt-4o")
    assert counter is not None
    assert counter.text("<|endoftext|>") > 1
    assert counter.text("a\ud800b") == counter.text("a?b")


def test_without_its_package_the_counter_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "quicktok", None)
    with pytest.raises(CounterMissing, match="quicktok-v1"):
        counter_for("gpt-4o")
