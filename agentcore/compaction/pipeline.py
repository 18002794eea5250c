"""Run the stages of a profile on a list. A generator, so that the caller owns the waiting:
it yields a SummaryRequest and is sent the text, why there is none, or None for no summarizer."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import TypeAlias

from agentcore.compaction.draft import Draft
from agentcore.compaction.notes import ledger_note, omission_with_ledger, summary_note
from agentcore.compaction.plan import CompactionPlan, Fate, Origin
from agentcore.compaction.result import (
    CompactionResult,
    Failure,
    StageReport,
    SummaryFailed,
    Trigger,
    WrittenSummary,
)
from agentcore.compaction.strategies import strategy_of
from agentcore.compaction.strategy import Situation
from agentcore.compaction.summarizer import SummaryRequest, summary_request
from agentcore.errors import PlanError
from agentcore.invariants import check
from agentcore.messages import Message
from agentcore.options import Stage, SummaryFailure
from agentcore.pressure import Pressure
from agentcore.profile import Profile
from agentcore.said import Said
from agentcore.snapshot import Snapshot

# By hand the list is taken down to its target, and at least to this share of what it is.
BY_HAND_SHARE = 0.5
# These go down to the target whatever the thresholds.
WANTED = (Trigger.MANUAL, Trigger.RUN_END, Trigger.HOOK)

PressureOf: TypeAlias = Callable[[Snapshot], Pressure]
SummaryOutcome: TypeAlias = WrittenSummary | SummaryFailed | None
Pipeline: TypeAlias = Generator[SummaryRequest, SummaryOutcome, CompactionResult]


def run_pipeline(
    snapshot: Snapshot,
    profile: Profile,
    *,
    pressure_of: PressureOf,
    trigger: Trigger,
    pins: frozenset[int] = frozenset(),
    checkpoints: frozenset[int] = frozenset(),
    originals: Mapping[int, Message] | None = None,
    now: datetime | None = None,
    asks: bool = True,
    is_legal: bool = False,
) -> Pipeline:
    """Stages in order, pressure measured anew before each. A run by hand, at the end of a run, or
    for a hook goes on until its target, one for the window until the request fits, whatever the
    thresholds; the others start a stage only where it is due. A stage that breaks a rule is rolled
    back.
    `originals`: messages by number that standing summaries stand for, for source `archive`; `now`:
    the time that placeholders tell; `asks`: without, no request is made, as if each were answered
    by None; `is_legal`: I1 is proven of the list, as `repair` leaves it."""
    run = _Run(
        snapshot,
        profile,
        pressure_of,
        trigger=trigger,
        pins=pins,
        checkpoints=checkpoints,
        originals=originals,
        now=now,
        is_legal=is_legal,
    )
    for stage in profile.stages:
        if run.is_done():
            break
        yield from _taken(run, stage, asks=asks)
    return run.result()


def _taken(
    run: _Run, stage: Stage, *, asks: bool
) -> Generator[SummaryRequest, SummaryOutcome, None]:
    """Lets go of a stage's plan, which may be large, before the next one makes its own."""
    plan = run.plan(stage)
    if plan.summarizes and asks:
        request = run.request(plan)
        plan = run.answered(plan, (yield request), request.left_out)
    elif plan.summarizes:
        plan = run.answered(plan, None, 0)
    run.take(plan, stage)


