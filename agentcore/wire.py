"""The wire form: compact JSON of one message, UTF-8, keys in the order they came."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import orjson

from agentcore.errors import WireError

MAX_DEPTH = 200

_OPTIONS = (
    orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)
_SURROGATE = re.compile("[\ud800-\udfff]")


def dumps(value: Any) -> str:
    """The wire text of a JSON value. Lone surrogates become `\\udXXX`.

    NaN, infinities, keys that are no strings and nesting over 200 raise WireError.
    """
    return encoded(value).decode()


def encoded(value: Any) -> bytes:
    """The UTF-8 of the wire text."""
    try:
        raw = orjson.dumps(value, option=_OPTIONS)
    except TypeError:
        return _encoded_exactly(value)
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH or b"null" in raw:
        _check(value)
    return raw


def loads(text: str | bytes) -> Any:
    """The value of a wire text, numbers exact. Raises WireError with the position."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError(f"not JSON: {error}") from error


def _encoded_exactly(value: Any) -> bytes:
    _check(value)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode()


def _check(value: Any, depth: int = 1) -> None:
    """Refuse what JSON libraries would silently alter."""
    if isinstance(value, float) and not math.isfinite(value):
        raise WireError(f"{value!r} has no JSON form: send it as text")
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise WireError(f"the key {key!r} is not a string")
            _check_inside(item, depth)
    elif isinstance(value, list | tuple):
        for item in value:
            _check_inside(item, depth)
    elif not isinstance(value, str | int | float | None):
        raise WireError(f"{type(value).__name__} has no JSON form: convert it first")


def _check_inside(item: Any, depth: int) -> None:
    if depth >= MAX_DEPTH and isinstance(item, dict | list | tuple):
        raise WireError(f"nested more than {MAX_DEPTH} deep")
    _check(item, depth + 1)
