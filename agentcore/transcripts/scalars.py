"""Single values as recordings have them: times, JSON inside of text."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from agentcore.errors import WireError
from agentcore.wire import dumps


def iso_time(value: Any) -> str | None:
    """Text as it came when it is a time that UTC has too, else None; a number counts seconds since
    1970, UTC."""
    try:
        if isinstance(value, str):
            datetime.fromisoformat(value).astimezone(UTC)
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None
    return None


def json_text(value: Any) -> str:
    """JSON text, also of what the wire form refuses: inside of a string it does no harm."""
    try:
        return dumps(value)
    except (WireError, RecursionError):
        pass
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "(nested too deep)"
