"""How much of a request equals the front of the one before it (spec-context 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os.path import commonprefix
from typing import Any

from agentcore.breakdown import NOTHING, Sizes, byte_length
from agentcore.events import BreakReason
from agentcore.messages import Message
from agentcore.sections import without_memory
from agentcore.snapshot import Snapshot


class Prefix:
    """Remembers the last request. A list that only grew is not looked at again. `last`, `schemas`
    and their `sizes`: the request of a worker before this one."""

    def __init__(
        self,
        last: Snapshot | None = None,
        schemas: Sequence[Mapping[str, Any]] = (),
        sizes: Sizes = NOTHING,
    ) -> None:
        self._last = last
        self._schemas = schemas
        self._bytes = last.sizes.bytes + sizes.bytes if last else 0

    def advance(
        self, request: Snapshot, schemas: Sequence[Mapping[str, Any]], sizes: Sizes
    ) -> tuple[int, BreakReason | None]:
        """Stable bytes of this request, schemas first, and what broke it; 0 for the first one.
        `sizes` are those of the schemas."""
        last, self._last = self._last, request
        stable, reason = 0, None
        if last is not None and schemas != self._schemas:
            reason = BreakReason.SCHEMAS
        elif last is not None and last.state.revision == request.state.revision:
            stable = self._bytes
        elif last is not None:
            rows = _common_rows(last, request)
            stable = sizes.bytes + sum(one.sizes.bytes for one in request.messages[:rows])
            if rows < len(last.messages):
                old = last.messages[rows]
                new = request.messages[rows] if rows < len(request.messages) else None
                stable += _common_bytes(old, new)
                reason = _reason(old, new)
        self._schemas, self._bytes = schemas, sizes.bytes + request.sizes.bytes
        return stable, reason


def _common_rows(last: Snapshot, request: Snapshot) -> int:
    rows = 0
    for old, new in zip(last.messages, request.messages, strict=False):
        if old.number != new.number:
            break
        rows += 1
    return rows


def _common_bytes(old: Message, new: Message | None) -> int:
    return byte_length(commonprefix([old.wire, new.wire])) if new else 0


def _reason(old: Message, new: Message | None) -> BreakReason:
    """By the message that broke the prefix: a rebuilt system message, or a change of the list."""
    if new is None or not (old.is_leading and new.is_leading):
        return BreakReason.COMPACTION
    same = without_memory(old.text) == without_memory(new.text)
    return BreakReason.MEMORY if same else BreakReason.PROMPT
