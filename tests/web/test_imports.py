from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from builders import a_session, a_user, rows_of
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from agentcore.errors import TranscriptError
from agentcore.transcripts import load_all
from hermesweb import access, imports, lives, tape
from hermesweb.imports import clear_left_over, import_recording
from hermesweb.models import AgentSession, Body, Revision, SessionKind, StoredMessage

pytestmark = pytest.mark.django_db

CHAT = {
    "model": "gpt-4o",
    "messages": [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "hi \0 <b>there</b>"},
        {"role": "assistant", "content": "x" * 9_000},
    ],
}


@pytest.fixture
def ada() -> User:
    return a_user()


def recordings(shared: Path) -> list[Path]:
    return sorted(
        path
        for folder in ("claude-code", "openai-chat")
        for path in (shared / "transcripts" / folder).iterdir()
    )


def test_an_imported_chat_can_only_be_read_and_tells_of_itself_once(ada: User) -> None:
    session = import_recording(ada, json.dumps(CHAT).encode(), "talk.json")
    assert (session.kind, session.status, session.ready) == (SessionKind.IMPORTED, "idle", True)
    assert (session.last_number, session.messages_alive, session.turns) == (3, 3, 1)
    assert (session.window_tokens, session.window_from) == (128_000, "model_table")
    event = session.events.get()
    assert (event.seq, event.kind) == (1, "imported")
    assert event.data["messages"] == 3 and event.data["format"] == "openai-chat"


def test_every_recording_is_stored_byte_for_byte_with_its_list_and_totals(
    ada: User, shared: Path
) -> None:
    for path in recordings(shared):
        recording = load_all(path)[0]
        session = import_recording(ada, path.read_bytes(), path.name)
        session.refresh_from_db()
        snapshot = lives.snapshot_of(session)
        expected = recording.snapshot()
        assert rows_of(snapshot) == rows_of(expected), path.name
        assert (snapshot.sizes, snapshot.state) == (expected.sizes, expected.state)
        rows = session.messages.order_by("number").select_related("body")
        assert [row.text for row in rows] == [message.wire for message in recording.messages]
        assert (session.bytes, session.chars) == (expected.sizes.bytes, expected.sizes.chars)
        assert session.categories.total == session.bytes
        assert session.turns == len(recording.turns) == session.stored_turns.count()
        assert session.compactions == len(recording.compactions)


def test_the_list_of_every_recorded_turn_can_be_read_back(ada: User, shared: Path) -> None:
    path = shared / "transcripts" / "claude-code" / "microcompact-then-compact.jsonl"
    recording = load_all(path)[0]
    session = import_recording(ada, path.read_bytes(), path.name)
    assert Revision.objects.filter(session=session).exists()
    for turn in recording.turns:
        assert lives.snapshot_of(session, turn.ended).sizes == turn.sizes


def test_subagents_become_sessions_of_their_own(ada: User, shared: Path) -> None:
    path = shared / "transcripts" / "claude-code" / "sidechains-japanese-125k.jsonl"
    subagents = load_all(path)[0].subagents
    session = import_recording(ada, path.read_bytes(), path.name)
    assert subagents
    assert session.subagents.count() == len(subagents)


@pytest.mark.parametrize("data", [b"", b"{", b"[1, 2]", b'{"a": 1}', b"\xff\xfe\x00", b"null"])
def test_a_file_that_no_reader_knows_is_refused_and_nothing_is_stored(
    ada: User, data: bytes
) -> None:
    with pytest.raises(TranscriptError):
        import_recording(ada, data, "x.json")
    assert not AgentSession.objects.exists()


def test_a_failure_half_way_leaves_nothing(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*args: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(tape.Tape, "_store_turns", breaks)
    with pytest.raises(OSError, match="disk is full"):
        import_recording(ada, json.dumps(CHAT).encode(), "talk.json")
    assert not AgentSession.objects.exists()
    assert not StoredMessage.objects.exists()
    assert not Body.objects.exists()


def test_an_upload_that_takes_too_long_leaves_nothing(ada: User) -> None:
    with pytest.raises(TranscriptError, match="longer than an upload may"):
        import_recording(ada, json.dumps(CHAT).encode(), "talk.json", seconds=0)
    assert not AgentSession.objects.exists()
    assert not Body.objects.exists()


def test_nobody_sees_a_session_while_it_is_imported_and_the_sweep_clears_the_rest(
    ada: User,
) -> None:
    session = a_session(ada, ready=False)
    assert not access.may(ada, session)
    assert not access.visible(ada).exists()
    clear_left_over()
    assert AgentSession.objects.exists()
    old = timezone.now() - imports.LEFT_OVER - timedelta(seconds=1)
    AgentSession.objects.update(created_at=old)
    clear_left_over()
    assert not AgentSession.objects.exists()


def test_the_command_imports_what_it_can_and_names_what_it_cannot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(CHAT))
    bad.write_text("{}")
    with pytest.raises(CommandError, match="2 not imported") as error:
        call_command("import_session", good, bad, tmp_path / "none.json", verbosity=0)
    assert error.value.returncode == 2
    out, err = capsys.readouterr()
    assert str(good) in out
    assert str(bad) in err and "none.json" in err
    assert AgentSession.objects.count() == 1
