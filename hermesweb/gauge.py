"""Geometry of the gauge: what fills the window, in percent of its width."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agentcore.pressure import Unit, WindowSource
from agentcore.profile import Profile
from hermesweb.categories import GROUP_NAMES, GROUPS, LETTERS
from hermesweb.labels import words
from hermesweb.models import ProfileVersion
from hermesweb.models.sessions import Gauge as Measured

# Without a limit there is no scale: the filled part takes this share, the rest is hatched.
UNKNOWN_FILL = 46.0
# A segment narrower than this has no room for its letter, or for it on a narrow page.
LETTER_WIDTH = 2.5
LETTER_WIDTH_NARROW = 10.0
# The part that no compaction frees stands first, then what is pinned, then the rest.
RIGID = ("system_prompt", "project_docs", "project_context", "skills", "tool_schemas", "memory")


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of the bar; `x` and `width` in percent, `share` of the whole request."""

    category: str
    x: float
    width: float
    bytes: int
    share: float
    pinned: bool = False

    @property
    def letter(self) -> str:
        return LETTERS[self.category]

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def lettered(self) -> bool:
        return not self.pinned and self.width >= LETTER_WIDTH

    @property
    def wide(self) -> bool:
        return self.width >= LETTER_WIDTH_NARROW


@dataclass(frozen=True, slots=True)
class Tick:
    """A threshold: `name` of its stage, `fraction` of the limit, `value` in the limit's unit."""

    name: str
    fraction: float
    value: int
    x: float
    next: bool = False

    @property
    def anchor(self) -> str:
        return "end" if self.x > 50 else "start"


@dataclass(frozen=True, slots=True)
class Gauge:
    """The next request against its limit; every position is percent of the bar.

    `limit` None: nothing was measured yet, there is no percentage and the rest is hatched.
    `doubt` says why a percentage is not certain: the window is assumed or contradicted.
    `reserve` are the last tokens of a limit that is the window, kept for the reply. `unseen`, of
    what is used, is not in a recording: it stands first, since nothing of it can be freed.
    """

    segments: tuple[Segment, ...]
    ticks: tuple[Tick, ...]
    used: int
    limit: int | None
    unit: str
    source: str
    doubt: str
    reserve: int
    floor: int | None
    now: float
    unseen: int = 0

    @property
    def unseen_share(self) -> float:
        return self.unseen / self.used if self.used else 0.0

    @property
    def unseen_to(self) -> float:
        """Where it ends."""
        return self.now * self.unseen_share

    @property
    def pressure(self) -> float | None:
        return self.used / self.limit if self.limit else None

    @property
    def over(self) -> bool:
        return self.limit is not None and self.used > self.limit

    @property
    def free(self) -> int:
        return max((self.limit or 0) - self.used, 0)

    @property
    def floor_x(self) -> float | None:
        return self.now * min(self.floor / self.used, 1.0) if self.floor and self.used else None

    @property
    def anchor(self) -> str:
        return "end" if self.now > 50 else "start"

    @property
    def reserve_width(self) -> float:
        return min(100.0 * self.reserve / self.limit, 100.0) if self.limit else 0.0

    @property
    def reserve_x(self) -> float:
        return 100.0 - self.reserve_width

    @property
    def unknown_width(self) -> float:
        return 100.0 - self.now

    @property
    def next_tick(self) -> Tick | None:
        return next((tick for tick in self.ticks if tick.next), None)


@dataclass(frozen=True, slots=True)
class Key:
    """What has to be explained beside gauges of groups; `groups` with their names."""

    groups: list[tuple[str, str]]
    threshold: bool
    reserve: bool
    unseen: bool
    unknown: bool


def key_of(gauges: Sequence[Gauge]) -> Key:
    return Key(
        groups=[(name, str(told)) for name, told in GROUP_NAMES.items()],
        threshold=any(one.next_tick for one in gauges),
        reserve=any(one.reserve for one in gauges),
        unseen=any(one.unseen for one in gauges),
        unknown=any(one.limit is None for one in gauges),
    )


