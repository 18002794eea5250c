"""Exact token counts of what is stored, made off the path of any turn, once a body and counter."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from django.db.models import F, Sum

from agentcore.breakdown import Category
from agentcore.counting import ExactCounter, counter_for
from agentcore.errors import CounterMissing
from agentcore.pressure import TokenSource, Unit
from hermesweb import endpoints, lives
from hermesweb.acts.measuring import measure
from hermesweb.models import AgentSession, SessionKind, StoredMessage
from hermesweb.recorder import FenceLost, NoSuchSession, settle
from hermesweb.tools import toolbox_of

logger = logging.getLogger(__name__)

CHUNK = 200
# Sessions at a time: a sweep is short.
SESSIONS = 20


def catch_up() -> int:
    """Count what was stored since in sessions that nobody works on; how many messages were."""
    behind = AgentSession.objects.filter(holder="", ready=True, counted_to__lt=F("last_number"))
    return sum(map(_count, behind.order_by("changed_at")[:SESSIONS]))


def _count(session: AgentSession) -> int:
    """Nothing is counted for a model that no tokenizer fits. What a worker that came meanwhile
    leaves is counted when it has gone."""
    counter = _counter(session)
    counted = 0
    try:
        while counter and (chunk := _uncounted(session, counter)):
            _settle(session, partial(_keep, chunk))
            counted += len(chunk)
        _settle(session, partial(_measure, counter))
    except (FenceLost, NoSuchSession) as error:
        logger.info("not counted: %s", error)
    return counted


def _settle(session: AgentSession, change: Callable[[AgentSession], None]) -> None:
    settle(session.pk, session.fence, change, quietly=True)


def _counter(session: AgentSession) -> ExactCounter | None:
    try:
        return counter_for(endpoints.model_name(session))
    except CounterMissing as error:
        logger.warning("session %s: %s", session.pk, error)
        return None


def _uncounted(session: AgentSession, counter: ExactCounter) -> list[StoredMessage]:
    rows = session.messages.exclude(counter=counter.name).select_related("body")
    chunk = list(rows.order_by("number")[:CHUNK])
    known = _known({row.body_id for row in chunk if row.body_id}, counter)
    for row in chunk:
        row.counter = counter.name
        row.exact = known.get(row.body_id or "")
        if row.exact is None:
            row.exact = counter.message(lives.message_of(row))
            known |= {row.body_id: row.exact} if row.body_id else {}
    return chunk


def _known(bodies: Iterable[str], counter: ExactCounter) -> dict[str, int]:
    """What the same counter found of the same bodies before, in whatever session."""
    rows = StoredMessage.objects.filter(body_id__in=list(bodies), counter=counter.name)
    return {body: exact for body, exact in rows.values_list("body_id", "exact") if body and exact}


def _keep(rows: Sequence[StoredMessage], session: AgentSession) -> None:
    StoredMessage.objects.bulk_update(rows, ["exact", "counter"], batch_size=CHUNK)


def _measure(counter: ExactCounter | None, session: AgentSession) -> None:
    """The list as the counter has it, unless a provider has said more. The ratio to the estimate is
    what the next run begins with, so that all readers go on sharing one measurement."""
    session.counted_to = session.last_number
    if counter is None or session.stored_turns.filter(usage__isnull=False).exists():
        return
    alive = session.lives.filter(to_revision=None)
    exact = alive.aggregate(exact=Sum("message__exact"))["exact"]
    if not exact or alive.filter(message__exact=None).exists():
        return
    if session.kind == SessionKind.RUN:
        if session.profile_version.readable is None:
            return
        toolbox = toolbox_of(session, session.profile_version.value)
        exact += counter.schemas(toolbox.schemas)
        session.ratio = exact / (session.estimate + toolbox.sizes.tokens)
        measure(session)
    elif session.categories[Category.TOOL_SCHEMAS]:
        return
    else:
        session.tokens = exact
        session.used = exact if session.unit == Unit.TOKENS else session.used
    session.tokens_are, session.counter = TokenSource.EXACT, counter.name
