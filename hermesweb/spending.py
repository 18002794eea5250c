"""What requests took, in rows: tokens, USD where there is a price, and whose price it was."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Sum
from django.utils import timezone

from agentcore.directives import InstructionKind
from agentcore.events import BreakReason, EventKind, TurnEnded
from agentcore.messages import Role
from agentcore.pressure import TokenSource
from agentcore.requests import usd as usd
from agentcore.said import as_json
from agentcore.snapshot import State
from agentcore.turn import Request, Spent
from agentcore.usage import Prices, Usage
from hermesweb import totals
from hermesweb.models import AgentSession, SessionEvent, StoredTurn
from hermesweb.models.columns import NAME_CHARS, ROUTED_CHARS
from hermesweb.shown import shown


@dataclass(frozen=True, slots=True)
class Bill:
    """What a session took so far, as its page says it; tokens are the providers'."""

    session: AgentSession

    @property
    def cost(self) -> Decimal | None:
        return cost(self.session)

    @property
    def known(self) -> Decimal | None:
        """USD of the requests that have a price, where others have none."""
        return self.session.cost if self.unpriced and self.session.cost else None

    @property
    def unpriced(self) -> int:
        return self.session.unpriced

    @property
    def prompt(self) -> int:
        return spent(self.session).prompt

    @property
    def cached(self) -> int:
        return spent(self.session).cache_read

    @property
    def uncached(self) -> int:
        return self.prompt - self.cached

    @property
    def cached_share(self) -> float | None:
        return self.cached / self.prompt if self.prompt else None

    @property
    def output(self) -> int:
        return spent(self.session).output


def bill(session: AgentSession, usage: Usage | None, cost: Decimal | None) -> None:
    """Add a request to the running totals; one whose cost is not known is counted as such."""
    if usage:
        session.spent = asdict(spent(session) + usage)
    if cost is None:
        session.unpriced += 1
    else:
        session.cost += cost


def spent(session: AgentSession) -> Usage:
    return Usage(**session.spent)


def cost(session: AgentSession) -> Decimal | None:
    """USD of all requests so far; None where one of them is not known, or none was made."""
    return None if session.unpriced or not session.spent else session.cost


def of_run(session: AgentSession) -> Spent:
    """What the run that is open has used of its ceilings, whichever worker ran it: its turns, its
    broken replies and its summaries. The time in which it waited for a person is not its own."""
    start = _start(session)
    if start is None:
        return Spent()
    turns = session.stored_turns.filter(run=session.runs)
    results = session.messages.filter(role=Role.TOOL, turn__in=turns.values("number"))
    broken = session.events.filter(kind=EventKind.REQUEST_RETRIED, seq__gt=start.seq)
    costs = [data["cost"] for data in broken.values_list("data", flat=True)]
    costs.append(turns.aggregate(cost=Sum("cost"))["cost"])
    seconds = (timezone.now() - start.at).total_seconds() - _waited_seconds(session, start)
    return Spent(
        turns.count(),
        results.count(),
        sum((Decimal(cost) for cost in costs if cost), Decimal(0)),
        _summaries(session, start),
        time.monotonic() - seconds,
    )


def of_summaries(session: AgentSession) -> Decimal:
    """USD that the compactions of the open run took, as far as they have a price."""
    start = _start(session)
    return _summaries(session, start) if start else Decimal(0)


def _start(session: AgentSession) -> SessionEvent | None:
    """The event with which the run that is open began."""
    if not session.run_open:
        return None
    return session.events.filter(kind=EventKind.RUN_STARTED).order_by("-seq").first()


def _summaries(session: AgentSession, start: SessionEvent) -> Decimal:
    kinds = (EventKind.COMPACTION_ENDED, EventKind.COMPACTION_FAILED)
    events = session.events.filter(kind__in=kinds, seq__gt=start.seq)
    costs = [data.get("cost") for data in events.values_list("data", flat=True)]
    return sum((Decimal(cost) for cost in costs if cost), Decimal(0))


