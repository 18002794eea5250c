"""What a strategy is, what it may know, and which rows it leaves alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from agentcore.compaction.plan import CompactionPlan
from agentcore.compaction.result import Trigger
from agentcore.options import Stage
from agentcore.pressure import Pressure
from agentcore.profile import BUFFER_SHARE
from agentcore.snapshot import Snapshot, fresh_rows, instruction_rows


@dataclass(frozen=True, slots=True)
class Situation:
    """`threshold`: the pressure at which the stage is due; `need`: bytes to free until the target
    is reached; `pins`, `checkpoints`: message numbers; `forced`: asked for by a person, or the
    window would burst; `now`: the time to tell, None where it is not known."""

    snapshot: Snapshot
    pressure: Pressure
    stage: Stage
    threshold: float
    need: int
    pins: frozenset[int] = frozenset()
    checkpoints: frozenset[int] = frozenset()
    forced: bool = False
    now: datetime | None = None


class CompactionStrategy(Protocol):
    """Pure and sync. `priority` orders strategies of one preset, low first. The pipeline measures
    again after each; a plan that is empty changes nothing."""

    priority: int

    def should_trigger(self, situation: Situation) -> bool: ...

    def compact(self, situation: Situation) -> CompactionPlan: ...


def is_reached(situation: Situation) -> bool:
    """Whether pressure is at the threshold of the stage, or the window's rest in its buffer."""
    return why_due(situation.pressure, situation.stage, situation.threshold) is not None


def why_due(pressure: Pressure, stage: Stage, threshold: float) -> Trigger | None:
    """The threshold of a stage, or the buffer of a hybrid one; None while it is not due."""
    if pressure.fraction > threshold if stage.above else pressure.fraction >= threshold:
        return Trigger.THRESHOLD
    window = pressure.window.tokens
    buffer = min(stage.buffer, int(window * BUFFER_SHARE))
    return Trigger.HYBRID if stage.buffer and window - pressure.tokens <= buffer else None


def kept_rows(situation: Situation) -> set[int]:
    """Rows that never leave the list: pins with their groups, fresh results, the instructions."""
    snapshot = situation.snapshot
    rows = set(instruction_rows(snapshot.messages)) | set(fresh_rows(snapshot.messages))
    for row in snapshot.indexes_of(situation.pins):
        rows.update(snapshot.group_at(row))
    return rows


def gaps(first: int, stop: int, kept: set[int]) -> list[range]:
    """The runs of rows from `first` to `stop` that hold no kept row."""
    edges = sorted(row for row in kept if first <= row < stop)
    starts = [first, *(row + 1 for row in edges)]
    return [range(*run) for run in zip(starts, [*edges, stop], strict=True) if run[0] < run[1]]


def nothing(situation: Situation) -> CompactionPlan:
    return CompactionPlan(situation.snapshot.state, (), ())
