"""Replacing rows one by one until enough was freed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentcore.compaction.placeholders import in_place
from agentcore.compaction.plan import Birth, CompactionPlan, Fate, Removal
from agentcore.compaction.strategy import Situation
from agentcore.messages import Message

# What a placeholder takes at least: nothing shorter is worth replacing. What replaces another
# message and is no longer than most placeholders is one.
PLACEHOLDER_BYTES, MOST_PLACEHOLDERS = 80, 240


class Replacements:
    """Rows that are pinned are passed over, and so is what would not get smaller."""

    def __init__(self, situation: Situation, stage: str, fate: Fate) -> None:
        self._snapshot = situation.snapshot
        self._pins = situation.pins
        self._need = situation.need
        self._stage = stage
        self._fate = fate
        self._freed = 0
        self._births: dict[int, tuple[Birth, Fate]] = {}

    @property
    def is_enough(self) -> bool:
        return self._freed >= self._need

    def within_reach(self, rows: Sequence[int]) -> bool:
        """Whether these rows hold all that is still to be freed."""
        bytes_left = sum(self._snapshot.messages[row].sizes.bytes for row in rows)
        return self._freed + bytes_left >= self._need

    def offer(self, row: int, make: Callable[[Message], Message], fate: Fate | None = None) -> None:
        """Replace a row by what is made of it, where that is smaller."""
        message = self._snapshot.messages[row]
        if message.number in self._pins or _is_short(message):
            return
        made = make(message)
        gain = message.sizes.bytes - made.sizes.bytes
        if gain > 0:
            self._freed += gain
            self._births[row] = (in_place(row, made, self._stage), fate or self._fate)

    def plan(self) -> CompactionPlan:
        rows = sorted(self._births)
        return CompactionPlan(
            self._snapshot.state,
            tuple(Removal(row, row + 1, self._births[row][1], self._stage) for row in rows),
            tuple(self._births[row][0] for row in rows),
        )


def _is_short(message: Message) -> bool:
    size = message.sizes.bytes
    return size <= PLACEHOLDER_BYTES or (message.replaces is not None and size <= MOST_PLACEHOLDERS)
