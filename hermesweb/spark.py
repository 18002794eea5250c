"""Geometry of a sparkline: one bar a turn, binned to a fixed number, compactions as cuts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

BARS = 60
TOP = 100.0


@dataclass(frozen=True, slots=True)
class Bar:
    x: float
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Spark:
    """In a box `width` wide and 100 high; `tick` is the height of the next threshold."""

    bars: tuple[Bar, ...]
    cuts: tuple[float, ...]
    tick: float | None
    width: int


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
        bars=tuple(_bar(place, peak, top) for place, peak in enumerate(peaks)),
        cuts=tuple(place / step for place in compacted),
        tick=TOP - TOP * threshold / top if threshold is not None else None,
        width=max(len(peaks), 1),
    )


def _bar(place: int, value: int, top: int) -> Bar:
    height = TOP * value / top
    return Bar(x=float(place), y=TOP - height, height=height)
