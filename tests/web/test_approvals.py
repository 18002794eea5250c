"""Runs that wait for a person before they compact: no worker is held, and one answer counts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from builders import a_session, a_user
from calls import Caller, problem
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from scenes import html_of
from working import calls, says

from agentcore.llm.scripted import ScriptedModel
from hermesweb import acts, endpoints, runner, tasks
from hermesweb.acts import Refused
from hermesweb.models import AgentSession, Instruction

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("woken")]
READS = 14


@pytest.fixture
def ada() -> User:
    return a_user("ada")


@pytest.fixture
def waiting(
    ada: User,
    tmp_path: Path,
    script: Callable[..., ScriptedModel],
    monkeypatch: pytest.MonkeyPatch,
) -> AgentSession:
    """A run that filled its small budget and asks."""
    monkeypatch.setattr(endpoints, "OWN", ("scripted",))
    (tmp_path / "long.txt").write_text("a line of text\n" * 200)
    reads = [calls("read_file", '{"path": "long.txt"}', f"c{n}") for n in range(READS)]
    script(*reads, says("done"))
    session = a_session(ada, workspace=str(tmp_path), automatic="ask")
    acts.send(ada, session, "read it again and again")
    worked(session)
    return session


def worked(session: AgentSession) -> None:
    async_to_sync(runner.run)(session.pk)
    session.refresh_from_db()


def kinds(session: AgentSession) -> list[str]:
    return list(session.events.order_by("seq").values_list("kind", flat=True))


def test_it_asks_once_and_holds_no_worker(waiting: AgentSession) -> None:
    assert (waiting.status, waiting.holder, waiting.run_open) == ("waiting", "", True)
    assert kinds(waiting)[-1] == "approval_wanted"
    assert waiting.compactions == 0
    worked(waiting)
    assert waiting.status == "waiting"
    assert Instruction.objects.filter(kind="approval").count() == 1


def test_its_question_is_no_part_of_the_queue(ada: User, waiting: AgentSession) -> None:
    caller = Caller(ada)
    assert caller.get(f"sessions/{waiting.pk}").json()["queue"] == 0
    acts.send(ada, waiting, "then stop")
    assert waiting.events.latest("seq").data["place"] == 1
    assert caller.get(f"sessions/{waiting.pk}").json()["queue"] == 1
    assert len(caller.get(f"sessions/{waiting.pk}/instructions").json()["items"]) == 1


def test_a_yes_compacts_once_and_the_next_time_it_asks_again(
    ada: User, waiting: AgentSession
) -> None:
    acts.answer(ada, waiting, "compaction", True)
    assert waiting.status == "queued"
    worked(waiting)
    assert waiting.compactions == 1
    told = kinds(waiting)
    assert "recovered" not in told and told.count("run_started") == 1
    while waiting.status == "waiting":
        assert kinds(waiting)[-1] == "approval_wanted"
        acts.answer(ada, waiting, "compaction", True)
        worked(waiting)
    assert waiting.run_end == "answered"
    assert waiting.compactions == kinds(waiting).count("approval_given") >= 1


def test_a_no_goes_on_and_rests_until_the_list_has_grown(ada: User, waiting: AgentSession) -> None:
    acts.answer(ada, waiting, "compaction", False, reason="I need the results")
    assert waiting.hold and waiting.hold_until > waiting.used
    turns = waiting.turns
    worked(waiting)
    assert waiting.turns > turns and waiting.compactions == 0
    event = waiting.events.get(kind="approval_given")
    assert (event.data["allow"], event.data["reason"]) == (False, "I need the results")


def test_of_two_answers_the_first_one_holds(ada: User, waiting: AgentSession) -> None:
    acts.answer(ada, waiting, "compaction", True)
    with pytest.raises(Refused, match="answered already: ada allowed it"):
        acts.answer(ada, waiting, "compaction", False)


def test_nobody_in_fifteen_minutes_is_a_no(waiting: AgentSession) -> None:
    tasks.sweep()
    waiting.refresh_from_db()
    assert waiting.status == "waiting"
    question = Instruction.objects.get(kind="approval")
    assert question.ends_at - question.at >= timedelta(minutes=14, seconds=59)
    Instruction.objects.filter(kind="approval").update(ends_at=timezone.now())
    tasks.sweep()
    waiting.refresh_from_db()
    assert (waiting.status, waiting.hold) == ("queued", True)
    assert waiting.events.get(kind="approval_given").data["reason"] == "nobody answered"


def test_the_page_asks_and_takes_the_answer(
    client: Client, ada: User, waiting: AgentSession
) -> None:
    client.force_login(ada)
    html = html_of(client, f"/sessions/{waiting.pk}/")
    assert 'id="approval"' in html and "may the list be compacted?" in html
    client.post(f"/sessions/{waiting.pk}/approvals/compaction", {"allow": "yes"})
    waiting.refresh_from_db()
    assert waiting.status == "queued"
    assert 'id="approval"' not in html_of(client, f"/sessions/{waiting.pk}/")


def test_the_api_answers_and_the_question_is_not_in_the_queue(
    ada: User, waiting: AgentSession
) -> None:
    caller, path = Caller(ada), f"sessions/{waiting.pk}"
    assert caller.get(f"{path}/instructions").json()["items"] == []
    question = Instruction.objects.get(kind="approval")
    assert caller.delete(f"{path}/instructions/{question.pk}").status_code == 422
    wrong: Any = caller.post(f"{path}/approvals/call_1", {"allow": True})
    assert problem(wrong) == (422, "invalid", "call")
    told = caller.post(f"{path}/approvals/compaction", {"allow": True})
    assert (told.status_code, told.json()["status"]) == (200, "queued")
    again = caller.post(f"{path}/approvals/compaction", {"allow": True})
    assert problem(again) == (409, "answered", None)
    other = Caller(a_user("bob")).post(f"{path}/approvals/compaction", {"allow": True})
    assert other.status_code == 404
