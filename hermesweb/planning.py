"""What a compaction would come to now: nothing is changed, and no model is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from django.utils import timezone

from agentcore import diff
from agentcore.breakdown import NOTHING, Breakdown, Category, Sizes
from agentcore.compaction.asked import CompactionOptions
from agentcore.compaction.notes import without_header
from agentcore.compaction.pipeline import PressureOf, SummaryOutcome, run_pipeline
from agentcore.compaction.plan import Origin
from agentcore.compaction.result import CompactionResult, Trigger, WrittenSummary
from agentcore.compaction.summarizer import (
    SummaryRequest,
    accept_written,
    count_words,
    sources_of,
)
from agentcore.messages import Message
from agentcore.options import SummarySource
from agentcore.pressure import Pressure, TokenCounter
from agentcore.profile import Profile
from agentcore.snapshot import Snapshot, settled
from agentcore.verify import Verification
from hermesweb import endpoints, lives, pins, totals
from hermesweb.models import AgentSession, Preview, SessionKind, StoredMessage
from hermesweb.tools import toolbox_of


@dataclass(frozen=True)
class Planned:
    """`request` is what a model would be asked, None where no stage wants a summary; `pins` are
    those in force; `schemas` are what counts beside the list, before and after, with the tokens of
    a recording that are `unseen`."""

    result: CompactionResult
    request: SummaryRequest | None
    before: Pressure
    pins: frozenset[int]
    schemas: Sizes
    unseen: int = 0

    @property
    def after(self) -> Pressure:
        return self.result.pressure or self.before

    @cached_property
    def verification(self) -> Verification | None:
        return self.result.verification() if self.result.changed else None

    @cached_property
    def rows(self) -> list[diff.Row]:
        """Every row of the list with what would become of it."""
        result = self.result
        change = [(result.plan, result.old)] if result.changed else []
        return diff.rows(diff.entries(result.old, result.new, change, pins=self.pins))

    @property
    def born(self) -> list[Message]:
        """The messages that the plan would bear, with the numbers that they would get now."""
        revision = self.result.revision
        return [message for message, _ in revision.begun] if revision else []

    @property
    def summary(self) -> str:
        """The text of the summary, by whomever; empty where there is none."""
        births = self.result.plan.births
        texts = (one.message.text for one in births if one.origin is Origin.SUMMARY)
        return without_header(next(texts, ""))

    @property
    def words(self) -> int:
        return count_words(self.summary)


def planned(
    session: AgentSession,
    options: CompactionOptions,
    written: WrittenSummary | None = None,
    *,
    to_ask: bool = False,
) -> Planned:
    """`written`: what a model, or a person who went over it, made of the request; `to_ask`: the
    request is for a model, so that the archive is read for it. Raises ProfileError for the options,
    StalePlan where the boundary left the list."""
    whole, profile = lives.snapshot_of(session), options.applied_to(in_force(session))
    snapshot = settled(whole)
    schemas = _schemas(session, profile)
    # What is still open counts in the next request, though no plan may touch it.
    measure = _measure(session, profile, schemas, whole.sizes - snapshot.sizes)
    kept = pins.in_force(session)
    run = run_pipeline(
        snapshot,
        profile,
        pressure_of=measure,
        trigger=Trigger.MANUAL,
        pins=kept | options.held(snapshot),
        checkpoints=pins.checkpoints(session),
        originals=_originals(session, snapshot, profile) if to_ask or written else None,
    )
    request: SummaryRequest | None = None
    try:
        request = replace(next(run), focus=options.focus)
        answer = _answer(request, options, written)
        while True:
            run.send(answer)
    except StopIteration as stop:
        result: CompactionResult = stop.value
    counted = schemas if profile.counts_schemas else NOTHING
    return Planned(result, request, measure(snapshot), kept, counted, session.unseen)


def _originals(
    session: AgentSession, snapshot: Snapshot, profile: Profile
) -> dict[int, Message] | None:
    """What standing summaries were made from, where the next one is made from the archive."""
    if profile.summary.source is not SummarySource.ARCHIVE:
        return None
    runs = [run for message in snapshot.messages for run in sources_of(message)]
    return {message.number: message for message in lives.originals_of(session.pk, runs)}


def in_force(session: AgentSession) -> Profile:
    """As the next turn will have it."""
    profile = session.version_in_force.value
    given = endpoints.given_window(session.model) if profile.window is None else None
    known = {"window": given} if given else {}
    return profile.replace(**known, counts_schemas=totals.counts_schemas(session, profile))


def stored(session: AgentSession, message: Message) -> StoredMessage:
    """A message that is not born yet, for pages that show rows; never saved."""
    return StoredMessage(
        session=session,
        number=message.number,
        role=message.role,
        preview=lives.preview_of(message),
        bytes=message.sizes.bytes,
        categories={str(name): size for name, size in message.sizes.breakdown.items()},
        tool=message.tool or "",
        replaces=message.replaces,
        stands_for=[[run.start, run.stop - 1] for run in message.stands_for],
    )


def unborn(session: AgentSession, plan: Planned) -> Mapping[int, StoredMessage]:
    return {message.number: stored(session, message) for message in plan.born}


def clear_ended() -> None:
    """Previews that nobody applied in their time."""
    Preview.objects.filter(ends_at__lte=timezone.now()).delete()


def _answer(
    request: SummaryRequest, options: CompactionOptions, written: WrittenSummary | None
) -> SummaryOutcome:
    if options.summary is None:
        return written
    answer = accept_written(options.summary, request)
    if written and isinstance(answer, WrittenSummary):
        model = written.model if written.text == answer.text else answer.model
        return replace(written, text=answer.text, model=model)
    return answer


def _schemas(session: AgentSession, profile: Profile) -> Sizes:
    """Of a recording, all that its page counts beside the list: its tools and what is unseen."""
    if session.kind == SessionKind.RUN:
        return toolbox_of(session, profile).sizes
    size = session.categories[Category.TOOL_SCHEMAS]
    beside = max(0, session.tokens - round(session.estimate * session.ratio))
    return Sizes(size, size, beside, Breakdown({Category.TOOL_SCHEMAS: size} if size else {}))


def _measure(
    session: AgentSession, profile: Profile, schemas: Sizes, still_open: Sizes
) -> PressureOf:
    """As the session's own worker would."""
    window = endpoints.window_for(session, profile)
    counter = TokenCounter(session.ratio)
    return lambda snapshot: profile.pressure(counter, window, snapshot.sizes + still_open, schemas)
