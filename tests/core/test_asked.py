"""Compactions as people ask for them: options, boundaries, summaries of their own, shown plans."""

from __future__ import annotations

from dataclasses import replace

import pytest
from histories import exchange, legal_lists, user
from hypothesis import given
from hypothesis import strategies as st
from stage import DONE, Stage

from agentcore import PRESETS, Profile, Snapshot
from agentcore.compaction.asked import STAGES, CompactionOptions, PreparedPlan
from agentcore.compaction.compact import drive, pressure_of
from agentcore.compaction.pipeline import run_pipeline
from agentcore.compaction.result import CompactionResult, Failure, Trigger
from agentcore.compaction.summarizer import BY_PERSON, accept_written, summary_request
from agentcore.context import Context
from agentcore.directives import Instruction, InstructionKind
from agentcore.errors import ProfileError, StalePlan
from agentcore.events import CompactionEnded, CompactionFailed
from agentcore.llm.scripted import ScriptedModel
from agentcore.options import SummaryOptions
from agentcore.pressure import Unit

SMALL = PRESETS["nanohermes"].replace(budget=8_000, unit=Unit.BYTES)


def planned(
    snapshot: Snapshot, options: CompactionOptions, profile: Profile = SMALL
) -> CompactionResult:
    run = run_pipeline(
        snapshot,
        options.applied_to(profile),
        pressure_of=pressure_of(profile),
        trigger=Trigger.MANUAL,
        pins=options.held(snapshot),
    )
    return drive(run, None)


def asked(stage: Stage, **known: object) -> None:
    stage.queue.append(Instruction(9, InstructionKind.COMPACT, **known))  # type: ignore[arg-type]


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("preset", PRESETS)
def test_every_stage_can_be_asked_for_alone_under_every_profile(preset: str, stage: str) -> None:
    profile = CompactionOptions(stage=stage, keep_last=4).applied_to(PRESETS[preset])
    assert [(one.strategy, one.keep) for one in profile.stages] == [(stage, 4)]
    assert profile.budget == PRESETS[preset].budget


@pytest.mark.parametrize("other", PRESETS)
def test_a_preset_changes_the_stages_and_leaves_the_budget(other: str) -> None:
    profile = CompactionOptions(preset=other).applied_to(SMALL)
    assert profile.stages == PRESETS[other].stages
    assert (profile.budget, profile.unit, profile.limits) == (8_000, "bytes", SMALL.limits)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (CompactionOptions(preset="huge"), "preset"),
        (CompactionOptions(stage="huge"), "stage"),
        (CompactionOptions(keep_last=-1), "stages"),
    ],
)
def test_options_that_nothing_has_are_named(options: CompactionOptions, field: str) -> None:
    with pytest.raises(ProfileError) as error:
        options.applied_to(SMALL)
    assert error.value.field == field


def test_nothing_behind_the_boundary_leaves_and_no_tool_group_is_cut() -> None:
    snapshot = Snapshot.of(exchange(8))
    result = planned(snapshot, CompactionOptions(keep_last=0, up_to=7))
    gone = {
        snapshot.messages[row].number
        for cut in result.plan.removals
        for row in range(cut.start, cut.stop)
    }
    assert gone == {3, 4, 5, 6, 7, 8}
    with pytest.raises(StalePlan, match="message 99 is not in the list"):
        CompactionOptions(up_to=99).held(snapshot)


@given(
    legal_lists(least=3),
    st.sampled_from(["", *PRESETS]),
    st.sampled_from(["", *STAGES]),
    st.none() | st.integers(0, 5),
    st.lists(st.text(min_size=1, max_size=9), max_size=3),
)
def test_what_was_shown_is_what_comes_out_and_what_came_since_follows(
    values: list[dict[str, object]], preset: str, stage: str, keep: int | None, since: list[str]
) -> None:
    context = Context(Snapshot.of(values))
    shown = planned(context.snapshot(), CompactionOptions(preset, stage, keep))
    if not shown.changed:
        return
    before = len(context.messages)
    for text in since:
        context.append(user(text))
    made = PreparedPlan.of(shown).on(context.snapshot(), frozenset(), Trigger.MANUAL)
    kept = len(shown.new.messages)
    wires = [message.wire for message in made.new.messages]
    assert wires[:kept] == [message.wire for message in shown.new.messages]
    assert wires[kept:] == [message.wire for message in context.messages[before:]]
    assert (made.plan, made.stages) == (shown.plan, shown.stages)


