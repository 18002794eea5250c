"""Three failed summaries in a row open the breaker: for a while none is asked for, then one may try
(spec-compaction 4, Auto in detail)."""

from __future__ import annotations

from dataclasses import dataclass

OPENS_AFTER = 3
OPEN_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Breaker:
    """Of one session and summary model. Times are seconds of whatever clock the caller reads."""

    failures: int = 0
    open_until: float = 0.0

    def allows(self, now: float) -> bool:
        """Closed, or half open: one trial is due."""
        return now >= self.open_until

    def seconds_left(self, now: float) -> float:
        return max(0.0, self.open_until - now)

    def failed(self, now: float) -> Breaker:
        """One more failure; a trial that fails opens it again."""
        failures = self.failures + 1
        return Breaker(failures, now + OPEN_SECONDS if failures >= OPENS_AFTER else 0.0)

    def succeeded(self) -> Breaker:
        return Breaker()
