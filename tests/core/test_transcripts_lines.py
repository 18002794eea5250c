from __future__ import annotations

import json
from pathlib import Path

import pytest
from recorded import (
    answered,
    call,
    check_sums,
    kinds,
    load,
    record,
    replied,
    said,
    text,
    texts,
)

from agentcore import transcripts
from agentcore.transcripts import ProblemKind
from agentcore.transcripts import lines as line_reader


def test_a_bad_line_costs_one_line(shared: Path) -> None:
    case = json.loads((shared / "cases" / "bad-line-in-the-middle.json").read_text())
    lines = [
        bytes.fromhex(line["$bytes"]) * line["times"] + b"\n" if isinstance(line, dict) else line
        for line in case["given"]["lines"]
    ]
    recording = load(*lines)
    assert texts(recording) == ["before", "after"]
    assert kinds(recording) == [(line, ProblemKind.BAD_LINE) for line in (2, 3, 4)]
    assert all(problem.detail for problem in recording.problems)
    assert recording.incomplete


@pytest.mark.parametrize(
    "tail",
    [
        pytest.param(b'{"type":"user","uuid":"u2","mess', id="in a record"),
        pytest.param('{"type":"user","uuid":"é'.encode()[:-1], id="in a character"),
        pytest.param(b'{"type":"user","uuid":"\\u00', id="in an escape"),
    ],
)
def test_a_torn_tail_is_told_and_not_repaired(tail: bytes) -> None:
    recording = load(said("u1", None, "go"), tail)
    assert texts(recording) == ["go"]
    assert kinds(recording) == [(2, ProblemKind.TORN_TAIL)] and recording.incomplete


def test_what_was_appended_behind_a_torn_tail_is_read() -> None:
    torn = b'{"type":"user","uuid":"u2","message":{"content":[{"type":"text","text":"hal"}'
    recording = load(said("u1", None, "go"), torn, said("u3", "u1", "next"))
    assert texts(recording) == ["go", "next"]
    assert kinds(recording) == [(2, ProblemKind.BAD_LINE)]
    assert texts(load(said("u1", None, "go"), torn)) == ["go"]


def test_two_records_glued_on_one_line_are_both_read() -> None:
    first, second = said("u1", None, "one"), said("u2", "u1", "two")
    recording = load(json.dumps(first) + json.dumps(second))
    assert texts(recording) == ["one", "two"]
    assert kinds(recording) == [(1, ProblemKind.GLUED_RECORDS)] and not recording.incomplete


def test_a_record_that_comes_twice_is_taken_once() -> None:
    reply = replied("a1", "u1", "m1", text("answer"))
    recording = load(said("u1", None, "go"), reply, reply)
    assert texts(recording) == ["go", "answer"]
    assert kinds(recording) == [(3, ProblemKind.REPEATED_RECORD)]


def test_open_and_orphaned_calls_are_reported_as_found() -> None:
    recording = load(
        answered("u0", None, ("before-the-file", "late")),
        replied("a1", "u0", "m1", call("c1"), call("c2")),
        answered("u1", "a1", ("c1", "Mon"), ("c1", "Tue")),
    )
    assert kinds(recording) == [
        (1, ProblemKind.ORPHAN_RESULT),
        (2, ProblemKind.UNANSWERED_CALL),
        (3, ProblemKind.DUPLICATE_RESULT),
    ]
    assert len(recording.context()) == 4


def test_byte_order_mark_and_carriage_returns_do_no_harm() -> None:
    lines = [json.dumps(said("u1", None, "go")), json.dumps(said("u2", "u1", "on"))]
    recording = transcripts.load_transcript(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    assert texts(recording) == ["go", "on"] and not recording.problems


@pytest.mark.parametrize(
    ("block", "problem"),
    [
        ('{"type":"tool_use","id":"c","name":"n","input":{"n":NaN}}', None),
        ('{"type":"tool_use","id":"c","name":"n","input":%s}' % ("[" * 300 + "]" * 300), None),
        ('{"type":"new_kind","n":NaN}', ProblemKind.BAD_MESSAGE),
        ('{"type":"new_kind","n":%s}' % ("[" * 300 + "]" * 300), ProblemKind.BAD_MESSAGE),
        ('{"type":"new_kind","n":%s}' % ("[" * 100_000), ProblemKind.BAD_LINE),
        ('{"type":"new_kind","n":%s}' % ("9" * 10_000), ProblemKind.BAD_LINE),
        ('{"type":"new_kind","n":123456789012345678901234567890}', None),
        ('{"type":"text","text":"a","text":"b"}', None),
        ('{"type":"text","text":"\\ud83d"}', None),
        ('{"type":"text","text":7}', None),
        ('"only words"', None),
        ("null", None),
        ('{"type":{"n":1}}', ProblemKind.BAD_MESSAGE),
    ],
)
def test_odd_values_are_carried_or_refused_by_name(block: str, problem: ProblemKind | None) -> None:
    message = '{"id":"m1","model":"x","content":[' + block + "]}"
    line = '{"type":"assistant","uuid":"a1","parentUuid":"u1","message":' + message + "}"
    recording = load(said("u1", None, "go"), line, said("u2", "u1", "on"))
    told = {one.kind for one in recording.problems} - {ProblemKind.UNANSWERED_CALL}
    assert told == ({problem} if problem else set())
    assert recording.incomplete == bool(problem)
    check_sums(recording)


def test_a_line_of_any_length_is_held_no_longer_than_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(line_reader, "MAX_LINE_BYTES", 1_000)
    recording = load(said("u1", None, "go"), said("u2", "u1", "x" * 5_000), said("u3", "u1", "on"))
    assert texts(recording) == ["go", "on"]
    assert kinds(recording) == [(2, ProblemKind.BAD_LINE)]


def test_records_of_unknown_types_are_counted() -> None:
    recording = load(
        said("u1", None, "go"), record("system", "x", "u1", subtype="new"), {"type": "queue-x"}
    )
    assert recording.skipped == (("queue-x", 1), ("system/new", 1))
