"""What a compaction came to, as its page says it. Nothing is worked out that was not stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agentcore import diff
from agentcore.breakdown import Category
from agentcore.compaction.plan import Fate, Origin
from agentcore.compaction.result import CompactionState, Failure, SummaryFailed
from agentcore.events import EventKind
from agentcore.options import Stage as ProfileStage
from agentcore.pressure import Unit
from agentcore.said import Said
from hermesweb.labels import unit_word, words
from hermesweb.models import AgentSession, Compaction
from hermesweb.sentences import told

WHY_NOT: Mapping[str, Said] = {
    Failure.NOTHING_TO_COMPACT: Said("nothing in the list could leave or shrink"),
    Failure.DID_NOT_SHRINK: Said("the result would not have been smaller"),
    Failure.INVARIANT: Said("the result would have broken a rule, so it was rolled back"),
    Failure.EMPTY: Said("the summary came back empty"),
    Failure.TOOL_CALL: Said("the model called a tool instead of writing a summary"),
    Failure.REFUSAL: Said("the model refused to write a summary"),
    Failure.HEADINGS: Said("the summary lacked its headings"),
    Failure.TOO_LONG: Said("the summary was too long"),
    Failure.ERROR: Said("asking for the summary failed"),
    Failure.TIMEOUT: Said("the summary took too long"),
    Failure.BREAKER_OPEN: Said("summaries failed too often lately, so none was asked for"),
    Failure.ABORTED: Said("a hook ended it"),
    Failure.CANCELLED: Said("it was withdrawn"),
    Failure.STALE: Said("the list changed meanwhile"),
}


@dataclass(frozen=True, slots=True)
class Part:
    """A category before and after, in bytes; `x_*` in percent of the largest."""

    category: str
    before: int
    after: int
    x_before: float
    x_after: float

    @property
    def change(self) -> int:
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Stage:
    """Bytes left after a stage; `x` and `width` of what it freed in percent of the bar; `did`
    counts its rows by fate or origin."""

    name: str
    left: int
    freed: int
    x: float
    width: float
    did: list[tuple[str, int]]

    @property
    def change(self) -> int:
        return -self.freed


@dataclass(frozen=True, slots=True)
class Outcome:
    headline: str
    why: str
    freed: int | None
    share: float | None
    inequality: str
    schemas: int
    parts: list[Part]
    stages: list[Stage]

    @property
    def grew(self) -> bool:
        return self.freed is not None and self.freed < 0

    @property
    def change(self) -> int:
        return -(self.freed or 0)


def outcome(session: AgentSession, row: Compaction, rows: Sequence[diff.Row]) -> Outcome:
    freed = None
    if row.revision is not None and row.before is not None and row.after is not None:
        freed = row.before - row.after
    return Outcome(
        headline=_headline(row),
        why=told(WHY_NOT[row.failure]) if row.failure else "",
        freed=freed,
        share=freed / row.before if freed is not None and row.before else None,
        inequality=_inequality(session, row),
        schemas=_schemas(row),
        parts=_parts(row.breakdown_before, row.breakdown_after) if freed is not None else [],
        stages=_stages(row, rows) if freed is not None else [],
    )


def unwritten(failed: SummaryFailed) -> Said:
    """Why there is no summary: what kind of failure it was, and its detail."""
    return Said("{reason}: {detail}", reason=WHY_NOT[failed.reason], detail=failed.detail)


def _headline(row: Compaction) -> str:
    text = {
        CompactionState.QUEUED: _("Compaction %(number)s waits for the next safe border."),
        CompactionState.RUNNING: _("Compaction %(number)s is running."),
        CompactionState.NOOP: _("Compaction %(number)s changed nothing."),
        CompactionState.FAILED: _("Compaction %(number)s failed; the list is as it was."),
        CompactionState.UNDONE: _("Compaction %(number)s was undone."),
        CompactionState.APPLIED: "",
    }[CompactionState(row.state)]
    return str(text) % {"number": row.number}


def _inequality(session: AgentSession, row: Compaction) -> str:
    """The pressure that was measured against the threshold then in force, in the limit's unit."""
    if row.used_before is None or not row.limit:
        return ""
    unit = unit_word(row.unit)
    found = _stage(session, row)
    if found is None:
        share = row.used_before / row.limit
        text = gettext("%(used)s of %(limit)s %(unit)s, %(share)s")
        used, limit = f"{row.used_before:,}", f"{row.limit:,}"
        return text % {"used": used, "limit": limit, "unit": unit, "share": f"{share:.1%}"}
    stage, threshold = found
    at = round(threshold * row.limit)
    reached = row.used_before > at if stage.above else row.used_before >= at
    sign = (">" if stage.above else "≥") if reached else ("≤" if stage.above else "<")
    of = gettext("%(share)s of %(limit)s")
    threshold_told = of % {"share": f"{threshold:.0%}", "limit": f"{row.limit:,}"}
    return f"{row.used_before:,} {sign} {at:,} {unit}, {threshold_told}"


def _schemas(row: Compaction) -> int:
    """Bytes that were counted beside the messages."""
    in_bytes = row.unit == Unit.BYTES and row.used_before is not None and row.before is not None
    return max((row.used_before or 0) - (row.before or 0), 0) if in_bytes else 0


def _stage(session: AgentSession, row: Compaction) -> tuple[ProfileStage, float] | None:
    """The stage that ran, and its threshold then; None where that cannot be said."""
    changes = session.events.filter(kind=EventKind.PROFILE_CHANGED, at__gt=row.at)
    if not row.stages or changes.exists():
        return None
    versions = session.profile_version.profile.versions.filter(at__lte=row.at)
    then = versions.order_by("number").last() if session.profile else session.profile_version
    profile = then.readable if then else None
    if profile is None:
        return None
    stages = (one for one in profile.stages if one.strategy == row.stages[0]["stage"])
    return next(((one, profile.threshold(one)) for one in stages), None)


def _parts(before: Mapping[str, int], after: Mapping[str, int]) -> list[Part]:
    largest = max([*before.values(), *after.values(), 1])
    parts = [
        Part(
            category,
            before.get(category, 0),
            after.get(category, 0),
            100.0 * before.get(category, 0) / largest,
            100.0 * after.get(category, 0) / largest,
        )
        for category in Category
        if category in before or category in after
    ]
    return sorted(parts, key=lambda part: -max(part.before, part.after))


def _stages(row: Compaction, rows: Sequence[diff.Row]) -> list[Stage]:
    left, stages = row.before or 0, []
    whole = max(left, 1)
    did = Counter((found.stage, found.name) for found in rows)
    for stage in row.stages:
        freed = stage["freed"]
        left -= freed
        stages.append(
            Stage(
                words(stage["stage"]),
                left,
                freed,
                x=100.0 * min(left, whole) / whole,
                width=100.0 * max(freed, 0) / whole,
                did=[
                    (name, count)
                    for name in (*Fate, *Origin)
                    if (count := did[stage["stage"], name])
                ],
            )
        )
    return stages
