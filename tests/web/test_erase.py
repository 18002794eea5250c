from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from builders import a_user, answered, said
from django.contrib.auth.models import User
from django.test import Client
from scenes import a_talk_of, compacted, cut_result, html_of, words_of
from working import says

from agentcore.compaction.asked import CompactionOptions
from agentcore.invariants import legal
from agentcore.llm.scripted import ScriptedModel
from agentcore.messages import born
from agentcore.snapshot import State
from hermesweb import acts, audit, export, lives, runner
from hermesweb.imports import import_recording
from hermesweb.models import (
    AgentSession,
    AuditEntry,
    Body,
    Compaction,
    Instruction,
    MemoryEntry,
    StoredMessage,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("woken")]
SECRET = "tell-nobody-4711"
CAPTURED = f"{SECRET} " * 400


@pytest.fixture
def eve(client: Client) -> User:
    user = a_user("eve", is_staff=True)
    client.force_login(user)
    return user


def calling(number: int) -> Any:
    function = {"name": "run_command", "arguments": f'{{"command": "echo {SECRET}"}}'}
    call = {"id": f"call_{number}_0", "type": "function", "function": function}
    value = {"role": "assistant", "content": None, "tool_calls": [call]}
    return born({**value, "reasoning_content": SECRET}).numbered(number)


def talk(owner: User) -> AgentSession:
    """An instruction, a call and its result, each with the secret, and an answer."""
    session = a_talk_of(
        owner,
        said(1, "Be careful.", "system"),
        said(2, f"The word is {SECRET}."),
        calling(3),
        answered(4, "call_3_0", CAPTURED, tool="run_command"),
        said(5, "Done.", "assistant"),
    )
    Instruction.objects.create(
        session=session, kind="message", state="taken", text=f"The word is {SECRET}.", number=2
    )
    return session


def everything(session: AgentSession) -> str:
    """All that any row of the session says."""
    rows: list[Any] = [*session.messages.values(), *session.events.values()]
    rows += [*session.instructions.values(), *session.stored_compactions.values()]
    rows += [one.text for one in session.messages.select_related("body")]
    return f"{rows} {[body.text for body in Body.objects.all()]}"


def erase(client: Client, session: AgentSession, number: int) -> Any:
    return client.post(f"/api/v1/sessions/{session.pk}/messages/{number}/erase")


@pytest.mark.parametrize("number", [2, 3, 4])
def test_length_and_hash_take_the_place_of_the_text(client: Client, eve: User, number: int) -> None:
    session = talk(eve)
    before = lives.snapshot_of(session).messages[number - 1]
    answer = erase(client, session, number)
    assert answer.status_code == 200, answer.content
    told = answer.json()
    expected = sha256(before.wire.encode()).hexdigest()
    assert (told["bytes"], told["sha256"]) == (before.sizes.bytes, expected)
    after = lives.snapshot_of(session).messages[number - 1]
    assert after.text == f"[erased: {before.sizes.bytes:,} bytes, sha256 {expected}]"
    assert session.messages.get(number=number).erased


def test_the_list_stays_legal_its_lives_and_its_totals_true(client: Client, eve: User) -> None:
    session = talk(eve)
    before = list(session.lives.values("number", "place", "from_revision", "to_revision"))
    for number in (2, 3, 4):
        assert erase(client, session, number).status_code == 200
    session.refresh_from_db()
    snapshot = lives.snapshot_of(session)
    assert not legal(snapshot.messages)
    assert snapshot.sizes.bytes == session.bytes == session.categories.total
    assert list(session.lives.values("number", "place", "from_revision", "to_revision")) == before
    assert session.revision == 3


def test_nothing_else_of_the_session_says_it_again(client: Client, eve: User) -> None:
    session = talk(eve)
    assert SECRET in everything(session)
    acts.preview(eve, session, CompactionOptions(keep_last=1))
    for number in (2, 3, 4):
        erase(client, session, number)
    assert SECRET not in everything(session)
    assert not session.previews.exists()


def test_memories_made_from_it_go_and_the_others_stay(client: Client, eve: User) -> None:
    session = talk(eve)
    for numbers in ([2], [1, 2], [5]):
        MemoryEntry.objects.create(
            owner=eve, kind="goal", text=f"of {numbers}", source=session, source_numbers=numbers
        )
    assert erase(client, session, 2).status_code == 200
    assert [entry.text for entry in MemoryEntry.objects.all()] == ["of [5]"]


