"""Public cases of the areas goal, race and records once more, through pages, API and rows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from builders import a_user
from calls import Caller, problem
from cases.given import exchanges, expand
from django.contrib.auth.models import User
from django.test import Client
from scenes import html_of, words_of
from working import in_a_thread, says, worked

from agentcore.breakdown import SUMMARY_HEADER
from agentcore.errors import ModelError
from agentcore.invariants import legal
from agentcore.llm.scripted import ScriptedModel
from agentcore.messages import Message, Role
from hermesweb import acts, lives, tasks, wake
from hermesweb.imports import import_recording
from hermesweb.models import AgentSession, ModelEndpoint, Preview, Profile
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


def summary_of(session: AgentSession) -> str:
    (found,) = [one.text for one in listed(session) if one.is_summary]
    return found.removeprefix(f"{SUMMARY_HEADER}\n")


def small_talk(ada: User, session: AgentSession, count: int) -> None:
    """Go on for so many exchanges."""
    for place in range(count):
        acts.send(ada, session, f"small talk {place}")
        worked(session)


def wants_summary(asked: Sequence[Message]) -> bool:
    return asked[-1].text.startswith("Conversation to condense")


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


def test_facts_are_not_lost_over_generations(
    ada: User, given: Any, script: Callable[..., ScriptedModel]
) -> None:
    case = given("facts-lost-over-generations")
    inputs: list[str] = []

    def answers(asked: Sequence[Message]) -> dict[str, Any]:
        if not wants_summary(asked):
            return says("indeed")
        inputs.append(asked[-1].text)
        return says(" ".join(dict.fromkeys(re.findall(r"\S*\d\S*", asked[-1].text))))

    model = script(*[answers] * 99)
    session = forked(ada, [*case["messages"], *exchanges(20)])
    last = ""
    for _ in range(case["compactions"]):
        made = compact(ada, session, keep_last=case["keep_recent"])
        assert made["state"] == "applied"
        assert last in inputs[-1]
        last = summary_of(session)
        small_talk(ada, session, 10)
    assert len(inputs) == case["compactions"]
    assert all(fact in last for fact in ("eu-north-7", "INC-4471", "1847.20"))
    told = next(one.messages[0].text for one in model.requests if wants_summary(one.messages))
    assert all(word in told for word in ("exact values", "exact paths", "constraints of the user"))


def test_a_summary_does_not_nest_and_grow(
    ada: User, given: Any, script: Callable[..., ScriptedModel]
) -> None:
    case = given("summary-nests-and-grows")

    def answers(asked: Sequence[Message]) -> dict[str, Any]:
        if not wants_summary(asked):
            return says("indeed")
        earlier = re.search(r"earlier summary: (.*)", asked[-1].text)
        return says(f"OLD[{earlier[1] if earlier else ''}] NEW")

    script(*[answers] * 99)
    session = forked(ada, case["messages"])
    sizes = []
    for _ in range(case["compactions"]):
        small_talk(ada, session, 2)
        made = compact(ada, session, keep_last=case["keep_recent"])
        assert made["state"] == "applied"
        assert len(summary_of(session)) <= case["summary_cap_chars"]
        (whole,) = [one.text for one in listed(session) if one.is_summary]
        assert whole.count("[Earlier summary") == 1
        sizes.append(session.bytes)
    assert all(after <= 1.1 * before for before, after in zip(sizes, sizes[1:], strict=False))


def test_a_pending_user_message_is_not_summarized(
    client: Client, ada: User, given: Any, script: Callable[..., ScriptedModel]
) -> None:
    case = given("pending-user-message-summarised")
    question = case["messages"][-1]["content"] + "\n" + "log line\n" * 3_300
    values = Profile.objects.get(name="small").current.values
    stage = {**values["stages"][0], "strategy": "keep_recent", "at": 1.0, "above": True}
    stage = {**stage, "buffer": 0, "keep": case["keep_recent"]}
    budget = {"budget": case["budget_chars"], "unit": "chars", "reserve": 0}
    values = {**values, **budget, "counts_schemas": False, "result_share": False}
    acts.save_profile(ada, "case", {**values, "stages": [stage]}, accept_warnings=True)
    model = script(says("SUM about the importer"), *[says("Scaling.")] * 3)
    session = forked(ada, case["messages"][:-1], "case")
    acts.send(ada, session, question)
    worked(session)
    summary, sent, *_ = [asked.messages for asked in model.requests]
    assert wants_summary(summary) and "importer" in summary[-1].text
    assert not any("topic B" in one.text for one in summary)
    assert sent[-1].text == question
    assert said(session)[-1] == question
    assert Caller(ada).get(f"sessions/{session.pk}").json()["over_budget"]
    kinds = list(session.events.order_by("seq").values_list("kind", flat=True))
    assert "over_budget" in kinds[kinds.index("compaction_ended") :]
    words = words_of(html_of(client, f"/sessions/{session.pk}/"))
    assert session.used > session.limit == case["budget_chars"]
    assert f"{session.used / session.limit:.0%} full now" in words


@pytest.mark.parametrize("edit", ["none", "taken before", "queued before"])
def test_a_summary_that_comes_too_late_is_not_put_in_place(
    client: Client,
    ada: User,
    given: Any,
    script: Callable[..., ScriptedModel],
    monkeypatch: pytest.MonkeyPatch,
    edit: str,
) -> None:
    """While a worker writes the summary of a preview a person takes its first exchange out; that
    edit is taken before the preview is applied, or waits in the queue before it."""
    case = given("background-summary-too-late")
    later = next(step["append"] for step in case["meanwhile"] if "append" in step)["content"]
    monkeypatch.setattr(wake, "_post", lambda *asked: None)
    caller = Caller(ada)

    def slow(asked: Sequence[Message]) -> dict[str, Any]:
        in_a_thread(meanwhile)
        return says("SUM of a")

    def meanwhile() -> None:
        if edit != "none":
            out = caller.put(f"{path}/messages/excluded", {"numbers": [2, 3]})
            assert out.status_code == 202
        assert caller.post(f"{path}/instructions", {"text": later}).status_code == 202

    *head, asked, answer = [{**one, "content": one["content"] * 400} for one in case["messages"]]
    model = script(answer, slow, *[says("C")] * 3)
    session = forked(ada, head)
    path = f"sessions/{session.pk}"
    acts.send(ada, session, asked["content"])
    worked(session)
    wish = {"stage": "keep_recent", "keep_last": case["keep_recent"], "preview": True}
    shown = caller.post(f"{path}/compactions", wish).json()["preview_id"]
    assert caller.post(f"{path}/previews/{shown}/summary").status_code == 202
    tasks.write_summary(shown)
    written = Preview.objects.get(pk=shown).options["next"]
    if edit == "taken before":
        worked(session)
    applied = caller.post(f"{path}/compactions", {"preview_id": written or shown})
    worked(session)
    assert head[1]["content"] in model.requests[1].messages[-1].text
    assert said(session)[-2:] == [asked["content"], later]
    texts = "".join(one.text for one in listed(session))
    assert head[1]["content"] not in texts
    assert ("SUM of a" in texts) is (edit == "none")
    if edit == "taken before":
        status, code, _ = problem(applied)
        assert (status, code) == (409, "stale")
        assert not session.stored_compactions.exists()
        return
    (made,) = caller.get(f"{path}/compactions").json()["items"]
    ends = ("applied", None) if edit == "none" else ("failed", "stale")
    assert (made["state"], made["reason"]) == ends
    words = words_of(html_of(client, f"/{path}/compactions/{made['number']}/"))
    assert ("the list changed meanwhile" in words.lower()) is (edit != "none")


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
