from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from builders import a_user, said
from calls import Caller
from django.contrib.auth.models import Permission, User
from django.test import AsyncClient, Client
from scenes import a_talk, a_talk_of, compacted, html_of, messages_of

from agentcore.errors import TranscriptError
from agentcore.messages import born
from agentcore.redact import MASKED
from agentcore.snapshot import State
from agentcore.transcripts import Format, detect, load_transcript
from hermesweb import acts, export
from hermesweb.imports import import_recording
from hermesweb.lives import snapshot_of
from hermesweb.models import AgentSession, AuditEntry

pytestmark = pytest.mark.django_db

SECRET = "ghp_" + "Zq8wLr2Vn5Xt7Yk3Mb6Hd9Gf4Jc1Ps0Ta1b2"
HOSTILE = [
    "plain",
    "half a pair \ud800, NUL \x00, \u2028 and <script>",
    '{"type": "session"}\n{"a": 1e5, "b": 12345678901234567890}',
    "中文 😀 e\u0301",
]


@pytest.fixture
def ada() -> User:
    return a_user("ada")


def may_read_raw(user: User) -> User:
    user.user_permissions.add(Permission.objects.get(codename="raw"))
    return User.objects.get(pk=user.pk)


def exported(session: AgentSession, *, raw: bool = True) -> bytes:
    session.refresh_from_db()
    return "".join(export.lines(session, raw=raw)).encode()


def again(session: AgentSession, *, raw: bool = True) -> AgentSession:
    return import_recording(session.owner, exported(session, raw=raw), "x.jsonl")


def records(data: bytes, kind: str) -> list[dict[str, Any]]:
    return [one for one in map(json.loads, data.splitlines()) if one["type"] == kind]


def told(session: AgentSession) -> list[list[Any]]:
    """All that was born, and the list at each revision."""
    names = "number", "role", "bytes", "categories", "mark", "tool", "status", "stands_for", "turn"
    rows = [
        [row.text, *(getattr(row, name) for name in (*names, "replaces", "original_bytes"))]
        for row in session.messages.order_by("number")
    ]
    states = [State(number, session.last_number) for number in range(session.revision + 1)]
    return [rows, *(_list(session, state) for state in states)]


def _list(session: AgentSession, state: State) -> list[Any]:
    found = snapshot_of(session, state)
    pairs = zip(found.messages, found.places, strict=True)
    return [(message.number, place) for message, place in pairs]


def test_a_raw_export_is_imported_again_as_it_was(ada: User) -> None:
    session = a_talk(ada, 14, title="talk")
    compacted(session, start=2, stop=6)
    compacted(session, start=3, stop=5, pinned=(8,))
    copy = again(session)
    assert told(copy) == told(session)
    turns = "number", "bytes", "requested_number", "ended_revision", "ended_number", "usage"
    rows = [
        list(one.stored_turns.order_by("number").values_list(*turns)) for one in (session, copy)
    ]
    assert rows[0] == rows[1] and len(rows[0]) == 6
    assert (copy.title, copy.bytes, copy.compactions) == ("talk", session.bytes, 2)
    assert not copy.incomplete and copy.problems == []
    assert records(exported(copy), "revision")[0]["ended"] == [3, 4, 5, 6]
    assert told(again(copy)) == told(session)


def test_hostile_text_comes_back_byte_for_byte(ada: User) -> None:
    values = [born({"role": "user", "content": text, "x": [1.5, None]}) for text in HOSTILE]
    session = a_talk_of(ada, *(one.numbered(n) for n, one in enumerate(values, 1)))
    assert [row.text for row in again(session).messages.order_by("number")] == [
        one.wire for one in values
    ]


def test_a_fork_keeps_its_order_and_loses_its_gaps(ada: User, tmp_path: Any, settings: Any) -> None:
    settings.ALLOWED_ROOTS = [tmp_path]
    session = a_talk(ada, 10, model="explorer")
    compacted(session, start=2, stop=6)
    forked = acts.fork(ada, session, State(1, 11), workspace=str(tmp_path))
    texts = [message.wire for message in snapshot_of(forked).messages]
    copy = again(forked)
    assert [message.wire for message in snapshot_of(copy).messages] == texts
    assert copy.last_number == len(texts) == 7


def test_a_masked_export_is_imported_again_as_masked(ada: User) -> None:
    session = a_talk_of(ada, said(1, "Be careful.", "system"), said(2, f"Use {SECRET} please"))
    data = exported(session, raw=False)
    assert SECRET not in data.decode()
    assert [one.get("masked", 0) for one in records(data, "message")] == [0, 1]
    assert records(data, "session")[0]["masked"] is True
    copy = again(session, raw=False)
    assert copy.messages.get(number=2).preview == f"Use {MASKED} please"
    said_again = records(exported(copy, raw=False), "message")
    assert [one["message"] for one in said_again] == [
        one["message"] for one in records(data, "message")
    ]


