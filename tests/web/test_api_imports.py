from __future__ import annotations

import json
from typing import Any

import pytest
from builders import a_session, a_user
from calls import Caller, problem
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse

from hermesweb import forms
from hermesweb.models import AgentSession, Body, StoredMessage

pytestmark = pytest.mark.django_db

TALK = [
    {"role": "system", "content": "Be careful."},
    {"role": "user", "content": "Fix the parser."},
    {"role": "assistant", "content": "Fixed."},
]


@pytest.fixture
def ada() -> User:
    return a_user()


def sent(user: User, data: bytes, name: str = "talk.json") -> HttpResponse:
    return Caller(user).upload("imports", SimpleUploadedFile(name, data))


def test_a_recording_becomes_a_session(ada: User) -> None:
    response = sent(ada, json.dumps({"messages": TALK}).encode())
    got = response.json()
    assert response.status_code == 201
    assert (got["format"], got["messages"], got["problems"]) == ("openai-chat", 3, [])
    assert Caller(ada).get(f"imports/{got['id']}").json() == got
    session = AgentSession.objects.get(pk=got["session"])
    assert (session.kind, session.owner) == ("imported", ada)
    wires = [row.text for row in session.messages.order_by("number")]
    assert [json.loads(wire) for wire in wires] == TALK


def test_a_line_that_cannot_be_read_is_named_and_the_rest_is_kept(ada: User) -> None:
    lines = [json.dumps({"messages": TALK}), "{torn", json.dumps({"messages": TALK})]
    got = sent(ada, "\n".join(lines).encode()).json()
    assert [one["line"] for one in got["problems"]] == [2]
    assert got["incomplete"]


@pytest.mark.parametrize("data", [b"", b"no json", b"\x00" * 100, b"[1, 2]", b'{"a": 1}'])
def test_a_file_that_is_no_recording_is_refused_and_nothing_is_stored(
    ada: User, data: bytes
) -> None:
    assert problem(sent(ada, data)) == (422, "invalid", "file")
    for table in (AgentSession, StoredMessage, Body):
        assert not table.objects.exists()


def test_an_upload_over_the_limit_is_refused_with_the_way_out(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "MOST_IMPORT_BYTES", 100)
    response = sent(ada, b"x" * 101)
    assert problem(response) == (422, "invalid", "file")
    assert "import_session" in response.json()["error"]["message"]


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a\\b", "x" * 300])
def test_a_file_name_leads_nowhere(ada: User, name: str) -> None:
    untitled: list[dict[str, Any]] = [{"role": "assistant", "content": "Hello."}]
    got = sent(ada, json.dumps({"messages": untitled}).encode(), name).json()
    assert "/" not in got["title"]
    assert len(got["title"]) <= 200


def test_without_a_file_or_a_token_nothing_is_taken(ada: User) -> None:
    assert problem(Caller(ada).post("imports", {})) == (422, "invalid", "file")
    file = SimpleUploadedFile("a.json", b"{}")
    assert problem(Caller().upload("imports", file))[:2] == (401, "unauthorized")


def test_only_an_import_is_shown_as_one(ada: User) -> None:
    path = f"imports/{a_session(ada).pk}"
    assert problem(Caller(ada).get(path))[:2] == (404, "not_found")
    assert problem(Caller(a_user("bob")).get(path))[:2] == (404, "not_found")
