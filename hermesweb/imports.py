"""Recorded sessions from outside: read as a whole, stored step by step, seen when complete."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from datetime import timedelta
from pathlib import PurePath

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from agentcore.errors import TranscriptError
from agentcore.events import EventKind
from agentcore.said import Said, as_json
from agentcore.transcripts import Recording, load_all
from hermesweb.acts.telling import act
from hermesweb.models import AgentSession, Profile, SessionKind
from hermesweb.models.columns import NAME_CHARS
from hermesweb.recorder import remove
from hermesweb.shown import shown
from hermesweb.tape import Tape

# What the limit of an imported session is read from.
PROFILE = "balanced"
PROBLEMS_KEPT = 500
LEFT_OVER = timedelta(hours=1)
# Of an import that somebody waits for at a page or a call.
WAIT_SECONDS = 120.0


def import_recording(
    owner: User, data: bytes, filename: str, *, seconds: float | None = None
) -> AgentSession:
    """The first session of the file; further ones and subagents become sessions beside it.

    Raises TranscriptError when no reader can use the file, or when it takes longer than `seconds`.
    Whatever fails, nothing stays stored.
    """
    end = time.monotonic() + seconds if seconds is not None else None
    name = PurePath(filename).name
    stored: list[AgentSession] = []
    with ExitStack() as undo:
        for place, recording in enumerate(load_all(data), 1):
            title = recording.title or (f"{name} ({place})" if place > 1 else name)
            for session in _store_tree(owner, recording, title, None, end=end):
                undo.callback(remove, session)
                stored.append(session)
        with transaction.atomic():
            for session in stored:
                _finish(owner, session)
        undo.pop_all()
    return stored[0]


def clear_left_over() -> None:
    """Remove what an import left that was killed."""
    old = timezone.now() - LEFT_OVER
    for session in AgentSession.objects.filter(ready=False, created_at__lt=old):
        remove(session)


def _store_tree(
    owner: User,
    recording: Recording,
    title: str,
    parent: AgentSession | None,
    *,
    end: float | None,
) -> Iterator[AgentSession]:
    """Each session before it is filled, so that the caller can take it back."""
    session = _session(owner, recording, title, parent)
    yield session
    Tape(session, recording, lambda: _check(end)).store()
    for place, subagent in enumerate(recording.subagents, 1):
        name = subagent.title or f"{title}, subagent {place}"
        yield from _store_tree(owner, subagent, name, session, end=end)


def _check(end: float | None) -> None:
    if end is not None and time.monotonic() > end:
        raise TranscriptError(
            Said("storing it takes longer than an upload may: use manage.py import_session")
        )


def _session(
    owner: User, recording: Recording, title: str, parent: AgentSession | None
) -> AgentSession:
    profile = Profile.objects.get(name=PROFILE)
    version = profile.current
    if version.fault:
        said = Said(
            "its limit would come from {version}, which is refused: {fault}; save that profile "
            "anew, then import",
            version=str(version),
            fault=version.fault,
        )
        raise TranscriptError(said)
    problems = [
        {**asdict(problem), "said": as_json(problem.detail)}
        for problem in recording.problems[:PROBLEMS_KEPT]
    ]
    return AgentSession.objects.create(
        owner=owner,
        kind=SessionKind.IMPORTED,
        ready=False,
        title=shown(title)[:NAME_CHARS],
        model=shown(recording.model)[:60],
        profile=profile,
        profile_version=version,
        parent=parent,
        source_format=recording.format,
        problems=shown(problems),
        incomplete=recording.incomplete,
    )


def _finish(owner: User, session: AgentSession) -> None:
    """Show it, with the one event that tells of all of it."""

    def change(row: AgentSession) -> dict[str, object]:
        row.ready = True
        return {
            "format": row.source_format,
            "title": row.title,
            "messages": row.last_number,
            "turns": row.turns,
            "compactions": row.compactions,
            "problems": len(row.problems),
            "incomplete": row.incomplete,
        }

    act(owner, session, EventKind.IMPORTED, change)
