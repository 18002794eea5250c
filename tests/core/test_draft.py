"""Several plans, one made on what the other led to, come out as one on the first list."""

from __future__ import annotations

from histories import Value, legal_lists, omission
from hypothesis import given, settings
from hypothesis import strategies as st

from agentcore import Snapshot
from agentcore.compaction.draft import Draft
from agentcore.compaction.notes import note
from agentcore.compaction.placeholders import masked
from agentcore.compaction.places import note_row
from agentcore.compaction.plan import (
    Birth,
    CompactionPlan,
    Fate,
    Origin,
    Removal,
    in_place,
)
from agentcore.invariants import archive, sizes, trace
from agentcore.messages import Role


@st.composite
def plans(draw: st.DrawFn, snapshot: Snapshot) -> CompactionPlan:
    """Runs of rows behind the leading ones: results masked, talk folded, or the front summed up."""
    count, leading = len(snapshot.messages), snapshot.leading
    edges = sorted(draw(st.sets(st.integers(leading, count), max_size=4)))
    removals: list[Removal] = []
    births: list[Birth] = []
    for start, stop in zip(edges[::2], edges[1::2], strict=False):
        rows = range(start, stop)
        if any(snapshot.messages[row].is_summary for row in rows):
            continue
        if draw(st.booleans()):
            tools = [row for row in rows if snapshot.messages[row].role is Role.TOOL]
            removals += [Removal(row, row + 1, Fate.MASKED, "mask") for row in tools]
            births += [in_place(row, masked(snapshot.messages[row]), "mask") for row in tools]
        else:
            removals.append(Removal(start, stop, Fate.FOLDED, "fold"))
            births.append(Birth(start, note("[Collapsed: some]"), Origin.NOTE, "fold", (rows,)))
    if not removals and edges:
        rows = range(leading, edges[-1])
        removals = [Removal(leading, edges[-1], Fate.SUMMARIZED, "sum")] if rows else []
        told = omission(snapshot.messages[rows.start : rows.stop])
        at = note_row(snapshot, range(rows.stop, count))
        births = [Birth(at, told, Origin.NOTE, "sum", (rows,))] if rows else []
    return CompactionPlan(snapshot.state, tuple(removals), tuple(births))


@settings(max_examples=200, deadline=None)
@given(legal_lists(least=3), st.data())
def test_one_plan_leads_to_the_list_that_all_of_them_led_to(
    values: list[Value], data: st.DataObject
) -> None:
    base = Snapshot.of(values)
    draft = Draft(base)
    for _ in range(data.draw(st.integers(1, 4))):
        draft = draft.advance(data.draw(plans(draft.snapshot)))
    plan, after, revision = draft.outcome()
    assert [one.wire for one in after.messages] == [one.wire for one in draft.snapshot.messages]
    assert after.sizes == draft.snapshot.sizes
    assert archive(plan, base, after) == sizes(after) == trace(plan) == []
    gone = {one.number for one in base.messages} - {one.number for one in after.messages}
    assert gone == set(revision.ended)


@settings(max_examples=100, deadline=None)
@given(legal_lists(least=3), st.data())
def test_a_step_leaves_the_draft_before_it_as_it_was(
    values: list[Value], data: st.DataObject
) -> None:
    first = Draft(Snapshot.of(values)).advance(data.draw(plans(Snapshot.of(values))))
    before = first.outcome()
    first.advance(data.draw(plans(first.snapshot)))
    assert first.outcome() == before
