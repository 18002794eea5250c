from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from builders import a_lease, a_session, a_user, added, called, said
from channels.db import database_sync_to_async
from django.contrib.auth.models import User
from django.db import connections

from agentcore.errors import ModelError
from agentcore.events import RunStarted
from agentcore.invariants import legal
from agentcore.llm.scripted import Line, ScriptedModel
from hermesweb import acts, border, endpoints, lease, lives, runner, wake
from hermesweb.models import AgentSession, StoredTurn
from hermesweb.recorder import record

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def woken(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    sent: list[str] = []
    monkeypatch.setattr(wake, "_send", sent.append)
    yield sent


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[..., ScriptedModel]:
    """Make the sessions' model say these lines."""

    def scripted(*lines: Line) -> ScriptedModel:
        model = ScriptedModel(lines)
        monkeypatch.setattr(endpoints, "chat_model", lambda session: model)
        return model

    return scripted


def says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def calls(name: str, arguments: str, call_id: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


@database_sync_to_async
def asked(workspace: Path, *texts: str, **known: Any) -> tuple[User, AgentSession]:
    """A session in the workspace with these instructions in its queue."""
    owner = User.objects.filter(username="ada").first() or a_user()
    session = a_session(owner, workspace=str(workspace), **known)
    for text in texts:
        acts.send(owner, session, text)
    return owner, session


@database_sync_to_async
def kinds(session: AgentSession) -> list[str]:
    events = list(session.events.order_by("seq").values_list("seq", "kind"))
    assert [seq for seq, _ in events] == list(range(1, len(events) + 1))
    return [kind for _, kind in events]


@database_sync_to_async
def texts(session: AgentSession) -> list[str]:
    """What the list says now, in order; it is legal."""
    session.refresh_from_db()
    snapshot = lives.snapshot_of(session)
    assert not legal(snapshot.messages)
    assert snapshot.sizes.bytes == session.bytes
    return [message.text for message in snapshot.messages]


async def test_a_run_goes_from_instruction_over_tools_to_the_answer(
    tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    (tmp_path / "notes.txt").write_text("the sea is blue")
    script(calls("read_file", '{"path": "notes.txt"}', "c1"), says("Blue."))
    _, session = await asked(tmp_path, "what colour is the sea?")
    await runner.run(session.pk)
    await session.arefresh_from_db()
    said = await texts(session)
    assert said[1] == "what colour is the sea?"
    assert "the sea is blue" in said[3]
    assert said[4] == "Blue."
    assert (session.status, session.run_end, session.turns) == ("idle", "answered", 2)
    assert (session.holder, session.run_open) == ("", False)
    assert await kinds(session) == [
        "instruction_queued",
        "message_added",
        "run_started",
        "message_added",
        "message_added",
        "tool_started",
        "tool_ended",
        "message_added",
        "turn_ended",
        "message_added",
        "turn_ended",
        "run_ended",
    ]


async def test_a_turn_takes_at_most_three_write_transactions(
    tmp_path: Path, script: Callable[..., ScriptedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[list[str]] = []

    def counted(session_id: str, fence: int, events: Sequence[Any]) -> int:
        batches.append([event.kind for event in events])
        return record(session_id, fence, events)

    monkeypatch.setattr(runner, "record", counted)
    (tmp_path / "a.txt").write_text("a")
    script(*(calls("read_file", '{"path": "a.txt"}', f"c{n}") for n in range(4)), says("done"))
    _, session = await asked(tmp_path, "read it four times")
    await runner.run(session.pk)
    turns = [batch for batch in batches if {"tool_started", "turn_ended"} & set(batch)]
    assert len(turns) == 2 * 4 + 1
    assert len(batches) <= len(turns) + 3


async def test_a_small_budget_compacts_within_the_run_and_a_pin_survives(
    tmp_path: Path, script: Callable[..., ScriptedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Notes without summaries, so that the script holds the run alone.
    monkeypatch.setattr(endpoints, "OWN", ("scripted",))
    (tmp_path / "long.txt").write_text("a line of text\n" * 200)
    reads = [calls("read_file", '{"path": "long.txt"}', f"c{n}") for n in range(14)]
    model = script(*reads, says("done"))
    owner, session = await asked(tmp_path, "keep this", profile="small")

    async def pin_when_it_is_there() -> None:
        while not await session.messages.filter(number=3).aexists():
            await asyncio.sleep(0.01)
        await database_sync_to_async(acts.pin)(owner, session, [3])

    await asyncio.gather(runner.run(session.pk), pin_when_it_is_there())
    await session.arefresh_from_db()
    assert session.compactions >= 1
    assert session.run_end == "answered"
    await texts(session)
    alive = {row.number async for row in session.lives.filter(to_revision=None)}
    assert {1, 2, 3, 4} <= alive
    assert len(model.requests) == 15
    applied = await session.stored_compactions.afirst()
    assert applied is not None and applied.used_after is not None
    assert applied.used_after < applied.used_before
    turn = await StoredTurn.objects.aget(session=session, number=applied.turn)
    assert (turn.action, turn.after) == ("keep_recent", applied.after)


async def test_instructions_that_arrive_meanwhile_are_taken_in_order_at_the_border(
    tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    (tmp_path / "a.txt").write_text("a")
    owner, session = await asked(tmp_path, "first")

    def reads(messages: Any) -> dict[str, Any]:
        for text in ("second", "third"):
            in_a_thread(lambda text=text: acts.send(owner, session, text))
        return calls("read_file", '{"path": "a.txt"}', "c1")

    script(reads, says("all done"))
    await runner.run(session.pk)
    said = await texts(session)
    assert said[1] == "first"
    assert said[4:] == ["second", "third", "all done"]


def in_a_thread(work: Callable[[], Any]) -> None:
    """Database work from inside a running event loop."""

    def work_then_close() -> None:
        work()
        connections.close_all()

    thread = threading.Thread(target=work_then_close)
    thread.start()
    thread.join()


async def test_a_compaction_waits_for_the_tool_and_leaves_the_queue_alone(
    tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    owner, session = await asked(tmp_path, "run the long job")

    def starts(messages: Any) -> dict[str, Any]:
        in_a_thread(lambda: acts.send(owner, session, "first queued"))
        in_a_thread(lambda: acts.compact_now(owner, session))
        in_a_thread(lambda: acts.send(owner, session, "second queued"))
        return calls("run_command", '{"command": "echo long job done"}', "j")

    # The compaction asks for no summary: there is nothing old enough to leave.
    script(starts, says("both seen"))
    await runner.run(session.pk)
    said = await texts(session)
    assert "long job done" in said[3]
    assert said[4:] == ["first queued", "second queued", "both seen"]
    compaction = await session.stored_compactions.aget()
    assert (compaction.state, compaction.failure) == ("noop", "nothing_to_compact")


async def test_stop_kills_the_running_command_and_the_session_can_go_on(
    tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    command = '{"command": "touch began; sleep 30; touch ended"}'
    script(calls("run_command", command, "c1"), says("It was stopped."))
    owner, session = await asked(tmp_path, "work")
    working = asyncio.create_task(runner.run(session.pk))
    while not (tmp_path / "began").exists():
        await asyncio.sleep(0.02)
    await database_sync_to_async(acts.stop)(owner, session)
    async with asyncio.timeout(5):
        await working
    await session.arefresh_from_db()
    assert (session.status, session.run_end, session.stop_requested) == ("idle", "stopped", False)
    assert "was stopped" in (await texts(session))[3]
    await database_sync_to_async(acts.send)(owner, session, "what got done?")
    await runner.run(session.pk)
    assert (await texts(session))[4:] == ["what got done?", "It was stopped."]
    assert not (tmp_path / "ended").exists()


async def test_an_instruction_queued_while_the_run_was_stopping_is_worked_on(
    tmp_path: Path, script: Callable[..., ScriptedModel], woken: list[str]
) -> None:
    script(says("never asked"))
    owner, session = await asked(tmp_path, "work")
    await AgentSession.objects.filter(pk=session.pk).aupdate(stop_requested=True, status="stopping")
    woken.clear()
    await runner.run(session.pk)
    await session.arefresh_from_db()
    assert (session.status, woken) == ("queued", [session.pk])


async def test_a_lost_workers_open_call_is_answered_and_never_run_again(
    tmp_path: Path, script: Callable[..., ScriptedModel]
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


async def test_a_changed_mode_rebuilds_the_system_message_at_the_next_run(
    tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    script(says("one"), says("two"))
    owner, session = await asked(tmp_path, "go")
    await runner.run(session.pk)
    await AgentSession.objects.filter(pk=session.pk).aupdate(mode="plan")
    await database_sync_to_async(acts.send)(owner, session, "again")
    await runner.run(session.pk)
    said = await texts(session)
    assert "Mode: plan" in said[0]
    assert said[1:] == ["go", "one", "again", "two"]
    revision = await session.revisions.aget()
    assert (revision.cause, revision.ended, revision.begun) == ("system_rebuilt", 1, 1)
    gone = await session.lives.aget(to_revision=1)
    assert (gone.number, gone.fate) == (1, "rebuilt")


class Died(BaseException):
    """Stands for SIGKILL: nothing of the runner's own cleaning up counts on it."""


@pytest.mark.parametrize("after", [False, True], ids=["before the write", "after the write"])
async def test_a_worker_may_die_at_every_write_of_a_run(
    tmp_path: Path,
    script: Callable[..., ScriptedModel],
    monkeypatch: pytest.MonkeyPatch,
    after: bool,
) -> None:
    writes = 0
    dies_at = 0

    def dying(session_id: str, fence: int, events: Sequence[Any]) -> int:
        nonlocal writes
        writes += 1
        if writes == dies_at and not after:
            raise Died
        seq = record(session_id, fence, events)
        if writes == dies_at:
            raise Died
        return seq

    monkeypatch.setattr(runner, "record", dying)
    command = '{"command": "echo ran >> runs"}'
    while dies_at == 0 or writes >= dies_at:
        dies_at, writes = dies_at + 1, 0
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


async def test_a_model_that_fails_ends_the_run_with_its_reason(
    tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    script(ModelError("the key was refused: set another"))
    _, session = await asked(tmp_path, "go")
    await runner.run(session.pk)
    await session.arefresh_from_db()
    assert (session.status, session.run_end) == ("failed", "failed")
    assert session.run_reason == "the key was refused: set another"


async def test_an_unforeseen_error_is_recorded_on_the_session_and_raised(
    tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    script(ZeroDivisionError("a bug"))
    _, session = await asked(tmp_path, "go")
    with pytest.raises(ZeroDivisionError):
        await runner.run(session.pk)
    await session.arefresh_from_db()
    assert (session.status, session.holder) == ("failed", "")
    assert session.run_reason == "ZeroDivisionError: a bug"


async def test_a_missing_key_or_workspace_ends_the_run_with_what_to_do(tmp_path: Path) -> None:
    _, session = await asked(tmp_path / "gone", "go", model="explorer")
    await runner.run(session.pk)
    await session.arefresh_from_db()
    assert session.status == "failed"
    assert "is gone: make it again" in session.run_reason
    _, other = await asked(tmp_path, "go", model="no-such-model")
    await runner.run(other.pk)
    await other.arefresh_from_db()
    assert "there is no model 'no-such-model'" in other.run_reason


async def test_a_task_for_a_session_with_nothing_to_do_changes_nothing(tmp_path: Path) -> None:
    _, session = await asked(tmp_path)
    await runner.run(session.pk)
    await session.arefresh_from_db()
    assert (session.seq, session.status, session.holder) == (0, "idle", "")


async def test_a_profile_changed_meanwhile_is_in_force_at_the_next_border(
    tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    owner, session = await asked(tmp_path, "go", profile="balanced")

    def changes(messages: Any) -> dict[str, Any]:
        in_a_thread(lambda: acts.change_profile(owner, session, "nanohermes"))
        return calls("glob", '{"pattern": "*"}', "c1")

    script(changes, says("done"))
    await runner.run(session.pk)
    turns = [turn async for turn in StoredTurn.objects.filter(session=session).order_by("number")]
    assert [(turn.limit, turn.unit) for turn in turns] == [
        (128_000, "tokens"),
        (120_000, "bytes"),
    ]


@pytest.mark.parametrize(
    ("until", "turns", "holds"),
    [("session", 9, True), ("turn:3", 3, True), ("turn:3", 4, False), ("commit:a.py", 9, True)],
)
def test_a_pin_ends_with_the_turn_it_names(until: str, turns: int, holds: bool) -> None:
    session = a_session(turns=turns)
    held = a_lease(session)
    record(session.pk, held.fence, added(said(1, "x")))
    session.messages.update(pinned=True, pin_until=until)
    assert border.read(held).pins == (frozenset({1}) if holds else frozenset())
