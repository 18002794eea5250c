from __future__ import annotations

from collections.abc import Sequence
from math import ceil

# The pace is that of the newest turns; from fewer than three there is none.
PACE_TURNS = 8
FEWEST_TURNS = 3


def pace(used: Sequence[int]) -> float | None:
    """What a turn added lately. `used` after each turn since the last compaction, oldest first."""
    recent = used[-PACE_TURNS:]
    if len(recent) < FEWEST_TURNS:
        return None
    return (recent[-1] - recent[0]) / (len(recent) - 1)


def turns_to_compaction(used: Sequence[int], trigger: float) -> int | None:
    """Turns until `trigger` is reached at the pace of late; 0 when it is, None when unknown."""
    if used and used[-1] >= trigger:
        return 0
    growth = pace(used)
    if growth is None or growth <= 0:
        return None
    return ceil((trigger - used[-1]) / growth)
