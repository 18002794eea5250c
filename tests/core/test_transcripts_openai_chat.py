from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import check_sums, kinds, texts

from agentcore import transcripts
from agentcore.errors import TranscriptError
from agentcore.messages import ToolStatus
from agentcore.transcripts import ChangeKind, Format, ProblemKind, Recording

SYSTEM = {"role": "system", "content": "You work here."}
GO = {"role": "user", "content": "go"}


def load(document: Any) -> Recording:
    return transcripts.load_transcript(json.dumps(document).encode())


def load_requests(*requests: Any) -> Recording:
    return transcripts.load_transcript("".join(json.dumps(r) + "\n" for r in requests).encode())


def asks(call_id: str, name: str = "grep") -> dict[str, Any]:
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{"}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def gives(call_id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def says(content: str, role: str = "assistant") -> dict[str, Any]:
    return {"role": role, "content": content}


def answer(message: dict[str, Any], **usage: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": "stop", "message": {**message, "refusal": None}}
    return {"id": "r1", "model": "gpt-4o", "created": 0, "choices": [choice], "usage": usage}


def test_a_bare_list_and_a_request_body_give_the_same_messages() -> None:
    messages = [SYSTEM, GO, asks("c1"), gives("c1", "db.py:10"), says("there")]
    bare, body = load(messages), load({"model": "gpt-4.1", "messages": messages, "tools": [{}]})
    assert [one.wire for one in bare.messages] == [one.wire for one in body.messages]
    assert [one.value() for one in bare.messages] == messages
    assert (bare.model, body.model) == ("", "gpt-4.1")
    assert body.tools == ({},)
    assert bare.messages[3].tool == "grep" and bare.messages[3].status is ToolStatus.UNKNOWN
    assert [(turn.first, turn.last) for turn in bare.turns] == [(3, 4), (5, 5)]
    check_sums(bare)


def test_a_response_beside_a_request_is_the_last_turn() -> None:
    details = {"prompt_tokens_details": {"cached_tokens": 60}}
    response = answer(says("done"), prompt_tokens=100, completion_tokens=7, **details)
    recording = load({"messages": [SYSTEM, GO], "response": response})
    assert texts(recording) == ["You work here.", "go", "done"]
    (turn,) = recording.turns
    assert (turn.response_id, turn.model, turn.at) == ("r1", "gpt-4o", "1970-01-01T00:00:00+00:00")
    assert turn.usage
    assert (turn.usage.prompt, turn.usage.input, turn.usage.cache_read) == (100, 40, 60)
    assert turn.usage.output == 7


def test_each_run_of_a_list_is_a_recording_of_its_own() -> None:
    runs = [{"task_id": 7, "traj": [SYSTEM, GO]}, {"traj": [GO, says("hi")]}, {"note": "none"}]
    loaded = transcripts.load_all(json.dumps(runs).encode())
    assert [one.title for one in loaded] == ["task 7", "run 1"]
    assert [len(one.messages) for one in loaded] == [2, 2]
    assert load(runs).title == "task 7"


def test_successive_requests_grow_one_list() -> None:
    first = {"messages": [SYSTEM, GO], "response": answer(asks("c1"), prompt_tokens=5)}
    second = {"messages": [SYSTEM, GO, asks("c1"), gives("c1", "x")], "response": answer(says("y"))}
    recording = load_requests(first, second)
    assert len(recording.messages) == 5 and not recording.revisions and not recording.problems
    assert [(turn.first, turn.last) for turn in recording.turns] == [(3, 4), (5, 5)]
    check_sums(recording)


def test_a_list_that_shares_only_its_head_was_compacted() -> None:
    old = [SYSTEM, GO, says("one " * 50), says("and?", "user"), says("two"), says("more", "user")]
    summary = says("[Earlier summary; reference only]\nboth", "system")
    recording = load_requests(old, [SYSTEM, summary, *old[4:], says("three"), says("on", "user")])
    assert texts(recording)[2:] == ["two", "more", "three", "on"]
    (change,) = recording.revisions
    assert change.kind is ChangeKind.COMPACTION and change.revision.ended == (2, 3, 4)
    assert [(message.number, place) for message, place in change.revision.begun] == [(7, 8)]
    (compaction,) = recording.compactions
    assert (compaction.turn, compaction.after < compaction.before) == (2, True)
    assert [turn.first for turn in recording.turns] == [3, 5, 8]
    check_sums(recording)


def test_a_result_blanked_in_place_is_replaced_in_its_place() -> None:
    old = [SYSTEM, GO, asks("c1"), gives("c1", "long " * 99), asks("c2"), gives("c2", "short")]
    new = [*old[:3], gives("c1", "[cleared]"), *old[4:], says("done")]
    recording = load_requests(old, new)
    assert [message.value() for message in recording.context()] == new
    assert recording.context()[3].replaces == 4
    assert not recording.problems


def test_another_system_message_is_no_compaction() -> None:
    recording = load_requests([SYSTEM, GO], [says("Now", "system"), GO, says("yes")])
    assert texts(recording) == ["Now", "go", "yes"]
    assert recording.revisions[0].kind is ChangeKind.REWRITE and not recording.compactions


@given(
    st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=7), min_size=1, max_size=5)
)
def test_the_list_at_the_end_is_the_last_one_requested(requests: list[list[str]]) -> None:
    lists = [[says(words, "user") for words in request] for request in requests]
    recording = load_requests(*lists)
    assert [message.value() for message in recording.context()] == lists[-1]
    check_sums(recording)