def gauge(
    breakdown: Mapping[str, int],
    used: int,
    *,
    limit: int | None,
    unit: str,
    source: str = "measured",
    doubt: str = "",
    reserve: int = 0,
    thresholds: Iterable[tuple[str, float]] = (),
    pinned: Mapping[str, int] | None = None,
    floor: int | None = None,
    unseen: int = 0,
) -> Gauge:
    """`breakdown`, `pinned` in bytes a category, all else in `unit`."""
    fill = UNKNOWN_FILL if used else 0.0
    now = min(100.0 * used / limit, 100.0) if limit else fill
    return Gauge(
        segments=_segments(breakdown, pinned or {}, now, unseen / used if used else 0.0),
        ticks=_ticks(thresholds, used, limit) if limit else (),
        used=used,
        limit=limit,
        unit=unit,
        source=source,
        doubt=doubt,
        reserve=reserve,
        floor=floor,
        now=now,
        unseen=unseen,
    )


def gauge_of(
    row: Measured,
    version: ProfileVersion,
    *,
    pinned: Mapping[str, int] | None = None,
    floor: int | None = None,
    breakdown: Mapping[str, int] | None = None,
) -> Gauge:
    """The gauge of a session or a turn under its profile; `breakdown` replaces the row's own."""
    in_tokens = row.unit == Unit.TOKENS
    is_window = in_tokens and row.limit == row.window_tokens
    doubtful = row.window_from in (WindowSource.ASSUMED, WindowSource.CONTRADICTED)
    return gauge(
        row.breakdown if breakdown is None else breakdown,
        row.used,
        limit=row.limit or None,
        unit=row.unit,
        source=f"{row.tokens_are} {row.counter}".strip() if in_tokens else "measured",
        doubt=row.window_from if is_window and doubtful else "",
        reserve=row.reserve if is_window else 0,
        thresholds=_thresholds(version.readable),
        pinned=pinned,
        floor=floor,
        unseen=row.unseen if in_tokens else 0,
    )


def _thresholds(profile: Profile | None) -> list[tuple[str, float]]:
    if profile is None:
        return []
    return [(words(stage.strategy), profile.threshold(stage)) for stage in profile.stages]


def grouped(breakdown: Mapping[str, int]) -> dict[str, int]:
    """The five groups of the wall, each under the category whose colour it takes."""
    return {
        name: sum(breakdown.get(category, 0) for category in categories)
        for name, categories in GROUPS.items()
    }


def shares(segments: Iterable[Segment]) -> list[tuple[str, int, float]]:
    """(category, bytes, share), largest first, pinned parts counted with their category."""
    totals: dict[str, tuple[int, float]] = {}
    for part in segments:
        size, share = totals.get(part.category, (0, 0.0))
        totals[part.category] = (size + part.bytes, share + part.share)
    rows = [(category, size, share) for category, (size, share) in totals.items()]
    return sorted(rows, key=lambda row: -row[1])


def _segments(
    breakdown: Mapping[str, int], pinned: Mapping[str, int], filled: float, unseen: float
) -> tuple[Segment, ...]:
    """Beside one another from where what is unseen ends; `unseen` is its share of all."""
    parts = [
        (category, size, held)
        for category in LETTERS
        for size, held in _split(breakdown.get(category, 0), pinned.get(category, 0))
    ]
    parts.sort(key=lambda part: 0 if part[0] in RIGID else 1 if part[2] else 2)
    total = sum(size for _, size, _ in parts)
    first, rest = filled * unseen, filled * (1.0 - unseen)
    edges = [0]
    for _, size, _ in parts:
        edges.append(edges[-1] + size)
    return tuple(
        Segment(
            category=category,
            x=first + rest * start / total,
            width=rest * (end - start) / total,
            bytes=size,
            share=(1.0 - unseen) * size / total,
            pinned=held,
        )
        for (category, size, held), (start, end) in zip(parts, pairwise(edges), strict=True)
    )


def _split(size: int, pinned: int) -> list[tuple[int, bool]]:
    held = min(pinned, size)
    return [(part, is_held) for part, is_held in ((held, True), (size - held, False)) if part]


def _ticks(thresholds: Iterable[tuple[str, float]], used: int, limit: int) -> tuple[Tick, ...]:
    rows = sorted(thresholds, key=lambda row: row[1])
    following = next((name for name, part in rows if used < part * limit), None)
    return tuple(
        Tick(
            name=name,
            fraction=part,
            value=round(part * limit),
            x=min(100.0 * part, 100.0),
            next=name == following,
        )
        for name, part in rows
    )