class _Run:
    """One run of the pipeline: the list as far as it has come, and what was told of it."""

    def __init__(
        self,
        snapshot: Snapshot,
        profile: Profile,
        pressure_of: PressureOf,
        *,
        trigger: Trigger,
        pins: frozenset[int],
        checkpoints: frozenset[int],
        originals: Mapping[int, Message] | None,
        now: datetime | None,
        is_legal: bool,
    ) -> None:
        self._before = snapshot
        self._profile = profile
        self._pressure_of = pressure_of
        self._trigger = trigger
        self._pins = pins | _pinned_by_rule(snapshot, profile)
        self._checkpoints = checkpoints
        self._originals = originals
        self._now = now
        self._is_legal = is_legal
        self._draft = Draft(snapshot)
        self.pressure = pressure_of(snapshot)
        self._target = profile.target * self.pressure.limit
        if trigger in WANTED:
            self._target = min(self._target, self.pressure.used * BY_HAND_SHARE)
        self._stages: list[StageReport] = []
        self._failures: list[SummaryFailed] = []
        self._summaries: list[WrittenSummary] = []
        self._left_out = 0
        self._reason = Failure.NOTHING_TO_COMPACT

    def is_done(self) -> bool:
        if self._trigger is Trigger.OVERFLOW:
            return self.pressure.fits_window
        return self._trigger in WANTED and self.pressure.used <= self._target

    def plan(self, stage: Stage) -> CompactionPlan:
        """What the stage would do now; an empty plan where it is not due."""
        situation = Situation(
            self._draft.snapshot,
            self.pressure,
            stage,
            threshold=self._profile.threshold(stage),
            need=self._need(),
            pins=self._pins,
            checkpoints=self._checkpoints,
            forced=self._is_forced,
            now=self._now,
        )
        strategy = strategy_of(stage)
        if not self._is_forced and not strategy.should_trigger(situation):
            return self._empty()
        return strategy.compact(situation)

    def request(self, plan: CompactionPlan) -> SummaryRequest:
        window = self.pressure.window.tokens
        return summary_request(
            plan.summarizes,
            self._profile.summary,
            window,
            structured=plan.structured,
            originals=self._originals,
        )

    def answered(
        self, plan: CompactionPlan, answer: SummaryOutcome, left_out: int
    ) -> CompactionPlan:
        """The plan with its summary; without one, what the profile wants."""
        options = self._profile.summary
        answer = _judged(answer, plan)
        if isinstance(answer, WrittenSummary):
            self._left_out += left_out + answer.left_out
            self._summaries.append(answer)
            return _noted(plan, summary_note(answer.text, plan.summarizes), Origin.SUMMARY)
        if isinstance(answer, SummaryFailed):
            self._failures.append(answer)
            if options.on_failure is SummaryFailure.KEEP:
                self._reason = answer.reason
                return self._empty()
            if options.on_failure is SummaryFailure.LEDGER:
                note = omission_with_ledger(plan.summarizes, options.chars)
                return _noted(_dropping(plan), note, Origin.NOTE)
        elif options.on_failure is not SummaryFailure.NOTE:
            return _noted(plan, ledger_note(plan.summarizes, options.chars), Origin.SUMMARY)
        return _dropping(plan)

    def take(self, plan: CompactionPlan, stage: Stage) -> None:
        """Advance by a plan that is worth it and breaks no rule."""
        if plan.is_empty:
            return
        try:
            draft = self._draft.advance(plan)
        except PlanError:
            self._reason = Failure.INVARIANT
            return
        pressure = self._pressure_of(draft.snapshot)
        refusal = self._refusal(plan, draft.snapshot, self.pressure.used - pressure.used)
        if refusal:
            self._reason = refusal
            return
        freed = self._draft.snapshot.sizes.bytes - draft.snapshot.sizes.bytes
        self._stages.append(StageReport(stage.strategy, freed))
        self._draft, self.pressure, self._is_legal = draft, pressure, True

    def result(self) -> CompactionResult:
        plan, after, revision = (
            self._draft.outcome() if self._stages else (self._empty(), self._before, None)
        )
        return CompactionResult(
            self._before,
            after,
            self._trigger,
            plan,
            revision,
            stages=tuple(self._stages),
            reason=None if self._stages else self._reason,
            failures=tuple(self._failures),
            summaries=tuple(self._summaries),
            pressure=self.pressure,
            left_out=self._left_out,
        )

    @property
    def _is_forced(self) -> bool:
        return self._trigger in (*WANTED, Trigger.OVERFLOW)

    def _need(self) -> int:
        """What is over the target, said in bytes of the list: schemas and tokens weigh alike."""
        over = self.pressure.used - self._target
        share = max(0.0, over / max(self.pressure.used, 1))
        if self._trigger is Trigger.OVERFLOW:
            tokens = self.pressure.tokens + self.pressure.reserve - self.pressure.window.tokens
            share = max(share, tokens / max(self.pressure.tokens, 1))
        return round(self._draft.snapshot.sizes.bytes * share)

    def _refusal(self, plan: CompactionPlan, after: Snapshot, gain: int) -> Failure | None:
        before = self._draft.snapshot
        if after.sizes.bytes >= before.sizes.bytes:
            return Failure.DID_NOT_SHRINK
        must = self._trigger in (Trigger.MANUAL, Trigger.OVERFLOW)
        if not must and gain < self._profile.min_gain * self.pressure.limit:
            return Failure.NOTHING_TO_COMPACT
        if check(plan, before, after, self._pins, was_legal=self._is_legal):
            return Failure.INVARIANT
        return None

    def _empty(self) -> CompactionPlan:
        return CompactionPlan(self._before.state, (), ())


def _pinned_by_rule(snapshot: Snapshot, profile: Profile) -> frozenset[int]:
    first = (message.number for message in snapshot.messages if message.is_instruction)
    return frozenset(islice(first, 1)) if profile.pins_first_user else frozenset()


def _judged(answer: SummaryOutcome, plan: CompactionPlan) -> SummaryOutcome:
    """A summary that is not smaller than what it stands for has failed."""
    if not isinstance(answer, WrittenSummary):
        return answer
    source = sum(message.sizes.bytes for message in plan.summarizes)
    size = summary_note(answer.text).sizes.bytes
    if size < source:
        return answer
    said = Said("a summary of {size:,} bytes for messages of {source:,}", size=size, source=source)
    return SummaryFailed(Failure.DID_NOT_SHRINK, said, answer.usage)


def _noted(plan: CompactionPlan, note: Message, origin: Origin) -> CompactionPlan:
    """The plan with another message where it had the bare note."""
    births = (
        replace(birth, message=note, origin=origin) if birth.origin is Origin.NOTE else birth
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