def test_what_compactions_lost_of_it_is_no_longer_named(client: Client, eve: User) -> None:
    session = talk(eve)
    lost = [{"number": 2, "text": f"say {SECRET}"}, {"number": 5, "text": "Done."}]
    check = "0 of 2 (0%), lost: "
    Compaction.objects.create(
        session=session,
        number=1,
        state="applied",
        trigger="manual",
        survival={"goal": {"kept": 0, "lost": lost, "more": 0}},
        checks=[
            {"check": "goal_known", "ok": False, "detail": f"{check}say {SECRET} (message 2)"},
            {"check": "paths_known", "ok": False, "detail": f"{check}a.py (message 12)"},
        ],
    )
    assert erase(client, session, 2).status_code == 200
    told = Compaction.objects.get()
    assert [fact["text"] for fact in told.survival["goal"]["lost"]] == ["", "Done."]
    assert [one["detail"] for one in told.checks] == ["0 of 2 (0%)", f"{check}a.py (message 12)"]


def test_what_a_tool_gave_goes_with_what_the_message_kept_of_it(client: Client, eve: User) -> None:
    cut = cut_result(4, "call_3_0", "x" * 5_000, 9_000)
    session = a_talk_of(eve, said(1, "Be careful.", "system"), said(2, "Go."), calling(3), cut)
    erase(client, session, 4)
    row = session.messages.get(number=4)
    assert (row.body, row.captured, row.original_bytes) == (None, None, None)


def test_only_staff_may_erase(client: Client, eve: User) -> None:
    ada = a_user("ada")
    session = talk(ada)
    client.force_login(ada)
    assert erase(client, session, 2).status_code == 403
    assert client.post(f"/sessions/{session.pk}/messages/2/erase").status_code == 403
    assert "Erase" not in words_of(html_of(client, f"/sessions/{session.pk}/messages/2/"))
    assert SECRET in session.messages.get(number=2).text


def test_an_erasure_is_audited_without_the_text(client: Client, eve: User) -> None:
    session = talk(eve)
    erase(client, session, 2)
    entries = list(AuditEntry.objects.filter(chain=session.pk).order_by("place"))
    assert (entries[-1].who, entries[-1].action) == ("eve", "erased")
    assert entries[-1].new["number"] == 2 and len(entries[-1].new["sha256"]) == 64
    assert SECRET not in str([entry.new for entry in entries])
    assert audit.broken(entries) is None


def test_the_page_offers_it_to_staff_and_shows_what_is_left(client: Client, eve: User) -> None:
    session = talk(eve)
    page = f"/sessions/{session.pk}/messages/2/"
    assert 'id="erase"' in html_of(client, page)
    answer = client.post(f"{page}erase")
    assert answer.status_code == 302
    html = html_of(client, page)
    assert "[erased: " in html and 'id="erase"' not in html and SECRET not in html
    assert client.get(f"{page}erase").status_code == 405


def test_what_was_erased_and_what_is_not_there_are_refused(client: Client, eve: User) -> None:
    session = talk(eve)
    assert erase(client, session, 2).status_code == 200
    answer = erase(client, session, 2)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "erased")
    assert erase(client, session, 99).status_code == 404


def test_an_erasure_is_not_undone_and_names_the_summaries_that_may_repeat_it(
    client: Client, eve: User
) -> None:
    session = talk(eve)
    compacted(session, start=2, stop=4)
    AgentSession.objects.update(status="idle")
    note = StoredMessage.objects.get(session=session, number=6)
    assert erase(client, session, 3).json()["made_from_it"] == [note.number]
    answer = client.post(f"/api/v1/sessions/{session.pk}/undo")
    assert answer.status_code == 409 and "it is gone" in answer.json()["error"]["message"]


def test_the_next_request_says_that_an_edit_broke_its_prefix(
    client: Client, eve: User, script: Callable[..., ScriptedModel]
) -> None:
    model = script(says("One."), says("Two."))
    session = talk(eve)
    for text in ("first", "second"):
        acts.send(eve, session, text)
        async_to_sync(runner.run)(session.pk)
        if text == "first":
            assert erase(client, session, 2).status_code == 200
    turn = session.stored_turns.order_by("-number")[0]
    assert (turn.break_reason, turn.break_number) == ("edit", 2)
    assert model.requests[-1].messages[1].text.startswith("[erased: ")


def test_recordings_can_be_erased_and_export_what_is_left(client: Client, eve: User) -> None:
    session = talk(eve)
    AgentSession.objects.update(kind="imported")
    for number in (2, 3, 4):
        assert erase(client, session, number).status_code == 200
    session.refresh_from_db()
    data = "".join(export.lines(session, raw=True))
    again = import_recording(eve, data.encode(), "x.jsonl")
    assert SECRET not in data
    wires = [message.wire for message in lives.snapshot_of(session).messages]
    assert [message.wire for message in lives.snapshot_of(again).messages] == wires


def test_a_fork_keeps_its_own_copy(client: Client, eve: User) -> None:
    session = talk(eve)
    fork = acts.fork(eve, session, State(0, 5), model="explorer")
    assert erase(client, session, 4).status_code == 200
    assert lives.snapshot_of(fork).messages[3].text == CAPTURED
    assert Body.objects.get().references == 1
