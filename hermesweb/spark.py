"""Geometry of a sparkline: one bar a turn, binned to a fixed number, compactions as cuts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

BARS = 60
TOP = 100.0


@dataclass(frozen=True, slots=True)
class Spark:
    """In a box `width` wide and 100 high: `heights` of the bars, each 1 wide with its gap;
    `tick` is the line of the next threshold, counted from the top."""

    heights: tuple[float, ...]
    cuts: tuple[float, ...]
    tick: float | None

    @property
    def width(self) -> int:
        return max(len(self.heights), 1)

    @property
    def path(self) -> str:
        """The bars as one SVG path; written here because walls have thousands of them."""
        return "".join(
            f"M{place} {TOP - height:.1f}h.8V{TOP:.0f}h-.8z"
            for place, height in enumerate(self.heights)
        )


def spark(
    values: Sequence[int],
    *,
    ceiling: int | None = None,
    threshold: int | None = None,
    compacted: Sequence[int] = (),
) -> Spark:
    """`compacted` holds the places in `values` before which a compaction stands.

    The scale is `ceiling`, or the largest value when there is none or it is passed.
    """
    top = max([ceiling or 0, *values, 1])
    step = max(-(-len(values) // BARS), 1)
    peaks = [max(values[start : start + step]) for start in range(0, len(values), step)]
    return Spark(
        heights=tuple(TOP * peak / top for peak in peaks),
        cuts=tuple(place / step for place in compacted),
        tick=TOP - TOP * threshold / top if threshold is not None else None,
    )
