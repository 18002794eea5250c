"""What a person may want to be told of as it happens, on the page and by webhook."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from agentcore.kinds import EventKind

# What a delivery is called that only asks whether it arrives.
TEST = "test"


class Occasion(StrEnum):
    NEAR_THRESHOLD = "near_threshold"
    COMPACTED = "compacted"
    BLOCKED = "blocked"
    THRASH = "thrash"
    BREAKER_OPEN = "breaker_open"
    APPROVAL_WANTED = "approval_wanted"
    RUN_ENDED = "run_ended"


def occasions_of(kind: EventKind, facts: Mapping[str, Any]) -> list[Occasion]:
    """Those that an event is, by its facts; most are none."""
    match kind:
        case EventKind.TURN_ENDED:
            found = {Occasion.NEAR_THRESHOLD: facts.get("near")}
        case EventKind.COMPACTION_ENDED:
            applied = facts.get("state") == "applied"
            found = {Occasion.COMPACTED: applied, Occasion.THRASH: facts.get("thrash")}
        case EventKind.COMPACTION_FAILED:
            found = {Occasion.BREAKER_OPEN: facts.get("breaker", {}).get("open")}
        case EventKind.BLOCKED:
            found = {Occasion.BLOCKED: True}
        case EventKind.APPROVAL_WANTED:
            found = {Occasion.APPROVAL_WANTED: True}
        case EventKind.RUN_ENDED:
            found = {Occasion.RUN_ENDED: True}
        case _:
            found = {}
    return [occasion for occasion, is_so in found.items() if is_so]