def test_a_shown_plan_is_stale_after_a_revision_or_when_it_would_take_a_new_pin() -> None:
    snapshot = Snapshot.of(exchange(8))
    shown = PreparedPlan.of(planned(snapshot, CompactionOptions()))
    with pytest.raises(StalePlan, match="no longer holds"):
        shown.on(snapshot, frozenset({4}), Trigger.MANUAL)
    context = Context(snapshot)
    context.apply(shown.plan)
    with pytest.raises(StalePlan, match="look at it again"):
        shown.on(context.snapshot(), frozenset(), Trigger.MANUAL)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("", Failure.EMPTY), (" \n", Failure.EMPTY), ("word " * 50_000, Failure.TOO_LONG)],
)
@pytest.mark.parametrize("structured", [False, True])
def test_a_summary_by_hand_needs_text_and_keeps_to_the_bounds(
    text: str, reason: Failure, structured: bool
) -> None:
    gone = Snapshot.of(exchange(2)).messages
    request = summary_request(gone, SummaryOptions(), 32_000, structured=structured)
    refused = accept_written(text, request)
    assert getattr(refused, "reason", None) is reason
    taken = accept_written(" The parser is half fixed. ", request)
    assert (getattr(taken, "text", ""), getattr(taken, "model", "")) == (
        "The parser is half fixed.",
        BY_PERSON,
    )


async def test_the_agent_applies_the_shown_plan_and_asks_no_model() -> None:
    context = Context(Snapshot.of(exchange(8)))
    shown = planned(context.snapshot(), CompactionOptions(summary="x"))
    summarizer = ScriptedModel([])
    stage = Stage([DONE], SMALL, context, summarizer=summarizer)
    asked(stage, prepared=PreparedPlan.of(shown))
    await stage.run()
    (ended,) = stage.events(CompactionEnded)
    assert ended.result.plan == shown.plan
    assert ended.instruction == 9
    assert summarizer.requests == []


async def test_a_stale_plan_is_told_and_changes_nothing() -> None:
    context = Context(Snapshot.of(exchange(8)))
    shown = PreparedPlan.of(planned(context.snapshot(), CompactionOptions()))
    base = replace(shown.plan.base, revision=5)
    stage = Stage([DONE], SMALL.replace(automatic="off"), context)
    before = [message.wire for message in context.messages]
    asked(stage, prepared=replace(shown, plan=replace(shown.plan, base=base)))
    await stage.run()
    (failed,) = stage.events(CompactionFailed)
    assert failed.failure is Failure.STALE
    assert [message.wire for message in context.messages][: len(before)] == before


async def test_a_summary_by_hand_is_taken_and_the_focus_reaches_the_model() -> None:
    context = Context(Snapshot.of(exchange(8)))
    stage = Stage([DONE], SMALL, context, summarizer=ScriptedModel([]))
    asked(stage, options=CompactionOptions(summary="The parser is half fixed."))
    await stage.run()
    (ended,) = stage.events(CompactionEnded)
    assert "The parser is half fixed." in ended.result.new.messages[1].text

    seen: list[str] = []

    def summarize(messages: object) -> dict[str, str]:
        seen.append(messages[0].text)  # type: ignore[index]
        return {"role": "assistant", "content": "short"}

    context = Context(Snapshot.of(exchange(8)))
    stage = Stage([DONE], SMALL, context, summarizer=ScriptedModel([summarize]))
    asked(stage, options=CompactionOptions(focus="the port numbers"))
    await stage.run()
    assert "the user asks for here: the port numbers" in seen[0]
