"""The tools of a session that runs here, with what this installation lends to them."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from asgiref.sync import sync_to_async
from django.conf import settings

from agentcore.memory import terms
from agentcore.messages import Role
from agentcore.profile import Profile
from agentcore.skills import skills_in
from agentcore.tools import Lent, Mode, Toolbox, Web, Workspace, toolbox
from agentcore.tools.recall import Found
from hermesweb import endpoints, lives
from hermesweb.models import AgentSession, ModelEndpoint

Search: TypeAlias = Callable[[str, str, int], list[Found]]
# Calls a search where the database may be read.
Run: TypeAlias = Callable[[Search, str, str, int], Awaitable[list[Found]]]

CHUNK = 200
# Where a project keeps programs of its own; commands find these first.
OWN_PROGRAMS = (".venv/bin", "node_modules/.bin")


class SessionArchive:
    """All that a session ever held, for its own model: unmasked."""

    def __init__(self, session_id: str, run: Run) -> None:
        self._session_id = session_id
        self._run = run

    async def search(self, query: str, limit: int) -> Sequence[Found]:
        return await self._run(search, self._session_id, query, limit)


async def in_a_thread(work: Search, session_id: str, query: str, limit: int) -> list[Found]:
    return await sync_to_async(work)(session_id, query, limit)


def toolbox_of(session: AgentSession, profile: Profile, run: Run = in_a_thread) -> Toolbox:
    """What the mode of the session offers. `run` calls the search of its archive."""
    limits = profile.limits_for(endpoints.window_for(session, profile))
    root = Path(session.workspace)
    own = tuple(folder for name in OWN_PROGRAMS if (folder := root / name).is_dir())
    workspace = Workspace(root, limits, closed=settings.DATA_DIR, programs=own)
    lent = Lent(
        archive=SessionArchive(session.pk, run),
        skills=skills_in(workspace),
        web=Web(search=settings.SEARCH_URL) if settings.WEB_TOOLS else None,
        keys=own_keys(),
    )
    return toolbox(workspace, Mode(session.mode), lent)


def own_keys() -> list[str]:
    """Values that no result may hold: the keys of the endpoints, and the installation's own."""
    names = ModelEndpoint.objects.exclude(key_variable="").values_list("key_variable", flat=True)
    return [settings.SECRET_KEY, *filter(None, map(os.environ.get, names))]


def search(session_id: str, query: str, limit: int) -> list[Found]:
    """Messages that hold most of the words, the newest first among equals."""
    known = set(terms(query))
    wanted = {word for word in known if len(word) > 1} or known
    scored = []
    for found in _messages(session_id):
        # Not taken apart into words: a whole archive is looked through for one call.
        text = found.text.casefold()
        if score := sum(word in text for word in wanted):
            scored.append((-score, -found.number, found))
    return [found for _, _, found in sorted(scored, key=lambda one: one[:2])[: limit or None]]


def _messages(session_id: str) -> Iterator[Found]:
    """What was said and what tools found; neither searches of this kind and what they found, nor
    what a compaction put in the place of something."""
    rows = AgentSession(pk=session_id).messages.filter(replaces=None)
    own = rows.exclude(role=Role.SYSTEM).exclude(tool="recall").select_related("body")
    for row in own.order_by("number").iterator(CHUNK):
        message = lives.message_of(row)
        if message.text and all(call.name != "recall" for call in message.calls):
            yield Found(row.number, row.turn, row.tool or row.role, message.text)
