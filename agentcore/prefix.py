"""How much of a request equals the front of the one before it (spec-context 9)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os.path import commonprefix
from typing import Any

from agentcore.breakdown import Sizes, byte_length
from agentcore.kinds import BREAKS, BreakReason, EventKind
from agentcore.messages import Message
from agentcore.sections import without_memory
from agentcore.snapshot import Snapshot
from agentcore.wire import dumps

KEY_CHARS = 16


@dataclass(frozen=True, slots=True)
class Sent:
    """The last request, as it was stored: `schemas` is the key of its tool schemas, `model` whom it
    was sent to, both empty where that is not known; `causes` are the kinds of the changes since, by
    the numbers of the messages that came or went."""

    list: Snapshot
    schemas: str = ""
    model: str = ""
    causes: Mapping[int, EventKind] = field(default_factory=dict)


class Prefix:
    """Remembers the last request. A list that only grew is not looked at again. `schemas` tells the
    tool schemas of the last request apart; `break_number` is the message that broke its prefix."""

    def __init__(self, sent: Sent | None = None) -> None:
        self._last = sent.list if sent else None
        self._model = sent.model if sent else ""
        self._causes: dict[int, EventKind] = dict(sent.causes) if sent else {}
        self._offered: Sequence[Mapping[str, Any]] | None = None
        self.schemas = sent.schemas if sent else ""
        self.break_number: int | None = None

    def advance(
        self,
        request: Snapshot,
        schemas: Sequence[Mapping[str, Any]],
        sizes: Sizes,
        *,
        model: str = "",
        causes: Mapping[int, EventKind] | None = None,
    ) -> tuple[int, BreakReason | None]:
        """Stable bytes of this request, schemas first, and what broke it; 0 for the first one.
        `sizes` are those of the schemas, `causes` as of `Sent`."""
        last, self._last = self._last, request
        known, self._model = self._model, model
        key, self.schemas = self.schemas, self._key(schemas)
        all_causes, self._causes = {**self._causes, **(causes or {})}, {}
        self.break_number = None
        if last is None:
            return 0, None
        if known and known != model:
            return 0, BreakReason.MODEL
        if key and key != self.schemas:
            return 0, BreakReason.SCHEMAS
        if last.state.revision == request.state.revision:
            return sizes.bytes + last.sizes.bytes, None
        rows = _common_rows(last, request, all_causes)
        stable = sizes.bytes + sum(one.sizes.bytes for one in request.messages[:rows])
        if rows == len(last.messages):
            return stable, None
        old = last.messages[rows]
        new = request.messages[rows] if rows < len(request.messages) else None
        self.break_number = old.number
        if _is_erased(old, all_causes):
            return stable, BreakReason.EDIT
        return stable + _common_bytes(old, new), _reason(old, new, all_causes)

    def _key(self, schemas: Sequence[Mapping[str, Any]]) -> str:
        if schemas is self._offered:
            return self.schemas
        self._offered = schemas
        return key_of(schemas)


def key_of(schemas: Sequence[Mapping[str, Any]]) -> str:
    """Tells tool schemas apart, across workers."""
    return hashlib.sha256(dumps(list(schemas)).encode()).hexdigest()[:KEY_CHARS]


def _common_rows(last: Snapshot, request: Snapshot, causes: Mapping[int, EventKind]) -> int:
    rows = 0
    for old, new in zip(last.messages, request.messages, strict=False):
        if old.number != new.number or _is_erased(old, causes):
            break
        rows += 1
    return rows


def _is_erased(old: Message, causes: Mapping[int, EventKind]) -> bool:
    """Its text went since: what was sent of it is no longer known."""
    return causes.get(old.number) is EventKind.ERASED


def _common_bytes(old: Message, new: Message | None) -> int:
    return byte_length(commonprefix([old.wire, new.wire])) if new else 0


def _reason(old: Message, new: Message | None, causes: Mapping[int, EventKind]) -> BreakReason:
    """By the message that broke the prefix: a rebuilt system message, or what took it out or put
    another in front of it."""
    if new is not None and old.is_leading and new.is_leading:
        same = without_memory(old.text) == without_memory(new.text)
        return BreakReason.MEMORY if same else BreakReason.PROMPT
    cause = causes.get(old.number) or (causes.get(new.number) if new else None)
    return BREAKS.get(cause, BreakReason.COMPACTION) if cause else BreakReason.COMPACTION
