"""Pictures, documents and sounds of a message by name: what they are and how large."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentcore.breakdown import Category, part_category

_DATA_URL = re.compile(r"data:([\w.+-]{1,60}/[\w.+-]{1,60})?(?:;[^,;]{0,60}){0,4};base64,")
_TYPE = re.compile(r"[\w.+/-]{1,120}")


@dataclass(frozen=True, slots=True)
class Medium:
    """`kind` is its media type, or what the part calls itself; `bytes` are those that its base64
    stands for, None for what an address names only."""

    kind: str
    bytes: int | None = None


def media_in(content: Any) -> tuple[Medium, ...]:
    """Those of a message's content, in order."""
    parts = content if isinstance(content, list) else []
    return tuple(_medium(part) for part in parts if part_category(part) is Category.IMAGES)


def _medium(part: Mapping[str, Any]) -> Medium:
    kind, inner = str(part["type"]), _inner(part)
    named = inner.get("media_type") or inner.get("format")
    if isinstance(named, str) and _TYPE.fullmatch(named):
        kind = named
    for value in (inner.get(key) for key in ("url", "data", "file_data")):
        if isinstance(value, str):
            found = _DATA_URL.match(value)
            if found:
                return Medium(found[1] or kind, _length(len(value) - found.end(), value))
            if not value.startswith(("http:", "https:")):
                return Medium(kind, _length(len(value), value))
    return Medium(kind)


def _inner(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """What holds the data: the APIs nest it under names of their own."""
    for key in ("source", part["type"], "image_url", "file"):
        if isinstance(part.get(key), Mapping):
            inner: Mapping[str, Any] = part[key]
            return inner
    return {"url": part.get("image_url"), **part}


def _length(chars: int, encoded: str) -> int:
    padding = len(encoded) - len(encoded.rstrip("="))
    return max(0, chars * 3 // 4 - padding)
