"""Erasing a text of a session that a worker has: done at its next border, whatever comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from builders import a_lease, a_session, a_user, added, said
from django.apps import apps
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.test import Client
from django.utils import timezone
from scenes import html_of, words_of
from working import calls, in_a_thread, says

from agentcore.errors import ModelError
from agentcore.invariants import legal
from agentcore.llm.scripted import ScriptedModel
from hermesweb import acts, audit, export, lease, lives, runner
from hermesweb.models import AgentSession, AuditEntry, Body, Instruction
from hermesweb.recorder import record

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("woken")]
SECRET = "tell-nobody-4711"
PROMPT = f"Always say {SECRET}, it is the goal of all of this."


@pytest.fixture(autouse=True)
def _any_folder(settings: Any, tmp_path: Path) -> None:
    settings.ALLOWED_ROOTS = [str(tmp_path)]


@pytest.fixture
def eve(client: Client) -> User:
    user = a_user("eve", is_staff=True)
    client.force_login(user)
    return user


def begun(eve: User, workspace: Path) -> AgentSession:
    """A session whose only mention of the secret is its first instruction, message 2."""
    return acts.create(
        eve, workspace=str(workspace), model="explorer", profile="small", instruction=PROMPT
    )


def worked_on(session: AgentSession) -> None:
    async_to_sync(runner.run)(session.pk)
    session.refresh_from_db()
    snapshot = lives.snapshot_of(session)
    assert not legal(snapshot.messages)
    assert snapshot.sizes.bytes == session.bytes
    seqs = list(session.events.order_by("seq").values_list("seq", flat=True))
    assert seqs == list(range(1, session.seq + 1))


def in_all_tables() -> str:
    rows = [list(model.objects.values()) for model in apps.get_models()]
    return f"{rows} {[body.text for body in Body.objects.all()]}"


def is_erased(session: AgentSession, number: int = 2) -> bool:
    row = session.messages.get(number=number)
    return row.erased and SECRET not in row.text


def during_the_reply(
    session: AgentSession, eve: User, then: Any, *numbers: int
) -> Callable[[Any], Any]:
    """A line of the model; while it is thought of, these messages are to be erased."""

    def line(messages: Any) -> Any:
        def wish() -> None:
            for number in numbers or (2,):
                assert isinstance(acts.erase(eve, session, number), Instruction)

        in_a_thread(wish)
        return then(messages) if callable(then) else then

    return line


def test_the_next_request_goes_without_the_text_and_no_table_holds_it(
    eve: User, tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    session = begun(eve, tmp_path)
    (tmp_path / "notes.txt").write_text(f"{SECRET} " * 800)
    reading = f'{{"path": "notes.txt", "why": "{SECRET}"}}'
    again = calls("glob", '{"pattern": "*"}', "c2")
    model = script(
        calls("read_file", reading, "c1"),
        during_the_reply(session, eve, again, 2, 3, 4),
        says("Done."),
    )
    worked_on(session)
    assert SECRET in str(model.requests[1].messages)
    assert SECRET not in str(model.requests[2].messages)
    assert SECRET not in in_all_tables()
    assert SECRET not in "".join(export.lines(session, raw=True))
    turn = session.stored_turns.get(number=3)
    assert (turn.break_reason, turn.break_number) == ("edit", 2)


def test_an_answer_is_202_with_a_place_and_the_page_tells_of_it(
    client: Client, eve: User, tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    script(says("Done."))
    session = begun(eve, tmp_path)
    worked_on(session)
    held = a_lease(session)
    path = f"/sessions/{session.pk}/messages/2/"
    answer = client.post(f"/api/v1{path}erase")
    waiting = Instruction.objects.get(kind="erase")
    assert (answer.status_code, answer.json()) == (202, {"id": waiting.pk, "place": 1})
    again = client.post(f"/api/v1{path}erase")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "queued")
    assert "queued to be erased" in words_of(html_of(client, path))
    told = client.post(f"/sessions/{session.pk}/messages/3/erase", follow=True)
    assert "Message 3 is queued to be erased" in words_of(told.content.decode())
    lease.release(held)
    worked_on(session)
    assert is_erased(session, 2) and is_erased(session, 3)


def test_both_the_wish_and_what_was_done_are_audited_without_the_text(
    eve: User, tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    session = begun(eve, tmp_path)
    script(during_the_reply(session, eve, says("Done.")))
    worked_on(session)
    entries = list(AuditEntry.objects.filter(chain=session.pk).order_by("place"))
    wish, done = entries[-2:]
    assert (wish.who, wish.action, wish.new["numbers"]) == ("eve", "instruction_queued", [2])
    assert (done.who, done.action, done.new["number"]) == ("eve", "erased", 2)
    assert len(done.new["sha256"]) == 64
    assert audit.broken(entries) is None
    assert session.events.get(kind="erased").data["by"] == "eve"


def fails(messages: Any) -> Any:
    raise ModelError("no such model")


def stops(session: AgentSession) -> Callable[[Any], Any]:
    def line(messages: Any) -> Any:
        in_a_thread(lambda: acts.stop(None, session))
        return says("Too late.")

    return line


@pytest.mark.parametrize("end", ["answered", "failed", "stopped"])
def test_it_is_done_however_the_run_ends(
    eve: User, tmp_path: Path, script: Callable[..., ScriptedModel], end: str
) -> None:
    session = begun(eve, tmp_path)
    then = {"answered": says("Done."), "failed": fails, "stopped": stops(session)}[end]
    script(during_the_reply(session, eve, then))
    worked_on(session)
    assert session.run_end == end or end == "stopped"
    assert (session.holder, is_erased(session)) == ("", True)
    assert SECRET not in in_all_tables()


def test_a_session_that_waits_without_a_worker_is_erased_from_at_once(
    eve: User, tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    session = begun(eve, tmp_path)
    held = a_lease(session)
    record(session.pk, held.fence, added(said(1, "s", "system"), said(2, PROMPT)))
    lease.release(held)
    AgentSession.objects.update(status="waiting", run_open=True)
    assert not isinstance(acts.erase(eve, session, 2), Instruction)
    assert is_erased(session)


@pytest.mark.parametrize("status", ["running", "queued", "idle", "failed", "blocked"])
def test_the_sweep_finds_what_a_killed_worker_left_to_be_erased(
    eve: User, script: Callable[..., ScriptedModel], status: str
) -> None:
    script(says("I go on."))
    session = a_session(eve, runs=1, run_end="stopped")
    held = a_lease(session)
    record(session.pk, held.fence, added(said(1, "s", "system"), said(2, SECRET)))
    assert isinstance(acts.erase(eve, session, 2), Instruction)
    ago = timezone.now() - timedelta(minutes=1)
    AgentSession.objects.update(status=status, lease_ends=ago, asked_at=ago)
    assert lease.lost() == [session.pk]
    worked_on(session)
    assert (session.holder, is_erased(session)) == ("", True)


def test_a_wish_that_is_withdrawn_before_it_is_written_leaves_the_text(
    eve: User,
    tmp_path: Path,
    script: Callable[..., ScriptedModel],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = begun(eve, tmp_path)
    model = script(
        during_the_reply(session, eve, calls("glob", '{"pattern": "*"}', "c1")), says("Done.")
    )

    def late(session_id: str, fence: int, events: Sequence[Any]) -> int:
        if any(event.kind == "erased" for event in events):
            wish = Instruction.objects.get(kind="erase")
            acts.withdraw(eve, session, wish.pk)
        return record(session_id, fence, events)

    monkeypatch.setattr(runner, "record", late)
    worked_on(session)
    assert not is_erased(session)
    assert SECRET in str(model.requests[1].messages)
    assert (session.run_end, session.turns) == ("answered", 2)


def test_only_staff_may_ask_for_it(eve: User, tmp_path: Path) -> None:
    session = begun(eve, tmp_path)
    a_lease(session)
    ada = a_user("ada")
    with pytest.raises(PermissionDenied, match="Only staff"):
        acts.erase(ada, session, 2)
    assert not Instruction.objects.filter(kind="erase").exists()