def test_a_bad_message_costs_itself() -> None:
    recording = load([GO, {"role": "wizard"}, 7, says("fine")])
    assert texts(recording) == ["go", "fine"]
    assert {kind for _, kind in kinds(recording)} == {ProblemKind.BAD_MESSAGE}
    assert recording.incomplete


def test_a_torn_request_costs_its_line() -> None:
    line = json.dumps({"messages": [SYSTEM, GO]}).encode()
    recording = transcripts.load_transcript(line + b"\n" + line[:40])
    assert texts(recording) == ["You work here.", "go"]
    assert kinds(recording) == [(2, ProblemKind.TORN_TAIL)]


def test_second_results_are_reported_and_nothing_is_raised(shared: Path) -> None:
    case = json.loads((shared / "cases" / "second-result-for-answered-call.json").read_text())
    recording = load(case["given"]["messages"])
    (problem,) = recording.problems
    assert problem.kind is ProblemKind.DUPLICATE_RESULT and "message 5" in problem.detail
    assert len(recording.messages) == len(case["given"]["messages"])


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "empty"),
        (b" \r\n\n", "empty"),
        (b"\x89PNG\r\n\x1a\n\0\0", "not UTF-8"),
        (b"just words", "neither JSON nor JSONL"),
        (b'{"messages": [{"role": "user", "content": "cut', "neither JSON nor JSONL"),
        (b"[]", "list"),
        (b"[" * 400 + b"]" * 400, "list"),
        (b"{}", "an empty object"),
        (b"7", "int at the top"),
        (b'{"messages": []}', "messages"),
        (b'{"system_prompt": "x", "messages": [{"role": "user"}]}', "system_prompt"),
        (b'{"type": "session"}\n{"type": "message"}\n', "no reader knows these lines"),
        (b'[{"role":"user","content":[{"type":"tool_result"}]}]', "a list that begins with"),
        ("{}".encode("utf-16"), "not UTF-8"),
    ],
)
def test_what_is_no_recording_is_refused_with_the_reason(raw: bytes, reason: str) -> None:
    with pytest.raises(TranscriptError, match=reason):
        transcripts.load_transcript(raw)


def test_an_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(TranscriptError, match="openai-chat, claude-code"):
        transcripts.load_transcript(b"[]", "codex")
    with pytest.raises(TranscriptError, match="no chat-completions JSON"):
        transcripts.load_transcript(b'{"type": "user", "uuid": "1"}', Format.OPENAI_CHAT)
    with pytest.raises(TranscriptError, match="nothing in it"):
        transcripts.load_transcript(json.dumps([GO]).encode(), Format.CLAUDE_CODE)


@pytest.mark.parametrize(
    ("name", "conversations", "messages", "turns"),
    [
        ("sdk-request-log-tools", 1, 13, 6),
        ("tau-airline-part-a", 12, 378, 177),
        ("tools-request", 1, 7, 3),
    ],
)
def test_real_files_load_and_sum_to_the_byte(
    shared: Path, name: str, conversations: int, messages: int, turns: int
) -> None:
    path = shared / "transcripts" / "openai-chat" / f"{name}.json"
    loaded = transcripts.load_all(path)
    assert len(loaded) == conversations
    assert sum(len(one.messages) for one in loaded) == messages
    assert sum(len(one.turns) for one in loaded) == turns
    for recording in loaded:
        assert recording.format is Format.OPENAI_CHAT
        assert {kind for _, kind in kinds(recording)} <= {ProblemKind.UNANSWERED_CALL}
        check_sums(recording)


def test_the_reply_in_a_real_log_is_kept_with_its_usage(shared: Path) -> None:
    path = shared / "transcripts" / "openai-chat" / "sdk-request-log-tools.json"
    turn = transcripts.load_transcript(path).turns[-1]
    assert turn.usage and (turn.usage.prompt, turn.usage.output) == (6729, 199)


def test_a_real_file_cut_anywhere_is_a_recording_or_refused(shared: Path) -> None:
    path = shared / "transcripts" / "openai-chat" / "sdk-request-log-tools.json"
    raw = path.read_bytes()
    for percent in range(100):
        with pytest.raises(TranscriptError):
            transcripts.load_transcript(raw[: len(raw) * percent // 100])
