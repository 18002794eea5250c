"""How much of a request equals the front of the one before it (spec-context 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentcore.breakdown import Sizes
from agentcore.events import BreakReason
from agentcore.snapshot import Snapshot


class Prefix:
    """Remembers the last request. A list that only grew is not looked at again."""

    def __init__(self) -> None:
        self._last: Snapshot | None = None
        self._schemas: Sequence[Mapping[str, Any]] = ()
        self._bytes = 0

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
            reason = BreakReason.COMPACTION if rows < len(last.messages) else None
        self._schemas, self._bytes = schemas, sizes.bytes + request.sizes.bytes
        return stable, reason


def _common_rows(last: Snapshot, request: Snapshot) -> int:
    rows = 0
    for old, new in zip(last.messages, request.messages, strict=False):
        if old.number != new.number:
            break
        rows += 1
    return rows
