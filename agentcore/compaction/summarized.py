"""The plan that puts one note, or a summary, in place of the older part of a list."""

from __future__ import annotations

from itertools import chain

from agentcore.compaction.notes import omission_note
from agentcore.compaction.plan import Birth, CompactionPlan, Fate, Origin, Removal, note_row
from agentcore.compaction.strategy import Situation, gaps, kept_rows, nothing


def summarized(situation: Situation, stop: int, name: str) -> CompactionPlan:
    """What leaves between the leading messages and row `stop`; its note stands after the former.
    Empty where nothing but standing summaries and notes could leave."""
    snapshot = situation.snapshot
    leading = snapshot.leading
    kept = kept_rows(situation)
    leaving = gaps(leading, stop, kept)
    gone = tuple(chain.from_iterable(snapshot.messages[one.start : one.stop] for one in leaving))
    if all(message.is_summary for message in gone):
        return nothing(situation)
    return CompactionPlan(
        snapshot.state,
        tuple(Removal(one.start, one.stop, Fate.SUMMARIZED, name) for one in leaving),
        (Birth(note_row(snapshot, kept), omission_note(gone), Origin.NOTE, name, tuple(leaving)),),
        gone,
    )
