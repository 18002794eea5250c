from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime
from typing import Any, Literal

from django.db.models import Q, QuerySet
from ninja import Query, Router, Status
from pydantic import Field

from hermesweb import acts, spending, totals, versions, wall, wishes
from hermesweb.access import session_or_404, visible
from hermesweb.api.instructions import ticket
from hermesweb.api.paging import Window, page
from hermesweb.api.strict import Body, staff_only
from hermesweb.http import SignedIn
from hermesweb.models import AgentSession, ProfileVersion
from hermesweb.models import Status as SessionStatus
from hermesweb.reading import read
from hermesweb.shown import storable

router = Router(tags=["sessions"])

SORTS = {"changed": "-changed_at", "created": "-created_at", "title": "title"}


class NewSession(Body):
    """`recording` is the session that the model `replay` repeats."""

    workspace: str
    model: str
    profile: str
    title: str = ""
    mode: str = "goal"
    automatic: str = ""
    predecessor: str | None = None
    recording: str | None = None
    instruction: str = ""


class Changes(Body):
    """What is left out stays as it is; `automatic` empty: as the profile says."""

    title: str | None = None
    profile: str | None = None
    mode: str | None = None
    automatic: str | None = None
    archived: bool | None = None


class Wanted(Window):
    sort: Literal["changed", "created", "title"] = "changed"
    status: SessionStatus | None = None
    q: str = Field(default="", max_length=200)


@router.post("/sessions", response={201: Any})
def create(request: SignedIn, body: NewSession) -> Status[dict[str, Any]]:
    """Makes a session; with an instruction its run begins at once."""
    values = body.dict()
    for other in ("predecessor", "recording"):
        if values[other] is not None:
            values[other] = session_or_404(request.user, values[other])
    try:
        session = acts.create(request.user, **values)
    except acts.Invalid as error:
        field = "instruction" if error.field == "text" else error.field
        raise acts.Invalid(str(error), field) from error
    return Status(201, shape(session))


@router.get("/sessions")
def many(request: SignedIn, wanted: Query[Wanted]) -> dict[str, Any]:
    """Short forms, newest first."""
    sessions = wall.found(visible(request.user), storable(wanted.q))
    if wanted.status:
        sessions = sessions.filter(status=wanted.status)
    sort = SORTS[wanted.sort]
    found = _beyond(sessions, sort, wanted)
    rows = list(found.select_related("profile_version__profile")[: wanted.limit + 1])
    in_force = versions.in_force(rows)
    return page(
        rows,
        wanted,
        lambda row: _cursor(getattr(row, sort.lstrip("-")), row.pk),
        lambda row: short(row, in_force[row.pk]),
    )


@router.get("/sessions/{id}")
def one(request: SignedIn, id: str) -> dict[str, Any]:
    """Where it stands: status, what fills its list, what it may hold and what it cost so far."""
    return shape(session_or_404(request.user, id))


@router.patch("/sessions/{id}")
def change(request: SignedIn, id: str, body: Changes) -> dict[str, Any]:
    """All of the changes or, where one is refused, none."""
    session = session_or_404(request.user, id)
    acts.change(request.user, session, body.dict(exclude_none=True))
    return shape(session)


@router.delete("/sessions/{id}", response={204: None})
def delete(request: SignedIn, id: str) -> Status[None]:
    """For staff only; a session at work is stopped first."""
    staff_only(request)
    acts.delete(request.user, session_or_404(request.user, id))
    return Status(204, None)


@router.post("/sessions/{id}/stop")
def stop(request: SignedIn, id: str) -> dict[str, Any]:
    """At once, a run that waits for a person too; what waits in the queue stays there."""
    session = session_or_404(request.user, id)
    acts.stop(request.user, session)
    return shape(session)


@router.post("/sessions/{id}/resume")
def resume(request: SignedIn, id: str) -> dict[str, Any]:
    """Ends a hold, or goes on with a run that did not end with an answer."""
    session = session_or_404(request.user, id)
    acts.resume(request.user, session)
    return shape(session)


