"""What was previewed is what is done: the plan goes through its row and comes out the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from histories import legal_lists, user
from hypothesis import event, given
from hypothesis import strategies as st

from agentcore import PRESETS, Snapshot, diff
from agentcore.compaction.asked import STAGES, CompactionOptions, PreparedPlan
from agentcore.compaction.compact import pressure_of
from agentcore.compaction.pipeline import run_pipeline
from agentcore.compaction.result import CompactionResult, Trigger
from agentcore.compaction.summarizer import accept_written
from agentcore.context import Context
from agentcore.errors import StalePlan
from agentcore.pressure import Unit
from hermesweb import prepared

SMALL = PRESETS["nanohermes"].replace(budget=600, unit=Unit.BYTES)
NUMBERS = st.frozensets(st.integers(1, 30), max_size=3)


def previewed(
    snapshot: Snapshot, options: CompactionOptions, pins: frozenset[int]
) -> CompactionResult:
    """As the page works it out; a summary by a person is given where one is asked for."""
    run = run_pipeline(
        snapshot,
        options.applied_to(SMALL),
        pressure_of=pressure_of(SMALL),
        trigger=Trigger.MANUAL,
        pins=pins | options.held(snapshot),
    )
    try:
        request = next(run)
        while True:
            answer = accept_written(options.summary, request) if options.summary else None
            request = run.send(answer)
    except StopIteration as stop:
        result: CompactionResult = stop.value
        return result


def wires(messages: Sequence[Any]) -> list[str]:
    return [message.wire for message in messages]


@given(
    legal_lists(least=4),
    st.builds(
        CompactionOptions,
        preset=st.sampled_from(["", *PRESETS]),
        stage=st.sampled_from(["", *STAGES]),
        keep_last=st.none() | st.integers(0, 4),
        summary=st.sampled_from([None, "It is half done. 半分"]),
    ),
    NUMBERS,
    NUMBERS,
    st.lists(st.text(min_size=1, max_size=9), max_size=3),
)
def test_a_preview_and_its_result_are_the_same_plan(
    values: list[dict[str, Any]],
    options: CompactionOptions,
    pins: frozenset[int],
    late: frozenset[int],
    since: list[str],
) -> None:
    context = Context(Snapshot.of(values, facts=True))
    shown = previewed(context.snapshot(), options, pins)
    event("changes" if shown.changed else "changes nothing")
    kept = prepared.unpacked(prepared.packed(PreparedPlan.of(shown)))
    assert (kept.plan, kept.stages, kept.summaries) == (shown.plan, shown.stages, shown.summaries)
    if not shown.changed:
        return
    appended = [context.append(user(text)) for text in since]
    now = context.snapshot()
    there = {one.number for one in shown.old.messages}
    gone = there - {one.number for one in shown.new.messages}
    try:
        made = context.applied(kept.on(now, pins | late, Trigger.MANUAL))
    except StalePlan:
        event("a late pin forbids it")
        held = {one for row in now.indexes_of(late) for one in now.group_at(row)}
        assert gone & {now.messages[row].number for row in held}
        assert wires(context.messages) == wires([*shown.old.messages, *appended])
        return
    assert not gone & late
    assert wires(context.messages) == wires([*shown.new.messages, *appended])
    assert rows(made, pins)[: len(rows(shown, pins))] == rows(shown, pins)


def rows(result: CompactionResult, pins: frozenset[int]) -> list[tuple[Any, ...]]:
    """What the diff says of each row; what is born gets its number only then."""
    entries = diff.entries(result.old, result.new, [(result.plan, result.old)], pins=pins)
    return [
        (one.number if one.fate else 0, one.name, one.stage, one.bytes_before, one.bytes_after)
        for one in diff.rows(entries)
    ]
