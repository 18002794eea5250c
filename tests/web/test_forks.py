from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from builders import a_user, said
from django.contrib.auth.models import User
from django.test import Client
from scenes import a_talk, a_talk_of, compacted
from working import says

from agentcore.llm.scripted import ScriptedModel
from agentcore.snapshot import State
from hermesweb import acts, endpoints, lives, runner
from hermesweb.imports import import_recording
from hermesweb.models import AgentSession, AuditEntry, Body
from hermesweb.recorder import remove

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("woken")]


@pytest.fixture
def ada(client: Client, monkeypatch: pytest.MonkeyPatch) -> User:
    monkeypatch.setattr(endpoints, "check", lambda name: None)
    user = a_user("ada")
    client.force_login(user)
    return user


def wires(session: AgentSession, state: State | None = None) -> list[tuple[int, str]]:
    return [(one.number, one.wire) for one in lives.snapshot_of(session, state).messages]


def test_a_fork_holds_the_list_of_a_state_before_a_compaction(ada: User) -> None:
    session = a_talk(ada, 12)
    before = wires(session)
    compacted(session)
    fork = acts.fork(ada, session, State(0, 12))
    assert wires(fork) == before != wires(session)
    snapshot = lives.snapshot_of(fork)
    assert (fork.bytes, fork.messages_alive) == (snapshot.sizes.bytes, 12)
    assert (fork.last_number, fork.turns, fork.status) == (12, 5, "idle")


def test_a_fork_of_any_state_goes_on_for_itself(
    ada: User, script: Callable[..., ScriptedModel]
) -> None:
    script(says("Forked."))
    session = a_talk_of(ada, *talk())
    compacted(session, start=2, stop=4)
    there = wires(session)
    fork = acts.fork(ada, session, State(session.revision, session.last_number))
    acts.send(ada, fork, "and now?")
    async_to_sync(runner.run)(fork.pk)
    assert [text for _, text in wires(fork)][-1].endswith('"Forked."}')
    session.refresh_from_db()
    assert wires(session) == there


def test_an_instruction_is_edited_by_a_fork_before_it(ada: User) -> None:
    session = a_talk_of(ada, *talk())
    fork = acts.fork(ada, session, State(0, 6), text="Only the lexer.")
    assert [number for number, _ in wires(fork)] == [1, 2, 3, 4]
    assert fork.instructions.get().text == "Only the lexer."
    assert fork.status == "queued"


def test_a_fork_shares_long_texts_and_outlives_its_source(ada: User) -> None:
    session = a_talk(ada, 6, text="x" * 9_000)
    before = wires(session)
    fork = acts.fork(ada, session, State(0, 6))
    assert set(Body.objects.values_list("references", flat=True)) <= {2, 4}
    remove(session)
    assert wires(fork) == before
    remove(fork)
    assert not Body.objects.exists()


def test_pins_and_marks_go_with_it(ada: User) -> None:
    session = a_talk(ada, 12)
    acts.pin(ada, session, [3], reason="the rule")
    fork = acts.fork(ada, session, State(0, 12))
    row = fork.messages.get(number=3)
    assert (row.pinned, row.pin_reason, fork.pinned_bytes) == (True, "the rule", pinned(session))


def test_a_recording_is_forked_where_folder_and_model_are_named(
    ada: User, client: Client, tmp_path: Path, settings: Any
) -> None:
    settings.ALLOWED_ROOTS = [tmp_path]
    session = a_talk(ada, 8, kind="imported", workspace="", model="some-model")
    url = f"/api/v1/sessions/{session.pk}/forks"
    refused = client.post(url, {"at": "turn:2"}, content_type="application/json")
    assert (refused.status_code, refused.json()["error"]["field"]) == (422, "workspace")
    wish = {"at": "turn:2", "workspace": str(tmp_path), "model": "explorer"}
    made = client.post(url, wish, content_type="application/json")
    assert made.status_code == 201, made.content
    fork = AgentSession.objects.get(pk=made.json()["id"])
    assert (fork.kind, fork.model, fork.turns) == ("run", "explorer", 2)
    assert [number for number, _ in wires(fork)] == [1, 2, 3, 4, 5, 6]


def test_a_fork_is_told_and_audited_on_both_sides(ada: User) -> None:
    session = a_talk(ada, 8)
    fork = acts.fork(ada, session, State(0, 8))
    told = fork.events.get(kind="forked").data
    assert (told["from"], told["at"]) == (session.pk, "0.8")
    for chain in (session.pk, fork.pk):
        assert AuditEntry.objects.filter(chain=chain, action="forked", who="ada").exists()


def test_a_stranger_forks_nothing_and_a_wrong_state_is_named(client: Client, ada: User) -> None:
    other = a_talk(a_user("bob"), 8)
    url = f"/api/v1/sessions/{other.pk}/forks"
    answer = client.post(url, {"at": "0"}, content_type="application/json")
    assert answer.status_code == 404
    mine = a_talk(ada, 8)
    url = f"/api/v1/sessions/{mine.pk}/forks"
    answer = client.post(url, {"at": "7"}, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, "at")


def pinned(session: AgentSession) -> int:
    session.refresh_from_db()
    return session.pinned_bytes


def talk() -> list[Any]:
    return [
        said(1, "Be careful.", "system"),
        said(2, "Fix the parser."),
        said(3, "Which one? " + "x" * 300, "assistant"),
        said(4, "It is " + "y" * 300, "assistant"),
        said(5, "And now the tests."),
        said(6, "They pass.", "assistant"),
    ]


def test_a_recording_from_elsewhere_is_asked_for_its_folder_and_its_model(
    client: Client, ada: User
) -> None:
    talk = b'[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello."}]'
    recorded = import_recording(ada, talk, "talk.json")
    path = f"/sessions/{recorded.pk}/forks"
    asked = client.get(path).content.decode()
    assert 'value="0.2"' in asked and 'name="workspace"' in asked
    wrong = client.post(path, {"at": "0.2", "workspace": "/nowhere/at/all", "model": "explorer"})
    assert wrong.status_code == 422 and "is not inside an allowed folder" in wrong.content.decode()
    here = {"workspace": str(Path(__file__).parent), "model": "explorer"}
    made = client.post(path, {"at": "0.2", **here})["Location"].split("/")[2]
    fork = AgentSession.objects.get(pk=made)
    assert (fork.kind, fork.model, fork.profile_version) == (
        "run",
        "explorer",
        recorded.profile_version,
    )


def test_what_is_illegal_in_a_recording_is_repaired_in_its_fork(ada: User) -> None:
    talk = [
        {"role": "user", "content": "hi"},
        {"role": "tool", "tool_call_id": "gone", "content": "of no call"},
        {"role": "assistant", "content": "Hello."},
    ]
    recorded = import_recording(ada, json.dumps(talk).encode(), "talk.json")
    fork = acts.fork(
        ada, recorded, State(0, 3), workspace=str(Path(__file__).parent), model="explorer"
    )
    assert [number for number, _ in wires(fork)] == [1, 3]
    assert fork.revision == 1 and fork.events.filter(kind="repaired").exists()
    assert [number for number, _ in wires(recorded)] == [1, 2, 3]
