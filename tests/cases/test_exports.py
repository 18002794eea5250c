"""Cases that end in an export: what is in the file, and what comes back of it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from builders import a_session, a_user
from calls import Caller
from cases.given import speaker, text_of
from scenes import a_talk_of

from agentcore.compaction.summarizer import summary_request
from agentcore.llm.masked import MaskedModel
from agentcore.messages import ToolCall, born
from agentcore.options import SummaryOptions
from agentcore.redact import MASKED
from agentcore.transcripts import ProblemKind, load_transcript
from hermesweb import export
from hermesweb.imports import import_recording
from hermesweb.lives import snapshot_of
from hermesweb.models import AgentSession, ModelEndpoint
from hermesweb.tools import toolbox_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_keys_in_the_record(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, printed = case["program_secret"], case["messages"][3]["content"]
    session = _stored(case, tmp_path, monkeypatch, f"{printed}\nOWN={own}")
    rows = list(session.messages.order_by("number"))
    assert own not in "".join(row.text for row in rows)
    assert printed in snapshot_of(session).messages[3].text

    exported = "".join(export.lines(session, raw=False))
    caller = Caller(session.owner)
    told = caller.get(f"sessions/{session.pk}/messages/4").json()
    events = caller.get(f"sessions/{session.pk}/events").content.decode()
    model = speaker("a summary")
    request = summary_request(snapshot_of(session).messages, SummaryOptions(), 100_000)
    asyncio.run(MaskedModel(model).reply(request.messages(), ()))
    asked = text_of([one.value() for one in model.requests[0].messages])
    hidden = ("zz9-plural-alpha", "AKIAEXAMPLE", "correct horse", "MIIexample", own)
    for text in (exported, json.dumps(told), events, asked, rows[3].preview):
        assert [one for one in hidden if one in text] == []
    for text in (exported, told["wire"], asked):
        assert "MONKEY=banana" in text and "PATH=/usr/bin" in text

    lines = [json.loads(line) for line in exported.splitlines()]
    shown = next(one for one in lines if one.get("number") == 4 and one["type"] == "message")
    assert shown["masked"] == told["masked"] == 4 == told["wire"].count(MASKED)
    assert json.loads(told["wire"]) == shown["message"]
    assert told["bytes"] == len(rows[3].text.encode()) > len(told["wire"].encode())


def _stored(
    case: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch, output: str
) -> AgentSession:
    """The case's talk; its result is what the real tool gave of a command with that output."""
    monkeypatch.setenv("CASE_KEY", case["program_secret"])
    ModelEndpoint.objects.create(name="case", model="case", key_variable="CASE_KEY")
    (folder / "env").write_text(output)
    ada = a_user()
    call = ToolCall("e", "run_command", '{"command": "cat env"}')
    toolbox = toolbox_of(
        empty := a_session(ada, workspace=str(folder)), empty.profile_version.value
    )
    outcome = asyncio.run(toolbox.call(call))
    values = [*case["messages"][:3], {**case["messages"][3], "content": outcome.text}]
    return a_talk_of(ada, *(born(value).numbered(n) for n, value in enumerate(values, 1)))


def test_append_after_a_torn_tail(case: dict[str, Any]) -> None:
    data = case["file_bytes"].encode() + json.dumps(case["append"]).encode() + b"\n"
    recording = load_transcript(data)
    assert [message.text for message in recording.messages] == ["next"]
    (problem,) = recording.problems
    assert (problem.line, problem.kind) == (2, ProblemKind.BAD_LINE)
    assert recording.incomplete

    session = import_recording(a_user(), data, "torn.jsonl")
    assert session.incomplete and session.problems[0]["line"] == 2
    exported = "".join(export.lines(session, raw=True))
    types = [json.loads(line)["type"] for line in exported.splitlines()]
    assert types == ["session", "message", "event"]
