"""Public cases of the areas goal, race and records once more, through pages, API and rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import a_user
from calls import Caller
from cases.given import expand
from django.contrib.auth.models import User
from django.test import Client
from scenes import html_of, words_of
from working import says, worked

from agentcore.errors import ModelError
from agentcore.invariants import legal
from agentcore.llm.scripted import ScriptedModel
from agentcore.messages import Message, Role
from hermesweb import acts, lives
from hermesweb.imports import import_recording
from hermesweb.models import AgentSession, ModelEndpoint, Profile
from hermesweb.states import state_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("woken")]


@pytest.fixture
def ada(client: Client) -> User:
    user = a_user("ada")
    client.force_login(user)
    ModelEndpoint.objects.create(name="scripted", model="m")
    return user


@pytest.fixture
def given(shared: Path) -> Callable[[str], dict[str, Any]]:
    def read(name: str) -> dict[str, Any]:
        text = (shared / "cases" / f"{name}.json").read_text()
        found: dict[str, Any] = expand(json.loads(text)["given"])
        return found

    return read


def forked(ada: User, messages: list[dict[str, Any]], profile: str = "") -> AgentSession:
    """The case's list, imported and gone on with."""
    recorded = import_recording(ada, json.dumps(messages).encode(), "case.json")
    state = state_of(recorded, recorded.state)
    here = str(Path(__file__).parent)
    return acts.fork(ada, recorded, state, workspace=here, model="scripted", profile=profile)


def compact(ada: User, session: AgentSession, **wish: Any) -> dict[str, Any]:
    path = f"sessions/{session.pk}/compactions"
    wish = {"stage": "keep_recent", "keep_last": 1, **wish}
    made = Caller(ada).post(path, wish)
    assert made.status_code == 202, made.content
    worked(session)
    found: dict[str, Any] = Caller(ada).get(f"{path}/{made.json()['number']}").json()
    return found


def listed(session: AgentSession) -> list[Message]:
    messages = list(lives.snapshot_of(session).messages)
    assert not legal(messages)
    return messages


def said(session: AgentSession) -> list[str]:
    return [one.text for one in listed(session) if one.role is Role.USER]


def test_an_answered_head_does_not_become_immortal(
    ada: User, given: Any, script: Callable[..., ScriptedModel]
) -> None:
    case = given("answered-head-becomes-immortal")
    script(*[says("Done.")] * 9)
    session = forked(ada, case["messages"])
    for count in range(1, case["compactions"] + 1):
        assert compact(ada, session, summary=f"SUM {count}")["state"] == "applied"
        assert sum(one.is_summary for one in listed(session)) == 1
        acts.send(ada, session, f"And part {count}?")
        worked(session)
    assert "What is new in release 3?" not in said(session)
    assert said(session)[-1] == f"And part {case['compactions']}?"


def test_pins_are_kept_once_in_their_order_until_they_are_taken_away(
    ada: User, given: Any, script: Callable[..., ScriptedModel]
) -> None:
    case = given("pinned-message-kept-once-in-order")
    script(*[says("Done.")] * 9)
    session = forked(ada, case["messages"])
    numbers = sorted(index + 1 for index in case["pinned"])
    path = f"sessions/{session.pk}/messages/pin"
    assert Caller(ada).put(path, {"numbers": numbers}).status_code == 200
    before = {one.number: one.wire for one in listed(session)}
    for _ in range(case["compactions"]):
        compact(ada, session, summary="SUM")
        kept = [one for one in listed(session) if one.number in numbers]
        assert [one.number for one in kept] == numbers
        assert [one.wire for one in kept] == [before[number] for number in numbers]
        # The call of the pinned result.
        assert 5 in [one.number for one in listed(session)]
        acts.send(ada, session, "go on")
        worked(session)
    Caller(ada).delete(path, {"numbers": [7]})
    compact(ada, session, summary="SUM")
    assert 7 not in [one.number for one in listed(session)]


@pytest.mark.parametrize("fails", [False, True])
def test_a_compaction_leaves_the_queue_alone(
    ada: User, given: Any, script: Callable[..., ScriptedModel], fails: bool
) -> None:
    case = given("compact-deletes-the-queue")
    down = [ModelError("down")] if fails else [says("SUM of it")]
    script(*down, *[says("Done.")] * 9)
    session = forked(ada, case["messages"])
    caller, path = Caller(ada), f"sessions/{session.pk}"
    assert caller.post(f"{path}/compactions", {"stage": "keep_recent"}).status_code == 202
    for text in case["queue"]:
        assert caller.post(f"{path}/instructions", {"text": text}).status_code == 202
    worked(session)
    assert said(session)[-2:] == case["queue"]
    assert not session.instructions.filter(state="queued").exists()


def test_a_failed_summary_and_the_drop_in_its_place_are_both_recorded(
    client: Client, ada: User, given: Any, script: Callable[..., ScriptedModel]
) -> None:
    case = given("fallback-not-recorded")
    script(*[ModelError("the endpoint is down")] * 3)
    values = Profile.objects.get(name="small").current.values
    noting = {**values, "summary": {**values["summary"], "on_failure": "note"}}
    acts.save_profile(ada, "noting", noting, accept_warnings=True)
    session = forked(ada, case["messages"], "noting")
    made = compact(ada, session)
    assert (made["state"], made["changed"], made["reason"]) == ("applied", True, "error")
    dropped = [one["number"] for one in made["fates"] if one["fate"] == "dropped"]
    assert dropped == [2, 3, 4, 5]
    kinds = list(session.events.order_by("seq").values_list("kind", flat=True))
    assert {"compaction_failed", "compaction_ended"} <= set(kinds)
    words = words_of(html_of(client, f"/sessions/{session.pk}/compactions/{made['number']}/"))
    assert "the endpoint is down" in words and "dropped 4" in words
    assert "[Messages omitted" in listed(session)[1].text


def test_interrupted_parallel_calls_are_answered_once_each(
    ada: User, given: Any, script: Callable[..., ScriptedModel]
) -> None:
    case = given("interrupted-parallel-calls")
    script(*[says("a is done.")] * 3)
    session = forked(ada, case["messages"])
    acts.send(ada, session, "what got done?")
    worked(session)
    results = {
        one.value()["tool_call_id"]: one.text for one in listed(session) if one.role is Role.TOOL
    }
    assert results["i1"] == "a ok"
    assert "interrupted" in results["i2"] and "interrupted" in results["i3"]
    assert said(session)[-1] == "what got done?"
