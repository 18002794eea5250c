from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from builders import a_lease, a_session, added, said
from channels.db import database_sync_to_async
from processes import PATIENCE, wait_until
from working import asked, calls, in_a_thread, kinds, says, texts

from agentcore.errors import ModelError
from agentcore.llm.scripted import ScriptedModel
from hermesweb import acts, border, endpoints, runner
from hermesweb.models import AgentSession, StoredTurn
from hermesweb.recorder import record

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("woken")]


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
    owner, session = await asked(tmp_path, "keep this", profile="small")

    def pins(messages: Any) -> dict[str, Any]:
        in_a_thread(lambda: acts.pin(owner, session, [3]))
        return reads[1]

    model = script(reads[0], pins, *reads[2:], says("done"))
    await runner.run(session.pk)
    await session.arefresh_from_db()
    assert session.compactions >= 1
    assert session.run_end == "answered"
    await texts(session)
    lives = session.lives.filter(to_revision=None).select_related("message")
    alive = {one.message.replaces or one.number async for one in lives}
    assert {1, 2, 3, 4} <= alive
    assert await lives.filter(number=3).aexists()
    assert len(model.requests) == 15
    applied = await session.stored_compactions.afirst()
    assert applied is not None and applied.used_after is not None
    assert applied.used_after < applied.used_before
    turn = await StoredTurn.objects.aget(session=session, number=applied.turn)
    assert (turn.action, turn.after) == (applied.stages[-1]["stage"], applied.after)


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
    command = '{"command": "touch began; sleep 600; touch ended"}'
    script(calls("run_command", command, "c1"), says("It was stopped."))
    owner, session = await asked(tmp_path, "work")
    working = asyncio.create_task(runner.run(session.pk))
    await asyncio.to_thread(wait_until, (tmp_path / "began").exists)
    await database_sync_to_async(acts.stop)(owner, session)
    async with asyncio.timeout(PATIENCE):
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


async def test_a_mode_changed_while_a_run_is_at_work_holds_from_its_next_turn_on(
    tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    owner, session = await asked(tmp_path, "write it")

    def planned(messages: Sequence[Any]) -> dict[str, Any]:
        in_a_thread(lambda: acts.change_mode(owner, session, "plan"))
        return calls("start_task", '{"command": "sleep 60"}', "c1")

    write = calls("write_file", '{"path": "a", "content": "x"}', "c2")
    model = script(planned, write, says("I may not."))
    await runner.run(session.pk)
    said = await texts(session)
    assert "Mode: plan." in said[0] and "not allowed in plan mode" in said[-2]
    assert not (tmp_path / "a").exists()
    first, *later = [[tool["function"]["name"] for tool in one.tools] for one in model.requests]
    assert "write_file" in first and all("write_file" not in names for names in later)
    assert (session.run_end, session.turns, session.runs) == ("answered", 3, 1)
    told = await kinds(session)
    assert told.count("system_rebuilt") == 1 and "recovered" not in told
    assert [turn.break_reason async for turn in session.stored_turns.order_by("number")] == [
        *("", "schemas", ""),
    ]
