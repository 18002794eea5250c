"""Workers that die, lose their lease or are asked to end."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from builders import a_lease, added, called, said
from channels.db import database_sync_to_async
from django.db import connection
from dying import Died, Dying
from working import asked, calls, in_a_thread, kinds, says, texts

from agentcore.events import RunStarted
from agentcore.llm.scripted import ScriptedModel
from hermesweb import lease, runner
from hermesweb.models import AgentSession
from hermesweb.recorder import record

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("woken")]


async def test_a_lost_workers_open_call_is_answered_and_never_run_again(
    tmp_path: Path, script: Callable[..., ScriptedModel], caplog: pytest.LogCaptureFixture
) -> None:
    model = script(says("I see that it was interrupted."))
    _, session = await asked(tmp_path, status="running")

    @database_sync_to_async
    def crash() -> None:
        held = a_lease(session, "the lost worker")
        start = [*added(said(1, "s", "system"), said(2, "go")), RunStarted(1)]
        record(session.pk, held.fence, [*start, *added(called(3, "run_command"), turn=1)])
        lease.release(held)

    await crash()
    await runner.run(session.pk)
    said_now = await texts(session)
    assert "interrupted" in said_now[3]
    assert said_now[4] == "I see that it was interrupted."
    assert len(model.requests) == 1
    told = await kinds(session)
    assert told.count("recovered") == told.count("repaired") == 1
    assert told[-1] == "run_ended"
    assert f"session {session.pk} goes on: its last worker was lost" in caplog.text


async def test_a_task_delivered_twice_runs_once(
    tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    model = script(says("once"))
    _, session = await asked(tmp_path, "go")
    await asyncio.gather(*(runner.run(session.pk) for _ in range(5)))
    await runner.run(session.pk)
    assert len(model.requests) == 1
    assert (await texts(session))[1:] == ["go", "once"]


async def test_a_worker_that_is_asked_to_end_hands_over_at_the_border(
    tmp_path: Path,
    script: Callable[..., ScriptedModel],
    woken: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runner, "_draining", threading.Event())

    def ends(messages: Any) -> dict[str, Any]:
        runner.drain()
        return calls("glob", '{"pattern": "*"}', "c1")

    model = script(ends, says("done by another"))
    _, session = await asked(tmp_path, "go")
    woken.clear()
    await runner.run(session.pk)
    await session.arefresh_from_db()
    assert (session.holder, session.run_open, woken) == ("", True, [session.pk])
    runner._draining.clear()
    await runner.run(session.pk)
    assert (await texts(session))[-1] == "done by another"
    assert len(model.requests) == 2
    assert (await kinds(session)).count("tool_started") == 1


@pytest.mark.parametrize("after", [False, True], ids=["before the write", "after the write"])
async def test_a_worker_may_die_at_every_write_of_a_run(
    tmp_path: Path,
    script: Callable[..., ScriptedModel],
    monkeypatch: pytest.MonkeyPatch,
    after: bool,
) -> None:
    writes = dies_at = 0
    command = '{"command": "echo ran >> runs"}'
    while writes >= dies_at:
        dies_at += 1
        dying = Dying(dies_at, after=after)
        monkeypatch.setattr(runner, "record", dying)
        folder = tmp_path / str(dies_at)
        folder.mkdir()

        def answers(messages: Sequence[Any]) -> dict[str, Any]:
            ran = [message for message in messages if message.role == "tool"]
            return says("done") if ran else calls("run_command", command, "c1")

        script(*[answers] * 5)
        _, session = await asked(folder, "go")
        for _ in range(2):
            with contextlib.suppress(Died):
                await runner.run(session.pk)
            await AgentSession.objects.filter(pk=session.pk).aupdate(holder="", lease_ends=None)
        said = await texts(session)
        assert (session.status, session.run_end) == ("idle", "answered")
        assert said[1] == "go" and said[-1] == "done"
        told = await kinds(session)
        assert told.count("run_started") == told.count("run_ended") == 1
        runs = (folder / "runs").read_text() if (folder / "runs").exists() else ""
        assert runs.count("ran") <= 1
        numbers = session.messages.order_by("id").values_list("number", flat=True)
        assert [n async for n in numbers] == list(range(1, len(said) + 1))
        writes = dying.writes
    assert (writes, dies_at) == (6, 7)


async def test_a_holder_that_lost_its_lease_writes_nothing_more(
    tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    _, session = await asked(tmp_path, "go")

    def overtaken(messages: Any) -> dict[str, Any]:
        in_a_thread(lambda: AgentSession.objects.filter(pk=session.pk).update(fence=99))
        return says("too late")

    script(overtaken)
    await runner.run(session.pk)
    assert (await texts(session))[1:] == ["go"]
    assert (await AgentSession.objects.aget(pk=session.pk)).run_open


async def test_a_database_that_is_locked_for_seconds_loses_nothing(
    tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    locked = threading.Event()

    def hold() -> None:
        with closing(sqlite3.connect(connection.settings_dict["NAME"])) as other:
            other.execute("BEGIN IMMEDIATE")
            locked.set()
            time.sleep(3)
            other.rollback()

    def locks(messages: Any) -> dict[str, Any]:
        threading.Thread(target=hold).start()
        locked.wait()
        return calls("glob", '{"pattern": "*"}', "c1")

    if connection.vendor != "sqlite":
        pytest.skip("other databases lock rows, not everything")
    script(locks, says("done"))
    _, session = await asked(tmp_path, "go")
    await runner.run(session.pk)
    assert (await texts(session))[-1] == "done"
    assert (await kinds(session))[-1] == "run_ended"
