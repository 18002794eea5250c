"""Tool calls that a person allows, alters or denies: what is run, told and audited."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from builders import a_session, a_user
from calls import Caller, problem
from django.contrib.auth.models import User
from django.utils import timezone
from working import ECHO_RAN, calls, calls_of, kinds_of, said_in, says, times_ran, worked

from agentcore.llm.scripted import ScriptedModel
from hermesweb import acts, audit, lives, spending, tasks
from hermesweb.acts import Invalid
from hermesweb.models import (
    AgentSession,
    AuditEntry,
    Instruction,
    Profile,
    SessionEvent,
    Webhook,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("woken")]

KEY = "sk-ant-0123456789abcdefghijklmn"


@pytest.fixture
def ada() -> User:
    return User.objects.filter(username="ada").first() or a_user("ada")


def test_it_waits_without_a_worker_and_says_what_for(held: AgentSession) -> None:
    assert (
        held.holder,
        held.run_open,
        held.turns,
        times_ran(held),
    ) == ("", True, 0, 0)
    told = held.events.latest("seq")
    question = Instruction.objects.get(kind="approval")
    assert told.kind == "approval_wanted"
    named = {name: told.data[name] for name in ("subject", "tool", "arguments", "question")}
    assert named == {
        "subject": "c1",
        "tool": "run_command",
        "arguments": ECHO_RAN,
        "question": question.pk,
    }
    assert question.ends_at - question.at == pytest.approx(
        timedelta(minutes=30), abs=timedelta(seconds=1)
    )
    # The request is stored and counted, though its turn goes on.
    turn = held.stored_turns.get()
    assert (turn.number, turn.ended_number, held.used) == (1, 3, turn.used)
    assert "turn_ended" not in kinds_of(held)


def test_a_yes_runs_it_once_and_the_turn_is_told_and_billed_once(
    ada: User, held: AgentSession
) -> None:
    acts.answer(ada, held, "c1", True)
    assert held.status == "queued"
    worked(held)
    assert (held.run_end, times_ran(held), held.turns) == ("answered", 1, 2)
    told = kinds_of(held)
    assert told.count("turn_ended") == 2 == held.stored_turns.count()
    assert "recovered" not in told and "repaired" not in told and told.count("run_started") == 1
    assert held.unpriced == 2
    ended = held.events.filter(kind="turn_ended").earliest("seq").data
    first = held.stored_turns.get(number=1)
    assert ended["ended"] == f"0.{first.ended_number}" == "0.4"
    given = held.events.get(kind="approval_given").data
    assert (given["allow"], given["by"], given["new"]) == (True, "ada", None)


def test_the_rows_are_those_of_a_run_that_nobody_was_asked_about(
    ada: User, started: Callable[..., AgentSession], script: Callable[..., ScriptedModel]
) -> None:
    lines = [calls_of(("list_dir", "{}"), ("write_file", '{"path": "a", "content": "x"}'))]
    asked = started(*lines)
    acts.answer(ada, asked, "c1", True)
    worked(asked)
    script(*lines, says("done"))
    (Path(asked.workspace) / "a").unlink()
    free = a_session(ada, workspace=asked.workspace, profile="balanced")
    acts.send(ada, free, "go")
    worked(free)
    assert [one.wire for one in lives.snapshot_of(asked).messages] == [
        one.wire for one in lives.snapshot_of(free).messages
    ]
    columns = ("number", "requested_number", "ended_number", "used", "breakdown", "stable_prefix")
    mine, theirs = (list(one.stored_turns.values_list(*columns)) for one in (asked, free))
    assert mine == theirs


def test_altered_arguments_are_run_told_and_audited_and_the_message_stays(
    ada: User, held: AgentSession
) -> None:
    before = held.messages.get(number=3).text
    acts.answer(ada, held, "c1", True, arguments={"command": "echo other"})
    worked(held)
    assert (times_ran(held), held.messages.get(number=3).text) == (0, before)
    result = said_in(held)[3]
    assert result.startswith(
        "[a person altered the arguments before run_command ran; in place of yours it ran with "
        '{"command":"echo other"}]\nrun_command (exit code 0'
    )
    # What the tools brought in is told of what was run.
    assert held.messages.get(number=4).command == "echo other"
    given = held.events.get(kind="approval_given").data
    assert (given["old"], given["new"]) == (ECHO_RAN, '{"command":"echo other"}')
    started = held.events.get(kind="tool_started").data
    assert started["arguments"] == '{"command":"echo other"}'
    entry = AuditEntry.objects.get(chain=held.pk, action="approval_given")
    # Digests: an erasure of the message must not leave its text in the audit.
    assert entry.who == "ada" and not {"old", "new", "reason"} & entry.new.keys()
    assert len(entry.new["sha256"]["old"]) == len(entry.new["sha256"]["new"]) == 64
    assert audit.broken(AuditEntry.objects.filter(chain=held.pk).order_by("place")) is None


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"command": 3}, "command is a string"),
        ({}, "the argument command is missing"),
        ({"command": "ls", "shell": "zsh"}, "no argument 'shell'"),
        ({"command": "x" * 1_000_001}, "are over the 1,000,000"),
    ],
)
def test_arguments_that_the_tool_does_not_take_are_refused_and_it_still_waits(
    ada: User, held: AgentSession, arguments: dict[str, Any], why: str
) -> None:
    with pytest.raises(Invalid, match=why) as caught:
        acts.answer(ada, held, "c1", True, arguments=arguments)
    assert caught.value.field == "arguments"
    held.refresh_from_db()
    assert held.status == "waiting"
    assert Instruction.objects.get(kind="approval").state == "queued"


def test_a_masked_secret_stays_what_it_was_and_is_not_edited_in_part(
    ada: User, started: Callable[..., AgentSession]
) -> None:
    command = f"echo {KEY} >> keys"
    session = started(calls("run_command", json.dumps({"command": command}), "c1"))
    caller = Caller(ada)
    (item,) = caller.get(f"sessions/{session.pk}/approvals").json()["items"]
    assert KEY not in item["arguments"] and item["masked"] == 1
    shown = json.loads(item["arguments"])
    with pytest.raises(Invalid, match="in place of a secret"):
        acts.answer(ada, session, "c1", True, arguments={"command": f"{shown['command']}2"})
    acts.answer(ada, session, "c1", True, arguments={**shown, "timeout": 9})
    worked(session)
    assert (Path(session.workspace) / "keys").read_text() == f"{KEY}\n"
    assert KEY not in str(list(session.events.values_list("data", flat=True)))


def test_a_no_is_read_by_the_model_with_its_reason(ada: User, held: AgentSession) -> None:
    acts.answer(ada, held, "c1", False, reason="read the log first")
    worked(held)
    assert said_in(held)[3] == "[run_command was not run: a person denied it: read the log first]"
    assert (times_ran(held), held.run_end, held.hold) == (
        0,
        "answered",
        False,
    )
    row = held.messages.get(number=4)
    assert (row.tool, row.status) == ("run_command", "failed")
    assert held.events.get(kind="approval_given").data["reason"] == "read the log first"


def test_nobody_in_the_time_of_the_profile_is_a_no_that_says_so(held: AgentSession) -> None:
    tasks.sweep()
    held.refresh_from_db()
    assert held.status == "waiting"
    Instruction.objects.filter(kind="approval").update(ends_at=timezone.now())
    tasks.sweep()
    tasks.sweep()
    held.refresh_from_db()
    assert held.status == "queued"
    worked(held)
    assert "nobody answered within" in said_in(held)[3] and times_ran(held) == 0
    given = held.events.get(kind="approval_given").data
    assert (given["late"], given["by"]) == (True, "")


def test_without_minutes_it_waits_as_long_as_it_takes(
    ada: User, careful: Profile, started: Callable[..., AgentSession]
) -> None:
    values = careful.current.values
    acts.save_profile(ada, "careful", {**values, "approvals": {"goal": ["command"], "minutes": 0}})
    session = started(calls("run_command", ECHO_RAN, "c1"))
    assert Instruction.objects.get(kind="approval").ends_at is None
    tasks.sweep()
    session.refresh_from_db()
    assert session.status == "waiting"


def test_the_time_in_which_it_waits_is_not_counted_as_the_runs(
    ada: User, started: Callable[..., AgentSession]
) -> None:
    session = started(calls_of(("run_command", ECHO_RAN), ("run_command", ECHO_RAN)))
    acts.answer(ada, session, "c0", True)
    acts.answer(ada, session, "c1", True)
    # Asked 10 minutes after the start, answered after 20 and 50 minutes.
    for kind, minutes in (("run_started", [60]), ("approval_wanted", [50, 50])):
        move(session, kind, minutes)
    move(session, "approval_given", [40, 10])
    Instruction.objects.filter(kind="approval").update(at=timezone.now() - timedelta(minutes=50))
    session.refresh_from_db()
    used = time.monotonic() - spending.of_run(session).started
    assert used == pytest.approx(20 * 60, abs=30)


def move(session: AgentSession, kind: str, minutes: Sequence[int]) -> None:
    """Let events of a kind have happened so long ago."""
    for event, ago in zip(session.events.filter(kind=kind).order_by("seq"), minutes, strict=True):
        SessionEvent.objects.filter(pk=event.pk).update(at=timezone.now() - timedelta(minutes=ago))


def test_the_run_goes_on_when_the_last_call_of_a_group_is_answered(
    ada: User, started: Callable[..., AgentSession], woken: list[str]
) -> None:
    session = started(
        calls_of(("run_command", ECHO_RAN), ("list_dir", "{}"), ("run_command", ECHO_RAN))
    )
    woken.clear()
    acts.answer(ada, session, "c2", True)
    assert (session.status, woken) == ("waiting", [])
    acts.answer(ada, session, "c0", False)
    assert (session.status, woken) == ("queued", [session.pk])
    worked(session)
    assert (times_ran(session), session.run_end) == (1, "answered")


def test_a_call_that_is_named_like_a_compaction_is_not_taken_for_one(
    ada: User, started: Callable[..., AgentSession]
) -> None:
    session = started(calls("run_command", ECHO_RAN, "compaction"))
    with pytest.raises(Invalid, match="was asked here"):
        acts.answer(ada, session, "compaction", True)
    acts.answer(
        ada, session, "compaction", True, question=Instruction.objects.get(kind="approval").pk
    )
    worked(session)
    assert times_ran(session) == 1


def test_each_mode_asks_for_its_own_effects(started: Callable[..., AgentSession]) -> None:
    write = calls("write_file", '{"path": "a", "content": "x"}', "c1")
    assert started(write).status == "waiting"
    # Debug offers no writing, so there is nothing to ask for.
    assert started(write, mode="debug").run_end == "answered"
    assert started(calls("run_command", ECHO_RAN, "c1"), mode="debug").status == "waiting"


def test_the_api_lists_and_answers_for_the_owner_alone(
    ada: User, started: Callable[..., AgentSession]
) -> None:
    session = started(
        calls_of(("run_command", ECHO_RAN), ("write_file", '{"path": "a", "content": "x"}'))
    )
    caller, path = Caller(ada), f"sessions/{session.pk}/approvals"
    items = caller.get(path).json()["items"]
    assert [(one["call"], one["tool"], one["masked"]) for one in items] == [
        ("c0", "run_command", 0),
        ("c1", "write_file", 0),
    ]
    assert json.loads(items[0]["arguments"]) == json.loads(ECHO_RAN)
    stranger = Caller(a_user("bob"))
    assert stranger.get(path).status_code == 404
    assert stranger.post(f"{path}/c0", {"allow": True}).status_code == 404
    assert problem(caller.post(f"{path}/c9", {"allow": True})) == (422, "invalid", "call")
    wrong: Any = caller.post(f"{path}/c0", {"allow": True, "arguments": {"command": 1}})
    assert problem(wrong) == (422, "invalid", "arguments")
    long: Any = caller.post(f"{path}/c0", {"allow": False, "reason": "x" * 2_001})
    assert problem(long)[0] == 422
    told = caller.post(f"{path}/c0", {"allow": True, "arguments": {"command": "echo other"}})
    assert (told.status_code, told.json()["status"]) == (200, "waiting")
    assert problem(caller.post(f"{path}/c0", {"allow": False})) == (409, "answered", None)
    question = {"allow": False, "reason": "no", "question": items[1]["question"]}
    assert caller.post(f"{path}/c1", question).json()["status"] == "queued"
    assert caller.get(path).json()["items"] == []


def test_a_run_that_waits_is_an_occasion_and_is_told_to_a_webhook(
    careful: Profile, started: Callable[..., AgentSession]
) -> None:
    hook = Webhook.objects.create(
        owner=a_user(), url="https://hook.example/in", occasions=["approval_wanted"]
    )
    session = started(calls("run_command", ECHO_RAN, "c1"))
    event = session.events.get(kind="approval_wanted")
    assert event.data["occasions"] == ["approval_wanted"]
    delivery = hook.deliveries.get()
    question = session.instructions.get(kind="approval").pk
    assert (delivery.occasion, delivery.facts["tool"]) == ("approval_wanted", "run_command")
    assert (delivery.facts["question"], delivery.facts["until"]) == (question, event.data["until"])
    assert "echo" not in str(delivery.facts)
