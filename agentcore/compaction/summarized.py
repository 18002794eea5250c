"""The plan that puts one note, or a summary, in place of the older part of a list."""

from __future__ import annotations

from agentcore.compaction.notes import omission_of, rows_of
from agentcore.compaction.places import note_row
from agentcore.compaction.plan import Birth, CompactionPlan, Fate, Origin, Removal
from agentcore.compaction.strategy import Situation, gaps, kept_rows, nothing


def summarized(situation: Situation, stop: int, name: str) -> CompactionPlan:
    """What leaves between the leading messages and row `stop`; its note stands after the former.
    Empty where nothing but standing summaries and notes could leave."""
    snapshot = situation.snapshot
    leading = snapshot.leading
    kept = kept_rows(situation)
    leaving = gaps(leading, stop, kept)
    messages = snapshot.messages
    if all(messages[row].is_summary for rows in leaving for row in rows):
        return nothing(situation)
    told = omission_of(snapshot, leaving)
    return CompactionPlan(
        snapshot.state,
        tuple(Removal(one.start, one.stop, Fate.SUMMARIZED, name) for one in leaving),
        (Birth(note_row(snapshot, kept), told, Origin.NOTE, name, tuple(leaving)),),
        rows_of(messages, leaving),
    )
