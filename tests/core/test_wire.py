from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.errors import WireError
from agentcore.wire import dumps, loads

SCALARS = st.none() | st.booleans() | st.integers() | st.text()
VALUES = st.recursive(
    SCALARS | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_wire_form_is_compact_and_keeps_order_null_and_characters() -> None:
    value = {"role": "user", "b": None, "a": "中文 é", "content": [1, True]}
    assert dumps(value) == '{"role":"user","b":null,"a":"中文 é","content":[1,true]}'


@given(VALUES)
def test_wire_form_reads_back_to_the_same_value(value: Any) -> None:
    assert loads(dumps(value)) == value


@given(VALUES)
def test_wire_form_is_the_compact_form_of_the_standard_library(value: Any) -> None:
    assert json.loads(dumps(value)) == value
    assert dumps(loads(dumps(value))) == dumps(value)


def test_lone_surrogate_is_escaped_and_comes_back() -> None:
    wire = dumps({"content": "a\ud800b"})
    assert wire == '{"content":"a\\ud800b"}'
    assert wire.encode()
    assert loads(wire) == {"content": "a\ud800b"}


def test_numbers_beyond_64_bits_keep_every_digit() -> None:
    assert dumps({"n": 2**80}) == f'{{"n":{2**80}}}'
    assert loads(dumps(2**80)) == 2**80


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_without_json_form_are_refused_by_name(number: float) -> None:
    with pytest.raises(WireError, match=r"nan|inf"):
        dumps({"n": [None, number]})


@pytest.mark.parametrize("value", [{1: "a"}, {"a": object()}, {"a": {None: 1}}, {"a": b"raw"}])
def test_what_json_would_alter_is_refused(value: Any) -> None:
    with pytest.raises(WireError):
        dumps(value)


def test_nesting_is_bounded_at_200() -> None:
    assert dumps(nested(200))
    for depth in (201, 300, 100_000):
        with pytest.raises(WireError, match="200"):
            dumps(nested(depth))


@pytest.mark.parametrize("text", ["", "{", '{"a":}', "[" * 100_000, b"\xff"])
def test_text_that_is_not_json_is_an_error_by_name(text: str | bytes) -> None:
    with pytest.raises(WireError):
        loads(text)
