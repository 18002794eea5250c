"""When the next compaction comes, and what brings it: from the growth of the newest turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

# The pace is that of the newest turns; from fewer than three there is none.
PACE_TURNS = 8
FEWEST_TURNS = 3
# Further ahead than this a forecast from a few turns says nothing.
FARTHEST = 50
# Of what is used: a turn that added less did not fill the window.
BURST_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class Growth:
    """What a turn added lately of one category, in the limit's unit; `share` of all that grew."""

    category: str
    pace: int
    share: float


@dataclass(frozen=True, slots=True)
class Burst:
    """One turn that added more than the others together: `added` in the limit's unit."""

    turn: int
    added: int
    category: str


@dataclass(frozen=True, slots=True)
class Point:
    """The list after a turn: `used` in the limit's unit, `breakdown` in bytes."""

    turn: int
    used: int
    breakdown: Mapping[str, int]


def pace(used: Sequence[int]) -> float | None:
    """What a turn added lately. `used` after each turn since the last compaction, oldest first."""
    recent = used[-PACE_TURNS:]
    if len(recent) < FEWEST_TURNS:
        return None
    return (recent[-1] - recent[0]) / (len(recent) - 1)


def turns_to_compaction(used: Sequence[int], trigger: float) -> int | None:
    """Turns until `trigger` is reached at the pace of late; 0 when it is, None when that cannot
    be said."""
    if used and used[-1] >= trigger:
        return 0
    growth = pace(used)
    if growth is None or growth <= 0:
        return None
    turns = ceil((trigger - used[-1]) / growth)
    return turns if turns <= FARTHEST else None


def growth(points: Sequence[Point]) -> list[Growth]:
    """By category, what grew most first. Points since the last compaction, oldest first."""
    recent = points[-PACE_TURNS:]
    speed = pace([point.used for point in recent])
    if not speed or speed <= 0:
        return []
    added = _added(recent[0], recent[-1])
    total = sum(added.values())
    return [
        Growth(category, round(speed * size / total), size / total)
        for category, size in added.most_common()
    ]


def burst(points: Sequence[Point]) -> Burst | None:
    recent = points[-PACE_TURNS:]
    if len(recent) < FEWEST_TURNS:
        return None
    steps = [(new.used - old.used, old, new) for old, new in pairwise(recent)]
    most, old, new = max(steps, key=lambda step: step[0])
    others = sum(step for step, _, _ in steps) - most
    added = _added(old, new)
    if most < BURST_SHARE * recent[-1].used or most <= max(others, 0) or not added:
        return None
    return Burst(new.turn, most, added.most_common(1)[0][0])


def _added(old: Point, new: Point) -> Counter[str]:
    """Bytes of the categories that grew."""
    return +Counter(
        {name: size - old.breakdown.get(name, 0) for name, size in new.breakdown.items()}
    )
