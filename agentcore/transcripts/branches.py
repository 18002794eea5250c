"""Recordings that are trees: the list goes on from any message that was ever in it."""

from __future__ import annotations

from agentcore.transcripts.base import ChangeKind
from agentcore.transcripts.tape import Draft, Tape


def branch(tape: Tape, parent: Draft | None) -> Draft | None:
    """Make the list end with `parent` (None: be empty) and what belongs to it, as the results of
    its calls. Returns the parent, or what stands in for it."""
    parent = parent.current if parent else None
    is_live = parent is None or parent.live
    after = _cut_behind(tape, parent) if is_live else _revived(tape, parent)
    if after is not None:
        tape.rewrite(ChangeKind.REWIND, after)
    return parent


def _cut_behind(tape: Tape, parent: Draft | None) -> list[Draft] | None:
    """The list without what stands behind `parent`, or None when all of that belongs to it."""
    live = tape.live
    start = len(live)
    while start and live[start - 1] is not parent:
        start -= 1
    dropped: set[Draft] = set()
    for draft in live[start:]:
        if draft.owner is None or not draft.owner.live or draft.owner in dropped:
            dropped.add(draft)
    if not dropped:
        return None
    return live[:start] + [draft for draft in live[start:] if draft not in dropped]


def _revived(tape: Tape, parent: Draft | None) -> list[Draft]:
    """The list of a branch that was left before."""
    tape.spend(len(tape.steps))
    kept = _ancestors(parent)
    after = []
    for draft in tape.steps:
        if not isinstance(draft, Draft) or draft.stands_in:
            continue
        if draft in kept or draft.owner in kept:
            kept.add(draft)
            after.append(draft)
    return after


def _ancestors(draft: Draft | None) -> set[Draft]:
    found: set[Draft] = set()
    while draft and draft not in found:
        found.add(draft)
        draft = draft.parent.current if draft.parent else None
    return found
