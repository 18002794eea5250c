"""From rows to an Agent and back: the work of one task on one session."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from agentcore.agent import Agent, Poll
from agentcore.compaction.hooks import hooks_of
from agentcore.context import Context
from agentcore.directives import Directives
from agentcore.errors import ProfileError, StalePlan
from agentcore.events import Event, RunEnd, RunEnded
from agentcore.llm.base import ChatModel
from agentcore.messages import Message
from agentcore.pressure import TokenCounter
from agentcore.profile import Profile
from agentcore.said import Said
from agentcore.standing import Means, Standing
from agentcore.tools import Toolbox
from hermesweb import (
    acts,
    approvals,
    border,
    commits,
    endpoints,
    lease,
    lives,
    opening,
    pins,
    spending,
    steering,
    summaries,
)
from hermesweb.db_thread import DatabaseThread
from hermesweb.endpoints import ModelUnavailable
from hermesweb.lease import Lease
from hermesweb.live import Announcer
from hermesweb.models import AgentSession
from hermesweb.prices import prices_of
from hermesweb.recorder import FenceLost, NoSuchSession, record
from hermesweb.tiers import tiers_of
from hermesweb.tools import Run, SessionArchive, toolbox_of
from hermesweb.wake import wake

logger = logging.getLogger(__name__)

WATCH_SECONDS = 0.5

# Set for good when this process was asked to end.
_draining = threading.Event()


class Draining(Exception):
    """This process is about to end; another one goes on from what is stored."""


class WorkspaceGone(Exception):
    """The folder that the session works in is no longer there."""


async def run(session_id: str) -> None:
    """Work on a session until nothing is owed. Does nothing while someone else holds it."""
    database = DatabaseThread()
    try:
        held = await database.run(lease.take, session_id, _holder())
        if held is None:
            return
        session = await database.run(AgentSession.objects.get, pk=session_id)
        if border.is_due(session):
            await Work(database, held, Announcer(session_id, session.owner_id)).run(session)
        else:
            await database.run(border.release, held)
    finally:
        await database.close()


def drain() -> None:
    """Hand every session over at its next border."""
    _draining.set()


class Work:
    """What one lease holder does. Rows decide; the Agent is built anew when they moved on."""

    def __init__(self, database: DatabaseThread, held: Lease, announcer: Announcer) -> None:
        self._database = database
        self._lease = held
        self._announcer = announcer
        self._renewed = time.monotonic()
        self._looked: tuple[str, frozenset[commits.Awaited]] | None = None

    async def run(self, session: AgentSession) -> None:
        try:
            await self._settle(await self._watched(session))
        except (FenceLost, NoSuchSession) as error:
            logger.warning("left: %s", error)
        except Draining:
            await self._database.run(lease.release, self._lease)
            await self._database.run(wake, self._lease.session_id)
        except (ModelUnavailable, WorkspaceGone, ProfileError) as error:
            await self._fail(str(error))
        except Exception as error:
            await self._fail(f"{type(error).__name__}: {error}")
            raise
        finally:
            await self._announcer.close()

    async def _watched(self, session: AgentSession) -> RunEnd | None:
        """Run the agent while the lease is kept; a lost one cancels it."""
        asked = await self._database.run(approvals.open_questions, session)
        recovered = session.run_open and not asked
        if recovered:
            # A full disk takes no log either, so what ended the last worker may not stand there.
            logger.warning("session %s goes on: its last worker was lost", session.pk)
        while True:
            agent = await self._agent(session, recovered=recovered)
            working = asyncio.create_task(agent.run())
            watching = asyncio.create_task(self._watch(agent))
            try:
                await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
                return watching.result() if watching.done() else working.result()
            except StalePlan as error:
                logger.info("session %s: %s", session.pk, error)
                recovered = False
                session = await self._database.run(AgentSession.objects.get, pk=session.pk)
            finally:
                await _end(working, watching)

    async def _agent(self, session: AgentSession, *, recovered: bool) -> Agent:
        snapshot = await self._database.run(lives.snapshot_of, session)
        model = await self._database.run(endpoints.chat_model, session)
        context = Context(snapshot)
        await self._open(session, context)
        profile = (await self._poll()).profile
        tools = await self._database.run(_tools, session, profile, self._database.run)
        return Agent(
            context,
            model,
            tools,
            emit=self._emit,
            poll=self._borders(session.mode),
            counter=TokenCounter(session.ratio),
            standing=Standing(
                turn=session.turns,
                run=session.runs,
                run_open=session.run_open,
                answered=session.run_end == RunEnd.ANSWERED and not session.run_open,
                recovered=recovered,
                spent=await self._database.run(spending.of_run, session),
                prefix=await self._database.run(opening.request_before, session, snapshot),
                contradicted=endpoints.contradicted(session, model.name),
                breaker=steering.breaker_of(session),
                waited=await self._database.run(spending.waited, session),
            ),
            means=Means(
                summarizer=await self._summarizer(session, profile, model),
                hooks=hooks_of(profile.hooks),
                on_text=self._announcer.text,
                check=self._check,
                originals=self._originals,
                archive=SessionArchive(session.pk, self._database.run),
                prices=await self._database.run(prices_of, session.model),
                tiers=await self._database.run(tiers_of, session),
                named=lambda name: self._database.run(summaries.named, session, name),
            ),
        )

    async def _originals(self, runs: Sequence[range]) -> Sequence[Message]:
        return await self._database.run(lives.originals_of, self._lease.session_id, runs)

    async def _summarizer(
        self, session: AgentSession, profile: Profile, model: ChatModel
    ) -> ChatModel | None:
        """Who writes the summaries; None: the ledger. Another one than last time is told."""
        if session.model in endpoints.OWN:
            return None
        chosen = await self._database.run(summaries.choose, session, profile)
        if chosen.name != (session.summary_model or session.model):
            self._announcer.tell(await self._database.run(summaries.tell, session, chosen))
        return chosen.model or model

    async def _open(self, session: AgentSession, context: Context) -> None:
        """What a run begins with, before its first request."""
        found = await self._database.run(opening.gather, session, context.messages)
        if found and (events := opening.begin(found, context)):
            await self._emit(events)

    async def _emit(self, events: Sequence[Event]) -> None:
        seq = await self._database.run(record, self._lease.session_id, self._lease.fence, events)
        self._announcer.tell(seq)

    def _borders(self, mode: str) -> Poll:
        """What an agent of this mode polls. The first time is that of its repair, which nothing
        may keep off; from then on a mode that a person changed has the agent built anew."""
        polls = itertools.count()

        async def poll() -> Directives:
            return await self._poll(mode if next(polls) else "")

        return poll

    async def _poll(self, mode: str = "") -> Directives:
        if _draining.is_set():
            raise Draining
        await self._end_pins()
        return await self._database.run(border.read, self._lease, mode)

    async def _end_pins(self) -> None:
        """Of those that wait for a commit, where one was made since the last look."""
        awaited = await self._database.run(pins.awaited, self._lease.session_id)
        if not awaited:
            return
        root = await self._database.run(border.workspace, self._lease)
        try:
            head = await commits.head(root)
            if (head, awaited) != self._looked:
                found = await commits.look(root, head, awaited)
                await self._database.run(acts.end_pins, self._lease, found)
                self._looked = head, awaited
        except commits.NoHistory as error:
            logger.warning("session %s: its pins stay: %s", self._lease.session_id, error)

    async def _check(self) -> None:
        await self._database.run(border.check_fence, self._lease)

    async def _watch(self, agent: Agent) -> RunEnd | None:
        """Renew the lease and pass a stop on; ends only by raising FenceLost."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            if await self._database.run(border.check_fence, self._lease):
                agent.stop()
            if time.monotonic() - self._renewed >= lease.RENEW_SECONDS:
                await self._database.run(border.renew, self._lease)
                self._renewed = time.monotonic()

    async def _settle(self, end: RunEnd | None) -> None:
        """Hand the lease back in the transaction that looks at the queue once more. None: the run
        waits for a person."""
        if end is RunEnd.ANSWERED:
            await self._database.run(border.remember, self._lease)
        again, seq = await self._database.run(border.leave, self._lease, end)
        if seq:
            self._announcer.tell(seq)
        if again:
            await self._database.run(wake, self._lease.session_id)

    async def _fail(self, reason: str) -> None:
        with contextlib.suppress(FenceLost, NoSuchSession):
            runs = await self._database.run(_runs, self._lease.session_id)
            await self._emit([RunEnded(runs, RunEnd.FAILED, reason)])
            await self._settle(RunEnd.FAILED)


def _holder() -> str:
    return f"{socket.gethostname()[:30]}:{os.getpid()}:{secrets.token_hex(4)}"


def _runs(session_id: str) -> int:
    return AgentSession.objects.get(pk=session_id).runs


def _tools(session: AgentSession, profile: Profile, search: Run) -> Toolbox:
    root = Path(session.workspace)
    if not root.is_dir():
        said = Said("the folder {folder} is gone: make it again, then resume", folder=str(root))
        raise WorkspaceGone(said)
    return toolbox_of(session, profile, search)


async def _end(*tasks: asyncio.Task[RunEnd | None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
