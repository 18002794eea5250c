"""What is kept of a list while it grows is what a look at all of it finds."""

from __future__ import annotations

from collections import Counter

from histories import Value, legal_lists, omission
from hypothesis import given, settings
from hypothesis import strategies as st

from agentcore import Snapshot
from agentcore.compaction.notes import omission_of
from agentcore.compaction.plan import Birth, CompactionPlan, Fate, Origin, Removal, runs_of
from agentcore.context import Context
from agentcore.messages import Role
from agentcore.snapshot import Outline


@st.composite
def grown(draw: st.DrawFn) -> Snapshot:
    """A session's list: messages came, some left with a note, others came."""
    values: list[Value] = draw(legal_lists(least=3))
    context = Context()
    for value in values:
        context.append(value)
    before = context.snapshot()
    start, stop = sorted(draw(st.lists(st.integers(0, len(values)), min_size=2, max_size=2)))
    if start < stop:
        told = omission(before.messages[start:stop])
        birth = Birth(start, told, Origin.NOTE, "t", (range(start, stop),))
        cut = Removal(start, stop, Fate.DROPPED, "t")
        context.apply(CompactionPlan(before.state, (cut,), (birth,)))
    for value in draw(legal_lists()):
        context.append(value)
    return context.snapshot()


@st.composite
def runs(draw: st.DrawFn, snapshot: Snapshot) -> list[range]:
    edges = sorted(draw(st.sets(st.integers(0, len(snapshot.messages)), max_size=6)))
    return [range(*rows) for rows in zip(edges[::2], edges[1::2], strict=False)]


@settings(max_examples=200, deadline=None)
@given(grown(), st.data())
def test_an_outline_knows_what_the_rows_say(snapshot: Snapshot, data: st.DataObject) -> None:
    assert snapshot.known == Outline.of(snapshot.messages)
    some = data.draw(runs(snapshot))
    gone = [snapshot.messages[row] for rows in some for row in rows]
    tools = Counter(one.tool or "tool" for one in gone if one.role is Role.TOOL)
    unknown = Snapshot(snapshot.messages, snapshot.places, snapshot.sizes, snapshot.state)
    for one in (snapshot, unknown):
        assert one.tools_in(some) == tools
        assert one.numbers_in(some) == runs_of([message.number for message in gone])


@settings(max_examples=100, deadline=None)
@given(grown(), st.data())
def test_a_note_of_rows_says_and_knows_what_a_note_of_their_messages_does(
    snapshot: Snapshot, data: st.DataObject
) -> None:
    some = data.draw(runs(snapshot))
    gone = [snapshot.messages[row] for rows in some for row in rows]
    one, other = omission_of(snapshot, some), omission(gone)
    assert (one.wire, tuple(one.facts or ())) == (other.wire, tuple(other.facts or ()))
