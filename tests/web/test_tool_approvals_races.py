"""What may happen while a run waits for a person to allow a call: one outcome for each."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from builders import a_user
from calls import Caller
from django.contrib.auth.models import User
from django.db import connections
from django.utils import timezone
from dying import Died, Dying
from scenes import compacted
from working import ECHO_RAN, calls, calls_of, kinds_of, said_in, says, times_ran, worked

from agentcore.compaction.asked import CompactionOptions
from agentcore.compaction.repair import INTERRUPTED
from agentcore.snapshot import State
from hermesweb import acts, lives, runner, tasks
from hermesweb.acts import Invalid, Refused
from hermesweb.models import AgentSession, AuditEntry, Instruction
from hermesweb.recorder import record

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("woken")]


@pytest.fixture
def ada() -> User:
    return User.objects.filter(username="ada").first() or a_user("ada")


def test_a_stray_task_and_a_dead_worker_change_nothing(held: AgentSession) -> None:
    seq = held.seq
    worked(held)
    assert (held.status, held.seq) == ("waiting", seq)
    # The worker died after the question was stored and before it gave the lease back.
    AgentSession.objects.filter(pk=held.pk).update(
        status="running", holder="dead", lease_ends=timezone.now() - timedelta(seconds=1)
    )
    worked(held)
    assert (held.status, held.seq, held.holder) == ("waiting", seq, "")
    assert Instruction.objects.filter(kind="approval").count() == 1


def test_of_two_people_one_answers_and_the_other_is_told(ada: User, held: AgentSession) -> None:
    acts.answer(ada, held, "c1", False)
    for allow in (True, False):
        with pytest.raises(Refused, match="answered already: ada denied it") as caught:
            acts.answer(a_user("bob") if allow else ada, held, "c1", allow)
        assert caught.value.code == "answered"
    worked(held)
    assert times_ran(held) == 0
    with pytest.raises(Refused, match="answered already"):
        acts.answer(ada, held, "c1", True)


def test_of_answers_in_the_same_moment_one_holds(ada: User, held: AgentSession) -> None:
    people = [ada, *(a_user(name) for name in ("bob", "cem", "dee"))]
    together = threading.Barrier(len(people))
    told: list[str] = []

    def say(who: User) -> None:
        together.wait()
        try:
            acts.answer(who, AgentSession.objects.get(pk=held.pk), "c1", who is not ada)
            told.append(f"{who} holds")
        except Refused as refusal:
            told.append(refusal.code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=say, args=[who]) for who in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told.count("answered") == len(people) - 1
    given = held.events.get(kind="approval_given").data
    assert f"{given['by']} holds" in told
    worked(held)
    assert times_ran(held) == given["allow"]


def test_a_stale_question_is_refused_though_the_model_uses_the_id_again(
    ada: User, started: Callable[..., AgentSession]
) -> None:
    again = '{"command": "echo ran >> runs; echo again"}'
    session = started(calls("run_command", ECHO_RAN, "c1"), calls("run_command", again, "c1"))
    first = Instruction.objects.get(kind="approval")
    acts.answer(ada, session, "c1", False)
    worked(session)
    assert session.status == "waiting"
    with pytest.raises(Refused, match="answered already"):
        acts.answer(ada, session, "c1", True, question=first.pk)
    with pytest.raises(Invalid, match="was asked here"):
        acts.answer(ada, session, "compaction", True)
    acts.answer(ada, session, "c1", True)
    worked(session)
    assert (times_ran(session), session.run_end) == (1, "answered")


def test_a_stop_while_it_waits_ends_the_run_with_its_calls_unanswered(
    ada: User, held: AgentSession, woken: list[str]
) -> None:
    woken.clear()
    acts.stop(ada, held)
    assert (held.status, woken) == ("stopping", [held.pk])
    with pytest.raises(Refused, match="being stopped"):
        acts.answer(ada, held, "c1", True)
    worked(held)
    assert (held.status, held.run_end, times_ran(held)) == (
        "idle",
        "stopped",
        0,
    )
    assert said_in(held)[3] == "[run_command was not run: the run was stopped]"
    assert kinds_of(held)[-2:] == ["turn_ended", "run_ended"]
    with pytest.raises(Refused, match="no longer wanted"):
        acts.answer(ada, held, "c1", True)
    acts.resume(ada, held)
    worked(held)
    assert held.run_end == "answered"


def test_a_stop_after_the_yes_and_before_a_worker_runs_nothing(
    ada: User, held: AgentSession
) -> None:
    acts.answer(ada, held, "c1", True)
    acts.stop(ada, held)
    assert held.status == "stopping"
    worked(held)
    assert (held.run_end, times_ran(held)) == ("stopped", 0)


def test_a_stop_in_the_moment_of_asking_is_not_lost(
    ada: User, started: Callable[..., AgentSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped_then(session_id: str, fence: int, events: Sequence[Any]) -> int:
        seq = record(session_id, fence, events)
        if any(event.kind == "approval_wanted" for event in events):
            acts.stop(ada, AgentSession.objects.get(pk=session_id))
        return seq

    monkeypatch.setattr(runner, "record", stopped_then)
    session = started(calls("run_command", ECHO_RAN, "c1"))
    assert session.status == "stopping"
    worked(session)
    assert (session.run_end, times_ran(session)) == ("stopped", 0)


def test_an_answer_in_the_moment_of_asking_is_not_lost(
    ada: User,
    started: Callable[..., AgentSession],
    monkeypatch: pytest.MonkeyPatch,
    woken: list[str],
) -> None:
    def answered_then(session_id: str, fence: int, events: Sequence[Any]) -> int:
        seq = record(session_id, fence, events)
        if any(event.kind == "approval_wanted" for event in events):
            woken.clear()
            acts.answer(ada, AgentSession.objects.get(pk=session_id), "c1", True)
        return seq

    monkeypatch.setattr(runner, "record", answered_then)
    session = started(calls("run_command", ECHO_RAN, "c1"))
    assert (session.status, woken) == ("queued", [session.pk])
    worked(session)
    assert (session.run_end, times_ran(session)) == ("answered", 1)


def test_what_is_asked_of_the_list_meanwhile_waits_for_the_group(
    ada: User, held: AgentSession
) -> None:
    wishes = [
        acts.send(ada, held, "and be quick"),
        acts.compact_now(ada, held),
        acts.exclude(ada, held, [3]),
        acts.new_topic(ada, held),
    ]
    assert len(wishes) == 4 and held.status == "waiting"
    worked(held)
    assert held.status == "waiting" and lives.snapshot_of(held).messages[-1].calls
    with pytest.raises(Refused, match="waits for an answer"):
        acts.resume(ada, held)
    acts.answer(ada, held, "c1", True)
    worked(held)
    assert (held.run_end, times_ran(held)) == ("answered", 1)
    wished = held.instructions.exclude(kind="approval").order_by("pk")
    states = list(wished.values_list("kind", "state"))
    # The newest group is out of reach of a compaction, and an exclusion of it is refused.
    assert states[1:] == [
        ("message", "taken"),
        ("compact", "taken"),
        ("exclude", "withdrawn"),
        ("new_topic", "taken"),
    ]
    assert held.stored_compactions.get().state == "noop"


def test_a_preview_while_it_waits_leaves_the_group_out_and_is_applied_after_it(
    ada: User, started: Callable[..., AgentSession], tmp_path: Path
) -> None:
    (tmp_path / "long.txt").write_text("a line\n" * 400)
    reads = [calls("read_file", '{"path": "long.txt"}', f"r{n}") for n in range(4)]
    session = started(*reads, calls("run_command", ECHO_RAN, "c1"))
    plan = CompactionOptions(stage="mask", keep_last=1)
    preview, planned = acts.preview(ada, session, plan)
    assert planned.result.changed and planned.before.used == session.used
    acts.compact_now(ada, session, plan, preview=preview.pk)
    assert (session.status, session.revision) == ("waiting", 0)
    acts.answer(ada, session, "c1", True)
    worked(session)
    assert (session.run_end, session.revision, times_ran(session)) == ("answered", 1, 1)
    applied = session.stored_compactions.get()
    assert (applied.state, applied.before - applied.after) == (
        "applied",
        planned.result.old.sizes.bytes - planned.result.new.sizes.bytes,
    )


def test_while_it_waits_nothing_is_undone_that_its_request_was_sent_with(
    ada: User, started: Callable[..., AgentSession]
) -> None:
    reads = [calls("list_dir", "{}", f"l{n}") for n in range(3)]
    session = started(*reads, says("first"), calls("run_command", ECHO_RAN, "c1"))
    compacted(session, start=2, stop=4)
    acts.send(ada, session, "more")
    worked(session)
    assert (session.status, session.revision) == ("waiting", 1)
    with pytest.raises(Refused, match="a request was sent since, in turn 5: fork"):
        acts.undo(ada, session, 1)
    acts.restore(ada, session, [3])
    assert (session.status, session.revision) == ("waiting", 1)
    acts.answer(ada, session, "c1", True)
    worked(session)
    assert (session.revision, session.run_end, times_ran(session)) == (2, "answered", 1)
    assert {3, 4} <= {one.number for one in lives.snapshot_of(session).messages}


def test_a_run_that_fails_before_it_takes_the_answer_runs_nothing_and_can_be_resumed(
    ada: User, held: AgentSession
) -> None:
    folder = Path(held.workspace)
    acts.answer(ada, held, "c1", True)
    elsewhere = folder.rename(folder.with_name("elsewhere"))
    worked(held)
    assert (held.status, held.run_end) == ("failed", "failed")
    elsewhere.rename(folder)
    acts.resume(ada, held)
    worked(held)
    assert (held.run_end, times_ran(held), held.turns) == ("answered", 0, 2)
    assert said_in(held)[3] == INTERRUPTED.format(tool="run_command")
    assert kinds_of(held).count("turn_ended") == held.stored_turns.count() == 2


def test_a_fork_of_a_waiting_state_has_an_interrupted_result_and_goes_on(
    ada: User, started: Callable[..., AgentSession]
) -> None:
    session = started(calls_of(("list_dir", "{}"), ("run_command", ECHO_RAN)))
    fork = acts.fork(ada, session, State(session.revision, session.last_number))
    assert said_in(fork)[-1] == INTERRUPTED.format(tool="run_command")
    assert kinds_of(fork) == ["forked", "repaired"]
    assert fork.bytes == lives.snapshot_of(fork).sizes.bytes
    assert (fork.status, fork.run_end) == ("idle", "stopped")
    assert not fork.instructions.exists()
    acts.resume(ada, fork)
    worked(fork)
    assert (fork.run_end, times_ran(fork)) == ("answered", 0)
    session.refresh_from_db()
    assert session.status == "waiting"


def test_it_is_not_archived_while_it_waits_and_a_deleted_one_takes_no_answer(
    ada: User, held: AgentSession
) -> None:
    with pytest.raises(Refused, match="stop the run first"):
        acts.archive(ada, held)
    acts.delete(ada, held)
    path = f"sessions/{held.pk}/approvals/c1"
    assert Caller(ada).post(path, {"allow": True}).status_code == 404
    tasks.sweep()


def test_the_message_whose_call_waits_is_not_erased_but_later_all_of_it_is(
    held: AgentSession, ada: User
) -> None:
    eve = a_user("eve", is_staff=True)
    with pytest.raises(Refused, match="waits for an answer"):
        acts.erase(eve, held, 3)
    acts.erase(eve, held, 2)
    acts.answer(ada, held, "c1", True, arguments={"command": "echo other"})
    worked(held)
    assert held.run_end == "answered"
    acts.erase(eve, held, 3)
    acts.erase(eve, held, 4)
    rows = [
        held.events.values(),
        held.instructions.values(),
        held.messages.values(),
    ]
    kept = str([list(one) for one in rows])
    assert "echo ran" not in kept
    assert "echo other" not in str([list(one) for one in rows[1:]])
    assert "echo other" not in str(AuditEntry.objects.values())


def test_a_mode_that_no_longer_offers_the_tool_runs_nothing_of_it(
    ada: User, held: AgentSession
) -> None:
    acts.change_mode(ada, held, "plan")
    assert held.status == "waiting"
    with pytest.raises(Invalid, match="not allowed in plan mode"):
        acts.answer(ada, held, "c1", True, arguments={"command": "echo other"})
    acts.answer(ada, held, "c1", True)
    worked(held)
    assert "not allowed in plan mode" in said_in(held)[3]
    assert (times_ran(held), held.run_end) == (0, "answered")


@pytest.mark.parametrize("after", [False, True], ids=["before the write", "after the write"])
def test_a_worker_may_die_at_every_write_and_what_was_allowed_runs_once_at_most(
    ada: User,
    started: Callable[..., AgentSession],
    monkeypatch: pytest.MonkeyPatch,
    after: bool,
) -> None:
    writes = dies_at = 0
    while writes >= dies_at:
        dies_at += 1
        monkeypatch.setattr(runner, "record", record)
        lines = [
            calls_of(("run_command", ECHO_RAN), ("run_command", ECHO_RAN)),
            *[says("done")] * 3,
        ]
        session = started(*lines)
        dying = Dying(dies_at, after=after)
        monkeypatch.setattr(runner, "record", dying)
        acts.answer(ada, session, "c0", True)
        acts.answer(ada, session, "c1", False)
        for _ in range(2):
            with contextlib.suppress(Died):
                async_to_sync(runner.run)(session.pk)
            AgentSession.objects.filter(pk=session.pk).update(holder="", lease_ends=None)
        session.refresh_from_db()
        assert (session.status, session.run_end) == ("idle", "answered")
        said = said_in(session)
        assert times_ran(session) <= 1
        assert any("a person denied it" in text for text in said)
        assert kinds_of(session).count("turn_ended") == session.stored_turns.count() == 2
        (Path(session.workspace) / "runs").unlink(missing_ok=True)
        writes = dying.writes
    assert writes == 4