def test_every_event_is_in_it(ada: User) -> None:
    session = a_talk(ada, 130)
    found = [one["seq"] for one in records(exported(session), "event")]
    assert found == list(range(1, session.seq + 1))


def test_who_may_export_and_who_may_raw(ada: User) -> None:
    session = a_talk_of(ada, said(1, f"Use {SECRET}"))
    path = f"sessions/{session.pk}/export"
    grace, eve = a_user("grace", is_staff=True), may_read_raw(a_user("eve"))
    expected = {ada: (200, 403), grace: (200, 403), eve: (404, 404)}
    for user, statuses in expected.items():
        answers = [Caller(user).get(path), Caller(user).get(path, raw="1")]
        assert tuple(one.status_code for one in answers) == statuses, user
        if answers[0].status_code == 200:
            assert SECRET.encode() not in b"".join(answers[0])
    answer = Caller(may_read_raw(ada)).get(path, raw="1")
    assert SECRET.encode() in b"".join(answer)
    assert "-raw.jsonl" in answer.headers["Content-Disposition"]
    (entry,) = AuditEntry.objects.filter(chain=session.pk, action="raw_read")
    assert (entry.who, entry.new) == ("ada", {"what": "export"})
    assert Caller().get(path).status_code == 401


@pytest.mark.django_db(transaction=True)
async def test_the_real_server_streams_it(ada: User) -> None:
    session = await sync_to_async(a_talk)(ada, 60)
    client = AsyncClient()
    await client.aforce_login(ada)
    response = await client.get(f"/api/v1/sessions/{session.pk}/export")
    assert response.is_async and response.status_code == 200
    parts = [part async for part in response]
    assert len(parts) > 60
    assert load_transcript(b"".join(parts)).messages[59].number == 60


def test_a_long_session_is_exported_in_little_memory(ada: User) -> None:
    text = "".join(f"line {number} of much\n" for number in range(12_000))
    session = a_talk_of(ada, *messages_of(130, text))
    whole = 64 * len(text)
    tracemalloc.start()
    size = sum(len(line) for line in export.lines(session, raw=False))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size > whole > 6 * peak


def test_the_page_links_to_what_one_may_export(client: Client, ada: User) -> None:
    session = a_talk_of(ada, said(1, f"Use {SECRET}"))
    client.force_login(ada)
    path = f"/api/v1/sessions/{session.pk}/export"
    page = html_of(client, f"/sessions/{session.pk}/")
    assert f'href="{path}"' in page and "?raw=1" not in page
    assert MASKED.encode() in b"".join(client.get(path))
    client.force_login(may_read_raw(ada))
    assert f'href="{path}?raw=1"' in html_of(client, f"/sessions/{session.pk}/")


def test_torn_and_bad_lines_cost_themselves_alone(ada: User) -> None:
    session = a_talk(ada, 10)
    compacted(session, start=2, stop=6)
    data = exported(session).splitlines(keepends=True)
    bad = [
        b'{"type":"message","number":1,"message":{"role":"user","content":"again"}}\n',
        b'{"type":"revision","number":9,"cause":"x","ended":[],"begun":[]}\n',
        b'{"type":"revision","number":9,"cause":"undone","ended":[99,"a"],"begun":[[1]]}\n',
        b'{"type":"turn","number":1e9,"requested":[0,1],"ended":[0,1]}\n',
        b'{"type":"message","message":{"role":"nobody"}}\n',
        b'{"type":"message","message":{"role":"user"},"stands_for":[[1,1e300]],"cut":[1]}\n',
        b'{"type":"message","message":{"role":"user"},"tool":3}\n',
        b'{"type":"message","message":{"role":"user"},"tool":{"a":1}}\n',
        b'[1]\n"x"\n{"type":"later"}\n{}\n',
    ]
    recording = load_transcript(b"".join([*data[:5], *bad, *data[5:], data[2][:40]]))
    assert len(recording.problems) == 13 and recording.incomplete
    whole = load_transcript(b"".join(data))
    assert recording.context() == whole.context()
    without = load_transcript(b"".join([*data[:4], *data[5:]]))
    assert [one.text for one in without.context()] == [one.text for one in whole.context()]


def test_files_of_other_kinds_are_not_taken_for_an_export() -> None:
    line = b'{"type":"session","id":"a","version":3}\n'
    assert detect(line) is Format.HERMESWEB
    for other in (
        b'{"type":"session","id":"a","version":3,"cwd":"/"}\n{"type":"message","id":"1"}\n',
        b'{"type":"message","id":"1","parentId":null,"message":{"role":"user"}}\n{}\n',
        b'{"type":"message","timestamp":"x","message":{"role":"user","content":"go"}}\n{}\n',
    ):
        with pytest.raises(TranscriptError, match="no reader knows"):
            detect(other)
