"""What a page says of the questions that a run waits with. Secrets are masked."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils import timezone

from agentcore.messages import ToolCall
from hermesweb import approvals
from hermesweb.models import AgentSession, Instruction, Status
from hermesweb.templatetags.units import json_text

# Of one argument on the session's page, and on the question's own.
FIRST_CHARS, MOST_CHARS = 300, 20_000


@dataclass(frozen=True)
class Argument:
    """`left` characters are not shown."""

    name: str
    text: str
    left: int


@dataclass(frozen=True)
class Question:
    """`call` None: it is about a compaction."""

    row: Instruction
    call: ToolCall | None

    @property
    def seconds_left(self) -> int | None:
        """None: it is waited as long as it takes."""
        if self.row.ends_at is None:
            return None
        return max(0, math.ceil((self.row.ends_at - timezone.now()).total_seconds()))

    @cached_property
    def _seen(self) -> tuple[dict[str, Any], int]:
        return approvals.readable(self.call) if self.call else ({}, 0)

    @property
    def masked(self) -> int:
        return self._seen[1]

    @property
    def json(self) -> str:
        return json_text(self._seen[0])

    @property
    def first(self) -> list[Argument]:
        return list(self._arguments(FIRST_CHARS))

    @property
    def arguments(self) -> list[Argument]:
        return list(self._arguments(MOST_CHARS))

    def _arguments(self, most: int) -> Iterator[Argument]:
        for name, value in self._seen[0].items():
            text = value if isinstance(value, str) else json_text(value)
            yield Argument(name, text[:most], max(0, len(text) - most))


def waiting(session: AgentSession) -> list[Question]:
    """Those that a person can answer now."""
    if session.status != Status.WAITING:
        return []
    return _questions(session, list(approvals.pending(session)))


def of(session: AgentSession, row: Instruction) -> Question:
    return _questions(session, [row])[0]


def _questions(session: AgentSession, rows: list[Instruction]) -> list[Question]:
    calls = approvals.calls_of(session, rows)
    return [Question(row, calls.get(row.pk)) for row in rows]
