"""What is checked by the change comes to what a look at both whole lists comes to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from histories import Value, legal_lists
from hypothesis import given, settings
from hypothesis import strategies as st

from agentcore import Snapshot
from agentcore.breakdown import total
from agentcore.compaction.notes import note
from agentcore.compaction.placeholders import masked
from agentcore.compaction.plan import (
    Birth,
    CompactionPlan,
    Fate,
    Origin,
    Removal,
    Replaced,
    apply_plan,
)
from agentcore.invariants import Rule, check, legal
from agentcore.snapshot import fresh_rows, instruction_rows

GOING = [Fate.SUMMARIZED, Fate.DROPPED, Fate.REPAIRED]


@st.composite
def plans(draw: st.DrawFn, snapshot: Snapshot) -> CompactionPlan:
    """Rows replaced, whether they may be or not; or runs that leave, with a note or without."""
    count = len(snapshot.messages)
    rows = sorted(draw(st.sets(st.integers(0, count - 1), max_size=6)))
    if draw(st.booleans()):
        fates = {row: draw(st.sampled_from([Fate.MASKED, Fate.CUT])) for row in rows}
        replaced = tuple(
            Replaced(
                fate,
                "mask",
                {row: masked(snapshot.messages[row]) for row in rows if fates[row] is fate},
            )
            for fate in sorted(set(fates.values()))
        )
        return CompactionPlan(snapshot.state, (), (), replaced=replaced)
    edges = zip(rows[::2], rows[1::2], strict=False)
    removals = [Removal(*cut, draw(st.sampled_from(GOING)), "sum") for cut in edges]
    births = [
        Birth(cut.start, note("so"), Origin.NOTE, "sum", (range(cut.start, draw(told_to(cut))),))
        for cut in removals
        if draw(st.booleans())
    ]
    return CompactionPlan(snapshot.state, tuple(removals), tuple(births))


def told_to(cut: Removal) -> st.SearchStrategy[int]:
    """The row up to which a note says so."""
    return st.sampled_from([cut.stop, cut.stop, cut.start + 1])


def broken(
    plan: CompactionPlan, before: Snapshot, after: Snapshot, pins: frozenset[int]
) -> Iterator[Rule]:
    """By the letter of spec-compaction 1, each rule on the whole of both lists."""
    plan = plan.spelled_out()
    old, new = list(before.messages), list(after.messages)
    alive = {one.number: one.wire for one in new}
    gone = {row: cut.fate for cut in plan.removals for row in range(cut.start, cut.stop)}
    told = {birth.at for birth in plan.births if birth.origin is None}
    told |= {row for birth in plan.births for run in birth.covers for row in run}
    if legal(new):
        yield Rule.LEGAL
    leading = old[: before.leading]
    if [one.wire for one in new[: before.leading]] != [one.wire for one in leading]:
        yield Rule.SYSTEM
    if any(alive.get(one.number) != one.wire for one in old if one.number in pins):
        yield Rule.PINS
    if any(row not in told for row, fate in gone.items() if fate is not Fate.REPAIRED):
        yield Rule.TRACE
    kept = [one for one in new if one in old]
    if kept != [one for row, one in enumerate(old) if row not in gone]:
        yield Rule.ARCHIVE
    order = [(place, one.number) for place, one in zip(after.places, new, strict=True)]
    if order != sorted(set(order)):
        yield Rule.ARCHIVE
    recount = total(one.sizes for one in new)
    if recount.bytes != after.sizes.bytes or after.sizes.bytes != sum(
        len(one.wire.encode()) for one in new
    ):
        yield Rule.SIZES
    if after.sizes.bytes >= before.sizes.bytes:
        yield Rule.SHRINK
    if any(gone.get(row, Fate.CUT) is not Fate.CUT for row in fresh_rows(old)):
        yield Rule.FRESH
    if any(old[row].number not in alive for row in instruction_rows(old)):
        yield Rule.PROMPT


@settings(max_examples=300, deadline=None)
@given(legal_lists(least=2), st.data())
def test_a_plan_breaks_the_rules_that_the_whole_lists_break(
    values: list[Value], data: st.DataObject
) -> None:
    before = Snapshot.of(values)
    plan = data.draw(plans(before))
    pins = frozenset(data.draw(st.sets(st.integers(1, len(values)), max_size=3)))
    after, _ = apply_plan(plan, before)
    found = {one.rule for one in check(plan, before, after, pins)}
    assert found == set(broken(plan, before, after, pins))
    assert found == {one.rule for one in check(plan, before, after, pins, was_legal=True)}


@settings(max_examples=200, deadline=None)
@given(legal_lists(least=3), st.data())
def test_a_list_that_is_not_what_the_plan_says_is_found(
    values: list[Value], data: st.DataObject
) -> None:
    before = Snapshot.of(values)
    plan = data.draw(plans(before))
    after, _ = apply_plan(plan, before)
    messages = list(after.messages)
    kept = [row for row, one in enumerate(messages) if one in before.messages]
    if len(kept) < 2:
        return
    row = data.draw(st.sampled_from(kept[:-1]))
    how = data.draw(st.sampled_from(["lost", "twice", "moved", "altered"]))
    if how == "lost":
        del messages[row]
    elif how == "twice":
        messages.insert(row, messages[row])
    elif how == "moved":
        messages[row], messages[kept[-1]] = messages[kept[-1]], messages[row]
    else:
        messages[row] = replace(messages[row], wire=messages[row].wire + " ")
    places = (*after.places, after.places[-1] + 1)[: len(messages)]
    wrong = Snapshot(tuple(messages), places, after.sizes, after.state)
    found = {one.rule for one in check(plan, before, wrong, frozenset())}
    assert Rule.ARCHIVE in found
    assert how == "moved" or Rule.SIZES in found
