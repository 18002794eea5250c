"""A previewed compaction in the words and rows of one that was made."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from agentcore.compaction.result import CompactionState, Trigger
from agentcore.events import CompactionEnded
from agentcore.pressure import Unit
from hermesweb import attempts, bands, planning
from hermesweb.choices import DiffChoice
from hermesweb.gauge import gauge
from hermesweb.models import AgentSession, Compaction, Preview
from hermesweb.outcome import outcome
from hermesweb.planning import Planned
from hermesweb.prices import prices_of
from hermesweb.proof import proof
from hermesweb.rebilling import rebilling
from hermesweb.shown import shown


def context(
    session: AgentSession, found: Preview, plan: Planned, choice: DiffChoice | None = None
) -> dict[str, Any]:
    row = as_made(session, plan)
    chosen = choice.cleaned_data if choice else {}
    rows = plan.rows
    return {
        "session": session,
        "preview": found,
        "plan": plan,
        "compaction": row,
        "outcome": outcome(session, row, rows),
        "proof": proof(session, row),
        "gauges": [_gauge(plan, after=False), _gauge(plan, after=True)],
        "rebilling": rebilling(rows, _ratio(plan), prices_of(session.model), spent=row.cost),
        "text": shown(plan.summary),
        "by": plan.result.summaries[-1].model if plan.result.summaries else "",
        "here": f"{reverse('preview', args=[session.pk, found.pk])}?diff=1&",
        **bands.context(session, rows, chosen, planning.unborn(session, plan)),
    }


def as_made(session: AgentSession, plan: Planned) -> Compaction:
    """The row that it would get; never saved."""
    row = Compaction(session=session, number=0, trigger=Trigger.MANUAL)
    event = CompactionEnded(plan.result, plan.before, plan.after, session.turns, 0.0)
    attempts.fill(row, event, plan.verification)
    row.state = CompactionState.APPLIED if plan.result.changed else CompactionState.NOOP
    return row


def _gauge(plan: Planned, *, after: bool) -> Any:
    """As full as now, or as it would be, by the parts of what is counted."""
    pressure = plan.after if after else plan.before
    snapshot = plan.result.new if after else plan.result.old
    parts = (snapshot.sizes + plan.schemas).breakdown
    breakdown = {str(name): size for name, size in parts.items()}
    in_tokens = pressure.unit is Unit.TOKENS
    return gauge(
        breakdown,
        pressure.used,
        limit=pressure.limit,
        unit=pressure.unit,
        source="estimate" if in_tokens else "measured",
        unseen=plan.unseen if in_tokens else 0,
    )


def _ratio(plan: Planned) -> float:
    """Tokens a byte of the list."""
    sizes = plan.result.old.sizes
    return sizes.tokens / sizes.bytes if sizes.bytes else 0.0
