"""Nobody sees a secret that a session holds but whoever may read raw and asks for it."""

from __future__ import annotations

import json
import logging
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from builders import a_lease, a_user, answered, said
from calls import Caller
from django.contrib.auth.models import Permission, User
from django.test import Client
from scenes import HTMX, a_talk_of, compacted, html_of, messages_of

from agentcore.events import MessageAdded, RunEnd, RunEnded
from agentcore.messages import born
from agentcore.redact import MASKED
from hermesweb import acts, lease
from hermesweb.content import PAGE_CHARS
from hermesweb.imports import import_recording
from hermesweb.logs import MaskedLine
from hermesweb.models import AgentSession, AuditEntry
from hermesweb.recorder import record

pytestmark = pytest.mark.django_db

SECRET = f"sk-proj-{secrets.token_urlsafe(30)}"
PLAIN = "MONKEY=banana"


@pytest.fixture
def ada() -> User:
    return a_user("ada")


@pytest.fixture
def people(ada: User) -> dict[str, User]:
    """`grace` is staff, `linus` staff with the permission, `eve` has the permission alone."""
    found = {"ada": ada, "eve": a_user("eve"), "grace": a_user("grace", is_staff=True)}
    found["linus"] = a_user("linus", is_staff=True)
    permission = Permission.objects.get(codename="raw", content_type__app_label="hermesweb")
    for name in ("eve", "linus"):
        found[name].user_permissions.add(permission)
    return found


def with_secrets(owner: User) -> AgentSession:
    """The secret in each field that text from outside reaches."""
    arguments = json.dumps({"command": f"curl -H 'Authorization: Bearer {SECRET}' {PLAIN}"})
    call = {"id": "c1", "type": "function", "function": {"name": "run_command"}}
    call["function"]["arguments"] = arguments  # type: ignore[index]
    messages = [
        said(1, f"Be careful. {PLAIN} {SECRET}", "system"),
        said(2, f"Use {SECRET} {PLAIN}"),
        born({"role": "assistant", "content": None, "tool_calls": [call]}).numbered(3),
        answered(4, "c1", f"{PLAIN}\nVENDOR_API_KEY={SECRET}\n", tool="run_command"),
        said(5, f"{'x ' * 76}{SECRET} {PLAIN}", "assistant"),
    ]
    session = a_talk_of(owner, *messages, title="talk")
    held = a_lease(session)
    captured = f"{PLAIN}\n{SECRET}\n" * 10
    last = answered(6, "c2", f"{PLAIN} {SECRET}", tool="run_command")
    told = [
        MessageAdded(last, 0, captured=captured),
        RunEnded(1, RunEnd.FAILED, f"Incorrect API key provided: {SECRET}"),
    ]
    record(session.pk, held.fence, told)
    lease.release(held)
    acts.rename(owner, session, f"about {SECRET}")
    acts.pin(owner, session, [2], reason=f"holds {SECRET}")
    acts.send(owner, session, f"{'y ' * 990}{SECRET} {PLAIN}" + " and so on" * 200)
    session.refresh_from_db()
    return session


@pytest.mark.parametrize("name", ["ada", "grace", "linus"])
def test_no_page_shows_a_secret(client: Client, people: dict[str, User], name: str) -> None:
    session = with_secrets(people["ada"])
    client.force_login(people[name])
    home = f"/sessions/{session.pk}/"
    paths = ["/", home, f"{home}?view=all", f"{home}messages/?q=banana"]
    paths += [
        f"{home}messages/{number}/?form={form}"
        for number in range(1, 7)
        for form in ("text", "wire", "captured")
    ]
    for path in paths:
        html = html_of(client, path, htmx="messages" in path)
        assert SECRET[:12] not in html, path
    for number in (1, 2, 3, 4, 6):
        html = html_of(client, f"{home}messages/{number}/")
        assert PLAIN in html and MASKED in html and "1 secret masked" in html
    assert SECRET[:12] not in html_of(client, f"{home}live/", htmx=True)


@pytest.mark.parametrize("name", ["ada", "grace", "linus"])
def test_no_call_gives_a_secret_that_was_not_asked_for_raw(
    people: dict[str, User], name: str
) -> None:
    session = with_secrets(people["ada"])
    caller = Caller(people[name])
    home = f"sessions/{session.pk}"
    calls = ["messages", "messages?view=all", "events", "turns", "instructions", "compactions"]
    for path in ("sessions", home, *(f"{home}/{call}" for call in calls)):
        text = caller.get(path).content.decode()
        assert SECRET[:12] not in text, path
        assert path == "sessions" or "error" not in text
    for number in range(1, 7):
        found = caller.get(f"{home}/messages/{number}").json()
        assert found["masked"] == 1 and SECRET[:12] not in json.dumps(found)
        stored = session.messages.get(number=number)
        assert json.loads(found["wire"]).keys() == json.loads(stored.text).keys()
        assert found["bytes"] == stored.bytes == len(stored.text.encode())
        assert SECRET in stored.text


def test_the_permission_to_read_raw_is_asked_for_and_its_use_is_audited(
    client: Client, people: dict[str, User]
) -> None:
    session = with_secrets(people["ada"])
    page, call = f"/sessions/{session.pk}/messages/4/", f"sessions/{session.pk}/messages/4"
    expected = {"ada": 403, "grace": 403, "eve": 404, "linus": 200}
    for name, status in expected.items():
        client.force_login(people[name])
        shown = client.get(page, {"raw": "1"}, headers=HTMX)
        told = Caller(people[name]).get(call, raw="1")
        assert (shown.status_code, told.status_code) == (status, status), name
        assert (SECRET in shown.content.decode()) == (status == 200)
    assert told.json()["wire"] == session.messages.get(number=4).text
    assert told.json()["masked"] == 0
    entries = AuditEntry.objects.filter(chain=session.pk, action="raw_read")
    assert [(one.who, one.new) for one in entries] == [("linus", {"what": "message 4"})] * 2


