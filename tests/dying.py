"""A worker that dies at one of its writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hermesweb.recorder import record


class Died(BaseException):
    """Stands for SIGKILL: nothing of the runner's own cleaning up counts on it."""


class Dying:
    """Takes the place of `runner.record`: the write of number `at`, of those that tell of an event
    of the class `of`, is not made or, with `after`, is the last that is made."""

    def __init__(self, at: int, *, after: bool, of: type = object) -> None:
        self._at = at
        self._after = after
        self._of = of
        self.writes = 0

    def __call__(self, session_id: str, fence: int, events: Sequence[Any]) -> int:
        counts = any(isinstance(event, self._of) for event in events)
        self.writes += counts
        dies = counts and self.writes == self._at
        if dies and not self._after:
            raise Died
        seq = record(session_id, fence, events)
        if dies:
            raise Died
        return seq
