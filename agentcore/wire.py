"""The wire form: compact JSON of one message, UTF-8, keys in the order they came."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import orjson

from agentcore.errors import WireError
from agentcore.said import Said

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
    _check(value, 0)
    try:
        return orjson.dumps(value, option=_OPTIONS)
    except TypeError:
        # Lone surrogates, numbers beyond 64 bits, subclasses of str: slower, and exact.
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode()


def loads(text: str | bytes) -> Any:
    """The value of a wire text, numbers exact. Raises WireError with the position."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError(Said("not JSON: {error}", error=str(error))) from error


def _check(value: Any, depth: int) -> None:
    """Refuse what JSON libraries would silently alter; `depth` containers are around it."""
    if value is None or isinstance(value, str | int):
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise WireError(Said("{value} has no JSON form: send it as text", value=repr(value)))
    elif isinstance(value, dict | list | tuple):
        if depth >= MAX_DEPTH:
            raise WireError(Said("nested more than {most} deep", most=MAX_DEPTH))
        if isinstance(value, dict):
            _check_keys(value)
            value = value.values()
        for item in value:
            _check(item, depth + 1)
    else:
        kind = type(value).__name__
        raise WireError(Said("{kind} has no JSON form: convert it first", kind=kind))


def _check_keys(value: dict[Any, Any]) -> None:
    for key in value:
        if not isinstance(key, str):
            raise WireError(Said("the key {key} is not a string", key=repr(key)))