@pytest.mark.parametrize("name", ["ada", "linus"])
def test_nothing_is_found_by_a_secret(client: Client, people: dict[str, User], name: str) -> None:
    session = with_secrets(people["ada"])
    client.force_login(people[name])
    for words, there in ((SECRET[:14], False), ("banana", True)):
        for where in ("search/", ""):
            query = f"?view=all&whole=1&q={words}" if where else f"?view=all&q={words}"
            html = html_of(client, f"/sessions/{session.pk}/messages/{where}{query}", htmx=True)
            assert ('id="message-' in html or "data-row" in html) is there, (words, where)


def test_who_may_read_raw_may_search_so_and_each_part_is_audited(
    client: Client, people: dict[str, User]
) -> None:
    session = with_secrets(people["ada"])
    query = {"view": "all", "whole": "1", "raw": "1", "q": SECRET[8:]}
    home = f"/sessions/{session.pk}/"
    for name in ("ada", "grace"):
        client.force_login(people[name])
        assert client.get(home, query).status_code == 403
        assert 'id="raw"' not in html_of(client, home)
    client.force_login(people["linus"])
    for path in (home, f"{home}messages/", f"{home}messages/search/"):
        html = client.get(path, query, headers=HTMX if path != home else {}).content.decode()
        assert f"<mark>{SECRET[8:]}</mark>" in html
    assert 'id="raw" value="1" checked' in client.get(home, query).content.decode()
    # Without a search there is nothing raw to see.
    assert SECRET not in client.get(home, {**query, "q": ""}).content.decode()
    entries = AuditEntry.objects.filter(chain=session.pk, action="raw_read")
    told = ("linus", {"what": "a search of whole texts"})
    assert [(one.who, one.new) for one in entries] == [told] * 4


def test_an_import_tells_no_secret_in_its_title_its_rows_or_its_problems(ada: User) -> None:
    text = f"{'of much ' * 8}and {SECRET}"
    chat = {"messages": [{"role": "user", "content": text}, {"role": SECRET}]}
    session = import_recording(ada, json.dumps(chat).encode(), "x.json")
    assert session.title == f"{'of much ' * 8}and {MASKED}"
    assert session.problems and SECRET[:12] not in json.dumps(session.problems)
    assert session.messages.get().preview == session.title


def test_facts_that_a_compaction_lost_are_told_masked(ada: User) -> None:
    text = f"Never print the value VENDOR_API_KEY={SECRET} again."
    session = a_talk_of(ada, said(1, "Be careful.", "system"), said(2, text), *messages_of(10)[2:])
    compacted(session, start=1, stop=4)
    (row,) = session.stored_compactions.all()
    told = json.dumps(row.survival)
    assert "VENDOR_API_KEY" in told and SECRET[:12] not in told


def test_a_secret_across_pages_of_a_long_body_is_masked(client: Client, ada: User) -> None:
    client.force_login(ada)
    text = "z" * (PAGE_CHARS - 10) + f" {SECRET} " + "z" * 100
    session = a_talk_of(ada, said(1, "Be careful.", "system"), said(2, text))
    home = f"/sessions/{session.pk}/messages/2/"
    first, second = html_of(client, home), html_of(client, f"{home}?offset={PAGE_CHARS}")
    assert SECRET[:8] not in first and SECRET[10:] not in second


def test_what_sockets_are_sent_is_masked_as_it_is_stored(ada: User) -> None:
    session = with_secrets(ada)
    told = json.dumps([event.data for event in session.events.all()])
    assert SECRET[:12] not in told and told.count(MASKED) >= 8
    assert PLAIN in told


def test_ordinary_text_is_told_as_it_is(ada: User) -> None:
    texts = ["the token count is 21,388", "max_tokens=4096", "a secret agent", "PATH=/usr/bin"]
    messages = [said(number, text) for number, text in enumerate(texts, 1)]
    session = a_talk_of(ada, *messages)
    assert [one.preview for one in session.messages.order_by("number")] == texts


def test_log_lines_and_tracebacks_hold_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    try:
        raise ValueError(f"the key {SECRET} is wrong")
    except ValueError:
        logging.getLogger("x").warning("sent %s", f"Bearer {SECRET}", exc_info=True)
    (line,) = [MaskedLine("%(message)s").format(one) for one in caplog.records]
    assert SECRET not in line and line.count(MASKED) == 2 and "ValueError" in line


def test_what_the_server_says_goes_the_same_way(tmp_path: Path) -> None:
    """As in a web process: uvicorn sets its logging up, then the settings theirs."""
    code = (
        "import logging, logging.config, uvicorn.config, django\n"
        "logging.config.dictConfig(uvicorn.config.LOGGING_CONFIG)\n"
        "django.setup()\n"
        f"logging.getLogger('uvicorn.error').error('%s', 'Bearer {SECRET}')"
    )
    own = {"DJANGO_SETTINGS_MODULE": "hermesweb.settings", "HERMESWEB_DATA_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        check=True,
    )
    assert SECRET not in done.stderr and done.stderr.count(MASKED) == 1
