"""How it is told what a run of the pipeline came to."""

from __future__ import annotations

from agentcore.compaction.breaker import Breaker
from agentcore.compaction.result import Trigger
from agentcore.events import CompactionEnded, CompactionFailed, Event


def outcome(ended: CompactionEnded, breaker: Breaker, *, was_told: bool) -> list[Event]:
    """Failures always; the end where the list changed or a summary was written, else without a
    failure where a person asked or the start was told."""
    result = ended.result
    told = ended.instruction if not result.changed else None
    events: list[Event] = [
        CompactionFailed(
            result.trigger,
            one.reason,
            one.detail,
            ended.turn,
            ended.pressure,
            told,
            breaker,
            usage=one.usage,
        )
        for one in result.failures
    ]
    asked = result.trigger is Trigger.MANUAL or was_told
    if result.changed or result.summaries or (asked and not events):
        events.append(ended)
    return events
