"""A list on its way through the stages: each works on what the one before left, and all of it
comes out as one plan on the list that they began with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

from agentcore.compaction.plan import (
    Birth,
    CompactionPlan,
    Fate,
    Removal,
    Revision,
    apply_plan,
    runs_of,
    splice,
)
from agentcore.snapshot import Snapshot

# Where a row comes from: a row of the first list, or a birth whose rows are those of that list.
Source: TypeAlias = int | Birth
Fates: TypeAlias = Mapping[int, tuple[Fate, str]]


class Draft:
    """Never changes; `advance` makes the next one, so that a stage can be rolled back."""

    def __init__(
        self,
        base: Snapshot,
        snapshot: Snapshot | None = None,
        sources: list[Source] | None = None,
        fates: Fates | None = None,
        only: tuple[CompactionPlan, Revision] | None = None,
    ) -> None:
        self._base = base
        self.snapshot = snapshot or base
        self._sources: list[Source] = sources or list(range(len(base.messages)))
        self._fates: Fates = fates or {}
        self._only = only

    def advance(self, plan: CompactionPlan) -> Draft:
        """The list after a plan that was made on `snapshot`. The last fate of a row holds."""
        after, revision = apply_plan(plan, self.snapshot)
        is_first = self.snapshot is self._base
        births: list[Source] = [
            birth if is_first else self._on_base(birth) for birth in plan.births
        ]
        fates = dict(self._fates)
        for cut in plan.removals:
            told = cut.fate, cut.stage
            for row in self._rows(range(cut.start, cut.stop)):
                fates[row] = told
        only = (plan, revision) if is_first else None
        return Draft(self._base, after, splice(plan, self._sources, births), fates, only)

    def outcome(self) -> tuple[CompactionPlan, Snapshot, Revision]:
        """Everything so far as one plan on the first list, and what that leads to."""
        if self._only is not None:
            plan, revision = self._only
            return replace(plan, summarizes=(), structured=False), self.snapshot, revision
        births = tuple(source for source in self._sources if isinstance(source, Birth))
        plan = CompactionPlan(self._base.state, self._removals(), births)
        return plan, *apply_plan(plan, self._base)

    def _on_base(self, birth: Birth) -> Birth:
        """The birth with its rows said as those of the first list."""
        at = len(self._base.messages)
        if birth.at < len(self._sources):
            source = self._sources[birth.at]
            at = source.at if isinstance(source, Birth) else source
        covers = runs_of(self._rows(row for run in birth.covers for row in run))
        return replace(birth, at=at, covers=covers)

    def _rows(self, rows: Iterable[int]) -> list[int]:
        """Rows of the first list that these rows are or stand for."""
        found: list[int] = []
        for row in rows:
            source = self._sources[row]
            if isinstance(source, int):
                found.append(source)
            elif source.origin is None:
                found.append(source.at)
            else:
                found += [one for run in source.covers for one in run]
        return found

    def _removals(self) -> tuple[Removal, ...]:
        rows = sorted(self._fates)
        edges = [0, *(i for i in range(1, len(rows)) if self._breaks(rows, i)), len(rows)]
        return tuple(
            Removal(rows[start], rows[stop - 1] + 1, *self._fates[rows[start]])
            for start, stop in pairwise(edges)
            if start < stop
        )

    def _breaks(self, rows: list[int], place: int) -> bool:
        row, last = rows[place], rows[place - 1]
        return row != last + 1 or self._fates[row] != self._fates[last]
