from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from builders import a_lease, a_session, added, said
from django.conf import LazySettings

from agentcore.messages import ToolCall, born
from agentcore.redact import WITHHELD
from agentcore.tools.base import Outcome
from agentcore.wire import dumps
from hermesweb.models import AgentSession, ModelEndpoint
from hermesweb.recorder import record
from hermesweb.tools import search, toolbox_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(tmp_path: Path) -> AgentSession:
    return a_session(workspace=str(tmp_path.resolve()))


def call(session: AgentSession, tool: str, **arguments: Any) -> Outcome:
    box = toolbox_of(session, session.profile_version.value)
    return async_to_sync(box.call)(ToolCall("c", tool, dumps(arguments)))


def offered(session: AgentSession) -> set[str]:
    schemas = toolbox_of(session, session.profile_version.value).schemas
    return {str(schema["function"]["name"]) for schema in schemas}


def held(session: AgentSession, *texts: str) -> None:
    messages = [said(number, text) for number, text in enumerate(texts, 1)]
    record(session.pk, a_lease(session).fence, added(*messages, turn=2))


def test_recall_finds_what_a_session_ever_held(session: AgentSession) -> None:
    held(session, "the query is slow", "an index on the table", "查询很慢", "x" * 9_000 + " query")
    found = search(session.pk, "slow QUERY", 10)
    assert [(one.number, one.turn, one.who) for one in found] == [(1, 2, "user"), (4, 2, "user")]
    assert [one.number for one in search(session.pk, "查询", 10)] == [3]
    assert [one.number for one in search(session.pk, "query", 1)] == [4]
    assert search(session.pk, "absent", 10) == []


def test_recall_sees_neither_other_sessions_nor_searches_nor_placeholders(
    session: AgentSession,
) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "recall", "arguments": "{}"}}
    asking = {"role": "assistant", "content": "I look for word", "tool_calls": [call]}
    answer = {"role": "tool", "tool_call_id": "c", "content": "recall 'word': word"}
    placeholder = {"role": "tool", "tool_call_id": "b", "content": "[word]"}
    messages = [
        said(1, "a word"),
        born(asking).numbered(2),
        born(answer, tool="recall").numbered(3),
        born(placeholder, tool="grep", replaces=1).numbered(4),
    ]
    record(session.pk, a_lease(session).fence, added(*messages))
    held(a_session(), "another word")
    assert [one.number for one in search(session.pk, "word", 10)] == [1]


@pytest.mark.django_db(transaction=True)
def test_recall_is_a_tool_of_every_session(session: AgentSession) -> None:
    held(session, "the query is slow")
    text = call(session, "recall", query="slow").text
    assert text == "recall 'slow': 1 message\n#1 (user, turn 2): the query is slow"


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("VENDOR_API_KEY", "key-of-the-vendor-1")
    ModelEndpoint.objects.create(name="vendor", model="m", key_variable="VENDOR_API_KEY")
    yield "key-of-the-vendor-1"


def test_no_result_holds_a_key_of_an_endpoint(session: AgentSession, key: str) -> None:
    (Path(session.workspace) / "env").write_text(f"VENDOR_API_KEY={key}\n")
    outcome = call(session, "read_file", path="env")
    assert outcome.text.endswith(f"VENDOR_API_KEY={WITHHELD}\n")
    assert key not in outcome.captured


def test_the_data_folder_in_a_workspace_is_closed(
    session: AgentSession, settings: LazySettings
) -> None:
    settings.DATA_DIR = Path(session.workspace) / "data"
    settings.DATA_DIR.mkdir()
    (settings.DATA_DIR / "secret_key").write_text("x")
    assert "data folder" in call(session, "read_file", path="data/secret_key").text


def test_the_web_is_lent_by_a_setting(session: AgentSession, settings: LazySettings) -> None:
    assert offered(session) & {"web_fetch", "web_search"} == set()
    settings.WEB_TOOLS = True
    assert offered(session) & {"web_fetch", "web_search"} == {"web_fetch"}
    settings.SEARCH_URL = "http://search.example"
    assert offered(session) >= {"web_fetch", "web_search"}


def test_a_skill_of_the_workspace_is_offered(session: AgentSession) -> None:
    assert "skill" not in offered(session)
    folder = Path(session.workspace) / ".hermes" / "skills" / "tidy"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: tidy\ndescription: d\n---\nTidy up.\n")
    assert call(session, "skill", name="tidy").text == "skill tidy\nTidy up."


def test_commands_find_the_programs_of_a_project_first(session: AgentSession) -> None:
    program = Path(session.workspace) / ".venv" / "bin" / "ls"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho its own\n")
    program.chmod(0o755)
    assert call(session, "run_command", command="ls").text.endswith("its own\n")
