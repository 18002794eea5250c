"""Run the stages of a profile on a list. A generator, so that the caller owns the waiting:
it yields a SummaryRequest and is sent the text, why there is none, or None for no summarizer."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from typing import TypeAlias

from agentcore.compaction.keep_recent import KeepRecent
from agentcore.compaction.notes import summary_note
from agentcore.compaction.plan import (
    CompactionPlan,
    CompactionStrategy,
    Fate,
    Origin,
    Situation,
    apply_plan,
)
from agentcore.compaction.result import (
    CompactionResult,
    Failure,
    StageReport,
    SummaryFailed,
    Trigger,
)
from agentcore.compaction.summarizer import SummaryRequest, summary_request
from agentcore.errors import ProfileError
from agentcore.invariants import check
from agentcore.pressure import Pressure
from agentcore.profile import Profile, Stage, SummaryFailure
from agentcore.snapshot import Snapshot

STRATEGIES: Mapping[str, CompactionStrategy] = {"keep_recent": KeepRecent()}

PressureOf: TypeAlias = Callable[[Snapshot], Pressure]
Answer: TypeAlias = str | SummaryFailed | None
Pipeline: TypeAlias = Generator[SummaryRequest, Answer, CompactionResult]


def run_pipeline(
    snapshot: Snapshot,
    profile: Profile,
    *,
    pressure_of: PressureOf,
    trigger: Trigger,
    pins: frozenset[int] = frozenset(),
) -> Pipeline:
    """The first stage that is due and changes the list decides; a run by hand, or because the
    window would burst, takes every stage as due."""
    failures: tuple[SummaryFailed, ...] = ()
    left_out = 0
    reason = Failure.NOTHING_TO_COMPACT
    forced = trigger in (Trigger.MANUAL, Trigger.OVERFLOW)
    for stage in profile.stages:
        situation = _situation(snapshot, profile, stage, pressure_of(snapshot), pins, forced)
        strategy = strategy_of(stage)
        if not forced and not strategy.should_trigger(situation):
            continue
        plan = strategy.compact(situation)
        if plan.summarizes:
            request = summary_request(
                plan.summarizes, profile.summary, situation.pressure.window.tokens
            )
            left_out = request.left_out
            answer = _judged((yield request), plan)
            if isinstance(answer, SummaryFailed):
                failures += (answer,)
                if profile.summary.on_failure is SummaryFailure.KEEP:
                    reason = answer.reason
                    continue
            plan = _with_summary(plan, answer) if isinstance(answer, str) else _dropping(plan)
        result = _result(plan, snapshot, stage, trigger, failures)
        refusal = _refusal(result, situation, profile.min_gain)
        if refusal is None:
            return replace(result, left_out=left_out)
        reason = refusal
    empty = CompactionPlan(snapshot.state, (), ())
    return CompactionResult(snapshot, snapshot, trigger, empty, reason=reason, failures=failures)


def strategy_of(stage: Stage) -> CompactionStrategy:
    """Raises ProfileError for a name that no strategy has."""
    if stage.strategy not in STRATEGIES:
        known = ", ".join(STRATEGIES)
        raise ProfileError(f"unknown strategy {stage.strategy!r}; there are {known}", "stages")
    return STRATEGIES[stage.strategy]


def _situation(
    snapshot: Snapshot,
    profile: Profile,
    stage: Stage,
    pressure: Pressure,
    pins: frozenset[int],
    forced: bool,
) -> Situation:
    """The target, said in bytes of this list: what pressure counts beside it is taken off."""
    counted = max(pressure.used, 1)
    room = round(snapshot.sizes.bytes * min(1.0, profile.target * pressure.limit / counted))
    return Situation(snapshot, pressure, stage, room, pins, forced)


def _judged(answer: Answer, plan: CompactionPlan) -> Answer:
    """A summary that is not smaller than what it stands for has failed."""
    if not isinstance(answer, str):
        return answer
    source = sum(message.sizes.bytes for message in plan.summarizes)
    size = summary_note(answer, ()).sizes.bytes
    if size < source:
        return answer
    return SummaryFailed(
        Failure.DID_NOT_SHRINK, f"a summary of {size:,} bytes for messages of {source:,}"
    )


def _with_summary(plan: CompactionPlan, summary: str) -> CompactionPlan:
    """The plan with a summary where it had the bare note."""
    births = (
        replace(
            birth,
            message=summary_note(summary, birth.message.stands_for),
            origin=Origin.SUMMARY,
        )
        if birth.origin is Origin.NOTE
        else birth
        for birth in plan.births
    )
    return replace(plan, births=tuple(births))


def _dropping(plan: CompactionPlan) -> CompactionPlan:
    """The plan without a summary: the note that stands there holds nothing of what leaves."""
    removals = tuple(
        replace(cut, fate=Fate.DROPPED) if cut.fate is Fate.SUMMARIZED else cut
        for cut in plan.removals
    )
    return replace(plan, removals=removals)


def _refusal(result: CompactionResult, situation: Situation, min_gain: float) -> Failure | None:
    """Why a plan is not taken; one that breaks a rule is rolled back."""
    if result.plan.is_empty:
        return Failure.NOTHING_TO_COMPACT
    if result.freed <= 0:
        return Failure.DID_NOT_SHRINK
    if not situation.forced and result.freed < min_gain * result.before.sizes.bytes:
        return Failure.NOTHING_TO_COMPACT
    broken = check(result.plan, result.before, result.after, situation.pins)
    return Failure.INVARIANT if broken else None


def _result(
    plan: CompactionPlan,
    snapshot: Snapshot,
    stage: Stage,
    trigger: Trigger,
    failures: tuple[SummaryFailed, ...],
) -> CompactionResult:
    after, revision = apply_plan(plan, snapshot)
    freed = snapshot.sizes.bytes - after.sizes.bytes
    return CompactionResult(
        snapshot,
        after,
        trigger,
        plan,
        revision,
        stages=(StageReport(stage.strategy, freed),),
        failures=failures,
    )
