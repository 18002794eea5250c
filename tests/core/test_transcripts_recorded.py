from __future__ import annotations

import json
from pathlib import Path

import pytest
from recorded import check_sums, kinds

import agentcore
from agentcore import transcripts
from agentcore.errors import TranscriptError
from agentcore.invariants import legal
from agentcore.messages import Role
from agentcore.transcripts import Format, ProblemKind

FILES = [
    "auto-compact-294k",
    "cjk-in-tool-results-a",
    "glued-lines-open-tool-call",
    "manual-compact-queued-input",
    "micro-then-auto-compact-1840k",
    "microcompact-then-compact",
    "one-user-image",
    "parallel-tools-queue",
    "recent-version-49k",
    "sidechains-japanese-125k",
    "synthetic-assistant-281k",
    "tiny-8k",
]


@pytest.mark.parametrize("name", FILES)
def test_real_sessions_load_and_sum_to_the_byte(shared: Path, name: str) -> None:
    path = shared / "transcripts" / "claude-code" / f"{name}.jsonl"
    recording = transcripts.load_transcript(path)
    assert recording.format is Format.CLAUDE_CODE is transcripts.detect(path)
    for one in (recording, *recording.subagents):
        check_sums(one)
        assert [message.number for message in one.messages] == list(range(1, len(one.messages) + 1))


@pytest.mark.parametrize("name", FILES)
def test_the_contexts_of_real_sessions_are_legal_but_for_a_call_still_open(
    shared: Path, name: str
) -> None:
    path = shared / "transcripts" / "claude-code" / f"{name}.jsonl"
    found = legal(transcripts.load_transcript(path).context())
    assert len(found) == (name == "glued-lines-open-tool-call")


def test_a_recording_loads_through_the_front_door(shared: Path) -> None:
    path = shared / "transcripts" / "claude-code" / "tiny-8k.jsonl"
    assert agentcore.load_transcript(path) == transcripts.load_transcript(path)


def distinct_responses(path: Path) -> int:
    """Model responses of the main talk, counted the plain way."""
    found = set()
    for line in path.read_text().splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        message = value.get("message") if value["type"] == "assistant" else None
        if message and not value["isSidechain"] and message["model"] != "<synthetic>":
            found.add(message["id"])
    return len(found)


@pytest.mark.parametrize("name", [name for name in FILES if name != "recent-version-49k"])
def test_real_sessions_have_one_turn_a_response(shared: Path, name: str) -> None:
    path = shared / "transcripts" / "claude-code" / f"{name}.jsonl"
    assert len(transcripts.load_transcript(path).turns) == distinct_responses(path)


@pytest.mark.parametrize(
    ("name", "calls", "most_parallel", "compactions"),
    [
        ("auto-compact-294k", 10, 1, 1),
        ("cjk-in-tool-results-a", 38, 2, 0),
        ("glued-lines-open-tool-call", 56, 2, 0),
        ("manual-compact-queued-input", 39, 3, 1),
        ("micro-then-auto-compact-1840k", 92, 10, 2),
        ("microcompact-then-compact", 60, 2, 2),
        ("parallel-tools-queue", 40, 8, 0),
        ("recent-version-49k", 2, 1, 2),
        ("sidechains-japanese-125k", 13, 3, 0),
        ("synthetic-assistant-281k", 18, 1, 0),
        ("tiny-8k", 1, 1, 0),
    ],
)
def test_real_sessions_hold_the_calls_and_compactions_known_of_them(
    shared: Path, name: str, calls: int, most_parallel: int, compactions: int
) -> None:
    path = shared / "transcripts" / "claude-code" / f"{name}.jsonl"
    recording = transcripts.load_transcript(path)
    counts = [len(message.calls) for message in recording.messages]
    assert (sum(counts), max(counts)) == (calls, most_parallel)
    assert len(recording.compactions) == compactions


def test_the_real_glued_lines_lose_nothing(shared: Path) -> None:
    path = shared / "transcripts" / "claude-code" / "glued-lines-open-tool-call.jsonl"
    recording = transcripts.load_transcript(path)
    told = kinds(recording)
    assert [line for line, kind in told if kind is ProblemKind.GLUED_RECORDS] == [115, 241]
    assert [kind for _, kind in told].count(ProblemKind.UNANSWERED_CALL) == 1
    assert not recording.incomplete
    (subagent,) = recording.subagents
    assert subagent.call_id == recording.messages[-1].calls[0].id


def test_a_real_session_cut_anywhere_is_a_recording_or_refused(shared: Path) -> None:
    path = shared / "transcripts" / "claude-code" / "sidechains-japanese-125k.jsonl"
    raw = path.read_bytes()
    loaded = 0
    for percent in range(100):
        try:
            recording = transcripts.load_transcript(raw[: len(raw) * percent // 100])
        except TranscriptError:
            continue
        loaded += 1
        assert {one.kind for one in recording.problems} <= {
            ProblemKind.TORN_TAIL,
            ProblemKind.UNANSWERED_CALL,
        }
        check_sums(recording)
    assert loaded > 90


def test_results_are_tool_messages_whatever_role_brought_them(shared: Path) -> None:
    path = shared / "transcripts" / "claude-code" / "tiny-8k.jsonl"
    recording = transcripts.load_transcript(path)
    results = [message for message in recording.messages if message.role is Role.TOOL]
    assert [message.text for message in results] == ["Thoughts recorded successfully."]