def _waited_seconds(session: AgentSession, start: SessionEvent) -> float:
    """Since that event, while any question stood unanswered; one that is asked again is the same
    one."""
    if not session.instructions.filter(kind=InstructionKind.APPROVAL, at__gte=start.at).exists():
        return 0
    kinds = (EventKind.APPROVAL_WANTED, EventKind.APPROVAL_GIVEN)
    told = session.events.filter(kind__in=kinds, seq__gt=start.seq).order_by("seq")
    waiting, since, seconds = set[Any](), start.at, 0.0
    for kind, data, at in told.values_list("kind", "data", "at"):
        question = data.get("question")
        if kind == EventKind.APPROVAL_WANTED:
            since = since if waiting else at
            waiting.add(question)
        elif waiting:
            waiting.discard(question)
            seconds += 0 if waiting else (at - since).total_seconds()
    return seconds


def prompt(turn: StoredTurn) -> tuple[int | None, TokenSource | None]:
    """Tokens of this turn's request: what the provider said of it, else what was expected."""
    if turn.usage and (told := Usage(**turn.usage).prompt):
        return told, TokenSource.PROVIDER
    if turn.request_estimate:
        return turn.request_estimate, TokenSource.ESTIMATE
    return None, None


def cached(turn: StoredTurn) -> int | None:
    return Usage(**turn.usage).cache_read if turn.usage else None


def keep_turn(session: AgentSession, event: TurnEnded) -> None:
    """One row a turn: that of a turn that waited was written, and billed, before."""
    columns = {**turn_columns(event), **totals.gauge(session)}
    if event.waited:
        # The request was read back from the row, where that is English text alone.
        del columns["routed_said"]
        session.stored_turns.filter(number=event.turn).update(**columns)
        return
    bill(session, event.usage, event.cost)
    StoredTurn.objects.create(session=session, **columns)


def waited(session: AgentSession) -> Request | None:
    """The request of a turn that has begun and not ended, since it waited for a person."""
    row = session.stored_turns.filter(number=session.turns + 1).first()
    if row is None:
        return None
    return Request(
        requested=State(row.requested_revision, row.requested_number),
        requested_model=row.requested_model,
        routed=row.routed,
        prices=_prices_of(row.prices),
        schemas=row.schemas,
        estimate=row.request_estimate,
        stable_prefix=row.stable_prefix,
        break_reason=BreakReason(row.break_reason) if row.break_reason else None,
        break_number=row.break_number,
        usage=Usage(**row.usage) if row.usage else None,
        request_bytes=row.request_bytes,
        seconds=row.seconds,
        model=row.model,
        cost=row.cost,
        waited=True,
    )


def turn_columns(event: TurnEnded) -> dict[str, Any]:
    return {
        "number": event.turn,
        "run": event.run,
        "requested_revision": event.requested.revision,
        "requested_number": event.requested.last_number,
        "ended_revision": event.ended.revision,
        "ended_number": event.ended.last_number,
        "usage": asdict(event.usage) if event.usage else None,
        "routed": event.routed[:ROUTED_CHARS],
        "routed_said": as_json(event.routed),
        "requested_model": shown(event.requested_model)[:NAME_CHARS],
        "request_estimate": event.estimate,
        "request_bytes": event.request_bytes,
        "schemas": event.schemas,
        "stable_prefix": event.stable_prefix,
        "break_reason": event.break_reason or "",
        "break_number": event.break_number,
        "prices": _prices(event.prices),
        "cost": event.cost,
        "seconds": event.seconds,
        "model": shown(event.model)[:NAME_CHARS],
    }


def _prices(prices: Prices) -> dict[str, Any]:
    """USD a million tokens as text; empty where nobody gave any."""
    if not prices.source:
        return {}
    told = {name: None if value is None else str(value) for name, value in asdict(prices).items()}
    return {**told, "source": prices.source}


def _prices_of(told: Mapping[str, Any]) -> Prices:
    """As `_prices` wrote them."""
    values = {name: Decimal(text) for name, text in told.items() if text and name != "source"}
    return Prices(**values, source=told.get("source", ""))
