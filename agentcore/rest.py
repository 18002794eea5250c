"""When automatic compaction rests: what did nothing or little is not tried again at once
(spec-compaction 4, When)."""

from __future__ import annotations

from agentcore.compaction.result import CompactionResult, Trigger
from agentcore.compaction.strategy import why_due
from agentcore.pressure import Pressure
from agentcore.profile import Profile

# Of the limit: a run that frees less is a weak one.
WEAK_SHARE = 0.10
# Weak runs of the last stage after which automatic compaction stops as a whole.
WEAK_RUNS = 2


class Rest:
    """Of one session. Another profile, other pins, or the end of a hold begin anew."""

    def __init__(self) -> None:
        self._terms: tuple[Profile, frozenset[int], bool] | None = None
        self._until = 0
        self._resting = 0
        self._weak = 0

    def begin(self, profile: Profile, pins: frozenset[int], hold: bool) -> None:
        if (profile, pins, hold) != self._terms:
            self._terms = (profile, pins, hold)
            self._until = self._resting = self._weak = 0

    def trigger(self, pressure: Pressure, profile: Profile) -> Trigger | None:
        """Why compaction is due now. The first stages may rest; the next one wakes them."""
        if self.holds(pressure, profile):
            return None
        stage = profile.stages[self._resting]
        return why_due(pressure, stage, profile.threshold(stage))

    def holds(self, pressure: Pressure, profile: Profile) -> bool:
        """Whether nothing is tried now, whoever wants it."""
        return pressure.used < self._until or self._resting >= len(profile.stages)

    def until_grown(self, pressure: Pressure, profile: Profile) -> None:
        self._until = pressure.used + max(1, round(profile.min_gain * pressure.limit))

    def ran(
        self, result: CompactionResult, before: Pressure, after: Pressure, profile: Profile
    ) -> bool:
        """Take in what an automatic run came to; true when they stop as a whole."""
        self._resting = 0
        if not result.changed:
            self.until_grown(after, profile)
            return False
        if before.used - after.used >= WEAK_SHARE * before.limit:
            self._weak = 0
            return False
        names = [stage.strategy for stage in profile.stages]
        last = names.index(result.stages[-1].stage)
        if last + 1 < len(names):
            self._resting = last + 1
            return False
        self._weak += 1
        self.until_grown(after, profile)
        if self._weak < WEAK_RUNS:
            return False
        self._resting = len(names)
        return True
