"""Text from outside as it may stand in a column of small facts or a title."""

from __future__ import annotations

from typing import Any

from agentcore.kinds import shown as shown_text


def shown(value: Any) -> Any:
    """The same value, in whatever depth, with its texts fit for any JSON column."""
    if isinstance(value, str):
        return shown_text(value, len(value))
    if isinstance(value, dict):
        return {shown(key): shown(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [shown(item) for item in value]
    return value