@router.post("/sessions/{id}/undo", response={202: Any})
def undo(request: SignedIn, id: str) -> Status[dict[str, Any]]:
    """Takes back the last change of the list; after an undo that is a redo."""
    session = session_or_404(request.user, id)
    return Status(202, ticket(session, acts.undo(request.user, session)))


@router.post("/sessions/{id}/new_topic", response={202: Any})
def new_topic(request: SignedIn, id: str) -> Status[dict[str, Any]]:
    """Ends the context: all but the system message and the pins leaves, one note stands for it."""
    session = session_or_404(request.user, id)
    return Status(202, ticket(session, acts.new_topic(request.user, session)))


def short(session: AgentSession, version: ProfileVersion) -> dict[str, Any]:
    return {
        "id": session.pk,
        "kind": session.kind,
        "title": session.title,
        "status": session.status,
        "over_budget": session.over_budget,
        "hold": session.hold,
        "thrash": session.thrash,
        "model": session.model,
        "profile": {"name": version.profile.name, "version": version.number},
        "used": session.used,
        "limit": session.limit or None,
        "unit": session.unit,
        "pressure": round(session.pressure, 4),
        "turns": session.turns,
        "compactions": session.compactions,
        "seq": session.seq,
        "created_at": session.created_at,
        "changed_at": session.changed_at,
    }


def shape(session: AgentSession) -> dict[str, Any]:
    version = session.version_in_force
    reading = read(session, version)
    return {
        **short(session, version),
        "workspace": session.workspace,
        "mode": session.mode,
        "automatic": reading.chosen or None,
        "profile_fault": reading.fault or None,
        "breaker": {"failures": session.breaker_failures, "open_until": session.breaker_until},
        "run": session.runs,
        "run_end": session.run_end or None,
        "run_reason": session.run_reason or None,
        "size": {
            "bytes": session.bytes,
            "chars": session.chars,
            "tokens": session.tokens,
            "tokens_are": session.tokens_are,
            "unseen": session.unseen,
        },
        "counter": session.counter or None,
        "cost": spending.usd(spending.cost(session)),
        "unpriced": session.unpriced,
        "spent": session.spent or None,
        "breakdown": session.breakdown,
        "tokens_by_category": totals.tokens_by_category(session),
        "window": {"tokens": session.window_tokens, "from": session.window_from},
        "reserve": session.reserve,
        "revision": session.revision,
        "pinned_bytes": session.pinned_bytes,
        "floor": acts.floor(session),
        "turns_to_compaction": reading.turns_left,
        "queue": wishes.queued(session).count(),
    }


def _beyond(sessions: QuerySet[AgentSession], sort: str, wanted: Wanted) -> QuerySet[AgentSession]:
    """In order, and only what follows the cursor."""
    descending = sort.startswith("-")
    field = sort.lstrip("-")
    ordered = sessions.order_by(sort, "-pk" if descending else "pk")
    if not wanted.cursor:
        return ordered
    value, pk = _key(wanted.cursor, is_time=field.endswith("_at"))
    sign = "lt" if descending else "gt"
    return ordered.filter(Q(**{f"{field}__{sign}": value}) | Q(**{field: value, f"pk__{sign}": pk}))


def _cursor(value: Any, pk: str) -> str:
    text = value.isoformat() if isinstance(value, datetime) else value
    return urlsafe_b64encode(json.dumps([text, pk]).encode()).decode()


def _key(cursor: str, is_time: bool) -> tuple[Any, str]:
    try:
        value, pk = json.loads(urlsafe_b64decode(cursor))
        if is_time:
            return datetime.fromisoformat(value).astimezone(UTC), storable(str(pk))
        return storable(str(value)), storable(str(pk))
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise acts.Invalid(f"{cursor!r:.60} is not a cursor given here", "cursor") from error
