"""Replacing rows one by one until enough was freed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from agentcore.compaction.plan import CompactionPlan, Fate, Replaced
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
        self._made: dict[Fate, dict[int, Message]] = {fate: {}}

    @property
    def is_enough(self) -> bool:
        return self._freed >= self._need

    def within_reach(self, rows: Sequence[int]) -> bool:
        """Whether these rows hold all that is still to be freed."""
        messages = self._snapshot.messages
        bytes_left = sum([messages[row].sizes.bytes for row in rows])
        return self._freed + bytes_left >= self._need

    def offer(self, row: int, make: Callable[[Message], Message], fate: Fate | None = None) -> None:
        """Replace a row by what is made of it, where that is smaller."""
        self.offer_all((row,), make, fate)

    def offer_all(
        self, rows: Iterable[int], make: Callable[[Message], Message], fate: Fate | None = None
    ) -> None:
        """The same of many, however much they free."""
        self._offer(rows, make, fate, None)

    def offer_needed(self, rows: Iterable[int], make: Callable[[Message], Message]) -> None:
        """The same of many in their order, until enough was freed."""
        self._offer(rows, make, None, self._need)

    def _offer(
        self,
        rows: Iterable[int],
        make: Callable[[Message], Message],
        fate: Fate | None,
        need: int | None,
    ) -> None:
        messages, pins = self._snapshot.messages, self._pins
        replaced = self._made.setdefault(fate or self._fate, {})
        for row in rows:
            if need is not None and self._freed >= need:
                return
            message = messages[row]
            # `is_short`, written out: this reads thousands.
            size, replaces = message.sizes.bytes, message.replaces
            if size <= PLACEHOLDER_BYTES or message.number in pins:
                continue
            if replaces is not None and size <= MOST_PLACEHOLDERS:
                continue
            made = make(message)
            gain = size - made.sizes.bytes
            if gain > 0:
                self._freed += gain
                if made.replaces is None:
                    made = made.born_as(0, message.number or replaces, ())
                replaced[row] = made

    def plan(self) -> CompactionPlan:
        replaced = tuple(
            Replaced(fate, self._stage, _ascending(made))
            for fate, made in self._made.items()
            if made
        )
        return CompactionPlan(self._snapshot.state, (), (), replaced=replaced)


def _ascending(made: Mapping[int, Message]) -> Mapping[int, Message]:
    rows = list(made)
    return made if rows == sorted(rows) else dict(sorted(made.items()))


def is_short(message: Message) -> bool:
    """Whether nothing that takes its place would be shorter."""
    size = message.sizes.bytes
    return size <= PLACEHOLDER_BYTES or (message.replaces is not None and size <= MOST_PLACEHOLDERS)
