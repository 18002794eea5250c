"""Text from outside as it may stand in a column of small facts or a title."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentcore import kinds
from agentcore.redact import mask


def shown(value: Any) -> Any:
    """The same value, in whatever depth, with its texts storable and their secrets masked."""
    return _each(value, lambda text: kinds.storable(mask(text)[0]))


def storable(value: Any) -> Any:
    """The same value, in whatever depth, with its texts fit for any JSON column."""
    return _each(value, kinds.storable)


def _each(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {_each(key, change): _each(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_each(item, change) for item in value]
    return value
