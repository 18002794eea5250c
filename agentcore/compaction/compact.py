"""Compact a plain list once: what scripts call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from agentcore.breakdown import NOTHING, Sizes
from agentcore.compaction.pipeline import Pipeline, PressureOf, SummaryOutcome, run_pipeline
from agentcore.compaction.plan import apply_plan
from agentcore.compaction.repair import repair
from agentcore.compaction.result import (
    CompactionResult,
    Failure,
    SummaryFailed,
    Trigger,
    WrittenSummary,
)
from agentcore.compaction.summarizer import SummaryRequest, accept
from agentcore.errors import ModelError, PlanError
from agentcore.messages import MessageLike
from agentcore.pressure import TokenCounter
from agentcore.profile import Profile
from agentcore.said import Said
from agentcore.snapshot import Snapshot


class Summarize(Protocol):
    """Answers with the text of a summary of at most `max_words` words. Says that it could not by
    ModelError or an OSError (TimeoutError is one); all else it raises comes through."""

    def __call__(self, text: str, *, max_words: int) -> str: ...


def compact(
    messages: Iterable[MessageLike] | Snapshot,
    profile: Profile,
    pinned: frozenset[int] = frozenset(),
    force: bool = False,
    summarize: Summarize | None = None,
    now: datetime | None = None,
) -> CompactionResult:
    """Repair the list where it is illegal, then compact it where it is due, or anyway with
    `force`. `pinned` are indexes of `messages`; `now` is the time that placeholders tell, for there
    is no clock in here. The input is never changed."""
    original = messages if isinstance(messages, Snapshot) else Snapshot.of(messages)
    pins = _numbers(original, pinned)
    plan, _ = repair(original)
    snapshot = original if plan.is_empty else apply_plan(plan, original)[0]
    trigger = Trigger.MANUAL if force else Trigger.THRESHOLD
    run = run_pipeline(
        snapshot,
        profile,
        pressure_of=pressure_of(profile),
        trigger=trigger,
        pins=pins,
        now=now,
        asks=summarize is not None,
        is_legal=True,
    )
    return replace(drive(run, summarize), original=original)


def pressure_of(profile: Profile, model: str = "", schemas: Sizes = NOTHING) -> PressureOf:
    """Measure a list by the profile, tokens by script; `schemas` are those of the tools."""
    window = profile.window_for(model)
    counter = TokenCounter()
    return lambda snapshot: profile.pressure(counter, window, snapshot.sizes, schemas)


def drive(run: Pipeline, summarize: Summarize | None) -> CompactionResult:
    """Answer what the pipeline asks for; without `summarize` it does without."""
    answer: SummaryOutcome = None
    try:
        request = next(run)
        while True:
            if summarize is not None:
                answer = _summary(request, summarize)
            request = run.send(answer)
    except StopIteration as stop:
        result: CompactionResult = stop.value
        return result


def _numbers(snapshot: Snapshot, indexes: Iterable[int]) -> frozenset[int]:
    count = len(snapshot.messages)
    for index in indexes:
        if not 0 <= index < count:
            raise PlanError(f"no message at index {index}; the list has {count}")
    return frozenset(snapshot.messages[index].number for index in indexes)


def _summary(request: SummaryRequest, summarize: Summarize) -> SummaryOutcome:
    """A plain callable is not told of headings, so it is judged as a short summary."""
    try:
        text = summarize(request.text, max_words=request.options.words)
    except TimeoutError as error:
        return SummaryFailed(Failure.TIMEOUT, str(error))
    except (ModelError, OSError) as error:
        return SummaryFailed(Failure.ERROR, str(error))
    if not isinstance(text, str):
        said = Said("no text came but {kind}", kind=type(text).__name__)
        return SummaryFailed(Failure.EMPTY, said)
    accepted = accept(text, False, replace(request, structured=False))
    return WrittenSummary(accepted) if isinstance(accepted, str) else accepted
