from __future__ import annotations

import json
from typing import Any

import pytest
from builders import a_session, a_user
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from hermesweb import forms
from hermesweb.models import AgentSession, SessionKind

pytestmark = pytest.mark.django_db


def _line(role: str, content: Any, uuid: str, parent: str | None) -> bytes:
    record = {
        "type": role,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s",
        "timestamp": "2026-11-30T10:00:00Z",
        "message": {"role": role, "content": content, "id": f"m-{uuid}"},
    }
    return json.dumps(record).encode()


CHAT = json.dumps(
    [
        {"role": "system", "content": "Be careful."},
        {"role": "user", "content": "Say what this is"},
        {"role": "assistant", "content": "A test"},
    ]
).encode()
BROKEN_LINES = b"\n".join(
    [
        _line("user", "hello", "a", None),
        b'{"type": "assist',
        _line("assistant", [{"type": "text", "text": "hi"}], "b", "a"),
    ]
)


def upload(client: Client, data: bytes, name: str = "chat.json") -> HttpResponse:
    return client.post("/imports/new/", {"file": SimpleUploadedFile(name, data)}, follow=True)


def test_a_recording_becomes_a_session_of_ones_own(client: Client, ada: User) -> None:
    html = upload(client, CHAT).content.decode()
    session = AgentSession.objects.get()
    assert (session.owner, session.kind, session.last_number) == (ada, "imported", 3)
    assert "3 messages, 1 turn, 0 compactions" in html
    assert "Every line was read." in html
    assert f'href="/sessions/{session.pk}/"' in html


def test_lines_that_cannot_be_read_are_named(client: Client, ada: User) -> None:
    html = upload(client, BROKEN_LINES, "chat.jsonl").content.decode()
    assert "Some of the file could not be read." in html
    assert '<td class="right">2</td><td>bad line</td>' in html
    assert AgentSession.objects.get().last_number == 2


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("notes.docx", b"PK\x03\x04 a zip", "Nothing was stored"),
        ("<b>.json", b"no recording", "&lt;b&gt;.json: neither JSON nor JSONL"),
        ("empty.json", b"", "The file is empty"),
    ],
)
def test_what_is_no_recording_is_refused_and_nothing_is_stored(
    client: Client, ada: User, name: str, data: bytes, words: str
) -> None:
    response = upload(client, data, name)
    assert response.status_code == 422
    assert words in response.content.decode()
    assert not AgentSession.objects.exists()


def test_without_a_file_it_asks_for_one(client: Client, ada: User) -> None:
    response = client.post("/imports/new/")
    assert response.status_code == 422
    assert "Choose a file." in response.content.decode()


def test_too_large_an_upload_names_the_command(
    client: Client, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "MOST_IMPORT_BYTES", 10)
    assert "manage.py import_session" in upload(client, CHAT).content.decode()


def test_what_was_imported_is_for_its_owner(client: Client, ada: User) -> None:
    upload(client, CHAT)
    session = AgentSession.objects.get()
    client.force_login(a_user("bob"))
    assert client.get(f"/imports/{session.pk}/").status_code == 404


def test_a_run_was_not_imported(client: Client, ada: User) -> None:
    session = a_session(ada, kind=SessionKind.RUN)
    assert client.get(f"/imports/{session.pk}/").status_code == 404


def test_a_stranger_is_sent_to_sign_in(client: Client) -> None:
    assert client.post("/imports/new/").status_code == 302
    assert client.get("/imports/x/").status_code == 302


def test_it_rejects_put(client: Client, ada: User) -> None:
    assert client.put("/imports/new/").status_code == 405


def test_a_page_in_chinese_names_them_in_chinese(client: Client, ada: User) -> None:
    client.cookies["django_language"] = "zh-hans"
    glued = BROKEN_LINES + b"\n" + _line("user", "on", "c", "b") + _line("user", "go", "d", "c")
    html = upload(client, glued, "chat.jsonl").content.decode()
    assert "<td>第 9 个字符处不是 JSON（共 16 个字符）：" in html
    assert "<td>一行中有 2 条记录，均已读取</td>" in html
    session = AgentSession.objects.get()
    told = client.get(f"/api/v1/imports/{session.pk}").json()["problems"]
    assert [set(one) for one in told] == [{"line", "kind", "detail", "number"}] * 2
    assert told[1]["detail"] == "2 records on one line, all read"
    html = upload(client, b'{"odd": 1}').content.decode()
    assert "没有读取器认识此 JSON：对象，其成员为 &#x27;odd&#x27;" in html
