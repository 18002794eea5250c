from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import (
    answered,
    boundary,
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

from agentcore.breakdown import Category, Mark
from agentcore.errors import TranscriptError
from agentcore.messages import ToolStatus
from agentcore.transcripts import ChangeKind, ProblemKind, TurnStatus


def test_records_of_one_response_become_one_message_and_one_turn() -> None:
    recording = load(
        said("u1", None, "go"),
        replied("a1", "u1", "m1", {"type": "thinking", "thinking": "hm", "signature": "s"}),
        replied("a2", "a1", "m1", text("Looking."), usage={"output_tokens": 9}),
        replied("a3", "a2", "m1", call("c1", path="é")),
        answered("u2", "a3", ("c1", "found")),
        replied("a4", "u2", "m2", text("done"), timestamp="2026-01-02T03:04:05.678Z"),
    )
    reply = recording.messages[1]
    assert [message.role for message in recording.messages] == ["user", "assistant", "tool"] + [
        "assistant"
    ]
    assert reply.calls[0].arguments == '{"path":"é"}'
    assert [part["type"] for part in reply.value()["content"]] == ["thinking", "text"]
    assert reply.sizes.breakdown[Category.THINKING] > 0
    assert [(turn.response_id, turn.first, turn.last) for turn in recording.turns] == [
        ("m1", 2, 3),
        ("m2", 4, 4),
    ]
    usage = recording.turns[0].usage
    assert usage and usage.output == 9 and usage.input == 10
    assert recording.turns[1].at == recording.times[3] == "2026-01-02T03:04:05.678Z"
    assert recording.model == "claude-opus-4" and not recording.problems
    check_sums(recording)


def test_a_result_says_whether_it_failed_and_which_tool_gave_it() -> None:
    wrong = {"type": "tool_result", "tool_use_id": "c2", "content": "no", "is_error": True}
    recording = load(
        said("u1", None, "go"),
        replied("a1", "u1", "m1", call("c1"), call("c2")),
        answered("u2", "a1", ("c1", "ok")),
        record("user", "u3", "a1", message={"content": [wrong]}),
    )
    assert [(m.tool, m.status) for m in recording.messages[2:]] == [
        ("Read", ToolStatus.OK),
        ("Read", ToolStatus.FAILED),
    ]


def test_parallel_calls_fork_the_links_and_are_no_rewind() -> None:
    recording = load(
        said("u1", None, "go"),
        replied("a1", "u1", "m1", call("c1")),
        replied("a2", "a1", "m1", call("c2")),
        answered("u2", "a2", ("c2", "two")),
        answered("u3", "a1", ("c1", "one")),
        replied("a3", "u3", "m2", text("both")),
    )
    assert texts(recording) == ["go", "", "two", "one", "both"]
    assert not recording.revisions and not recording.problems


def test_a_result_that_comes_after_a_note_stands_with_its_call() -> None:
    note = record("user", "n1", "u2", isMeta=True, message={"content": [text("about the skill")]})
    recording = load(
        said("u1", None, "go"),
        replied("a1", "u1", "m1", call("c1")),
        replied("a2", "a1", "m1", call("c2")),
        answered("u2", "a2", ("c2", "two")),
        note,
        answered("u3", "a1", ("c1", "one")),
        replied("a3", "u3", "m2", text("both")),
    )
    assert texts(recording) == ["go", "", "two", "one", "about the skill", "both"]
    assert recording.messages[4].mark is Mark.OBSERVATION
    assert [turn.last for turn in recording.turns] == [4, 6]
    check_sums(recording)


def test_a_rewind_ends_the_branch_that_was_left() -> None:
    recording = load(
        said("u1", None, "go"),
        replied("a1", "u1", "m1", text("first answer")),
        said("u2", "a1", "wrong way"),
        replied("a2", "u2", "m2", text("lost")),
        said("u3", "a1", "right way"),
        replied("a3", "u3", "m3", text("kept")),
    )
    assert texts(recording) == ["go", "first answer", "right way", "kept"]
    assert len(recording.messages) == 6 and len(recording.turns) == 3
    (change,) = recording.revisions
    assert change.kind is ChangeKind.REWIND and change.revision.ended == (3, 4)
    check_sums(recording)


def test_a_branch_that_was_left_can_be_taken_up_again() -> None:
    recording = load(
        said("u1", None, "go"),
        replied("a1", "u1", "m1", call("c1")),
        answered("r1", "a1", ("c1", "one")),
        replied("a2", "r1", "m2", text("answer")),
        said("u2", "u1", "aside"),
        said("u3", "a2", "back again"),
    )
    assert texts(recording) == ["go", "", "one", "answer", "back again"]
    begun = [message.number for message, _ in recording.revisions[1].revision.begun]
    assert begun == [2, 3, 4]
    check_sums(recording)


@given(st.lists(st.integers(min_value=0, max_value=30), min_size=1, max_size=30))
def test_the_list_at_the_end_is_the_branch_of_the_newest_record(links: list[int]) -> None:
    parents = [link % (place + 1) - 1 for place, link in enumerate(links)]
    recording = load(
        *(
            said(f"u{place}", f"u{parent}" if parent >= 0 else None, str(place))
            for place, parent in enumerate(parents)
        )
    )
    branch, place = [], len(links) - 1
    while place >= 0:
        branch.append(str(place))
        place = parents[place]
    assert texts(recording) == branch[::-1]
    check_sums(recording)


@pytest.mark.parametrize(
    "moment", ["0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59-23:00", 10**20]
)
def test_a_time_that_utc_does_not_have_is_none(moment: Any) -> None:
    recording = load(
        said("u1", None, "go"), replied("a1", "u1", "m1", text("done"), timestamp=moment)
    )
    assert [turn.at for turn in recording.turns] == [None]


@pytest.mark.parametrize("together", [1, 5_000])
def test_a_file_that_jumps_between_two_branches_on_each_line_is_soon_refused(together: int) -> None:
    """The branches part after `together` lines."""
    records = [
        said(str(line), str(max(line - (1 if line < together else 2), 0)), f"line {line}")
        for line in range(10_000)
    ]
    started = time.process_time()
    with pytest.raises(TranscriptError, match="jumps between branches"):
        load(*records)
    assert time.process_time() - started < 5


def test_many_tries_from_the_same_message_are_no_jumps_between_branches() -> None:
    recording = load(*(said(str(line), "0" if line else None, "go") for line in range(2_000)))
    assert len(recording.context()) == 2 and len(recording.revisions) == 1_998


def test_a_prompt_without_a_parent_begins_anew_and_a_missing_link_does_not() -> None:
    begun = load(said("u1", None, "one"), said("u2", None, "other"))
    assert texts(begun) == ["other"]
    unlinked = {"type": "user", "message": {"content": "no ids"}}
    gone = said("u3", "not-in-the-file", "after")
    assert texts(load(said("u1", None, "one"), unlinked, gone)) == ["one", "no ids", "after"]


def test_a_compaction_ends_all_and_begins_its_summary() -> None:
    recording = load(
        said("u1", None, "go"),
        replied("a1", "u1", "m1", text("answer")),
        boundary("b1"),
        record("progress", "p1", "b1", data={}),
        said("s1", "b1", "what happened", isCompactSummary=True),
        said("u2", "p1", "on"),
        replied("a2", "u2", "m2", text("more")),
    )
    assert texts(recording) == ["what happened", "on", "more"]
    summary = recording.messages[2]
    assert summary.mark is Mark.SUMMARY and summary.stands_for == (range(1, 3),)
    assert summary.sizes.breakdown[Category.SUMMARY] == summary.sizes.bytes
    (compaction,) = recording.compactions
    assert (compaction.turn, compaction.asked_by, compaction.tokens_before) == (1, "auto", 900)
    assert compaction.before == sum(m.sizes.bytes for m in recording.messages[:2])
    assert compaction.after == summary.sizes.bytes
    assert recording.revisions[0].revision.ended == (1, 2)
    check_sums(recording)


def test_a_compaction_without_its_summary_is_told() -> None:
    recording = load(said("u1", None, "go"), boundary("b1"), said("u2", "b1", "on"))
    assert texts(recording) == ["on"]
    assert kinds(recording) == [(2, ProblemKind.NO_SUMMARY)]
    assert len(recording.compactions) == 1


def test_going_back_behind_a_compaction_revives_what_was_there() -> None:
    recording = load(
        said("u1", None, "go"),
        replied("a1", "u1", "m1", text("answer")),
        boundary("b1"),
        said("s1", "b1", "summary", isCompactSummary=True),
        said("u2", "a1", "as if never compacted"),
    )
    assert texts(recording) == ["go", "answer", "as if never compacted"]
    check_sums(recording)


def test_a_microcompaction_replaces_each_result_in_its_place() -> None:
    micro = record("system", "x1", "a2", subtype="microcompact_boundary")
    micro["microcompactMetadata"] = {"trigger": "auto", "compactedToolIds": ["c1", "gone"]}
    recording = load(
        said("u1", None, "go"),
        replied("a1", "u1", "m1", call("c1"), call("c2")),
        answered("r1", "a1", ("c1", "x" * 500)),
        answered("r2", "a1", ("c2", "short")),
        replied("a2", "r2", "m2", text("fine")),
        micro,
        said("u2", "a2", "on"),
    )
    placeholder = recording.context()[2]
    assert placeholder.replaces == 3 and placeholder.tool_call_id == "c1"
    assert texts(recording)[3:] == ["short", "fine", "on"]
    assert recording.compactions[0].kind is ChangeKind.MICROCOMPACTION
    assert recording.compactions[0].after < recording.compactions[0].before
    assert not recording.problems
    check_sums(recording)


def test_synthetic_replies_are_messages_but_no_turns() -> None:
    made_up = replied("a1", "u1", "x", text("No response requested."))
    made_up["message"]["model"] = "<synthetic>"
    failed = json.loads(json.dumps(made_up)) | {"uuid": "a2", "isApiErrorMessage": True}
    recording = load(said("u1", None, "go"), made_up, failed)
    assert texts(recording) == ["go", "No response requested."]
    assert not recording.turns and ("assistant/api_error", 1) in recording.skipped


def test_an_interrupted_reply_is_an_aborted_turn() -> None:
    recording = load(
        said("u1", None, "go"),
        replied("a1", "u1", "m1", text("I beg")),
        said("u2", "a1", "[Request interrupted by user]"),
        said("u3", "u2", "again"),
        replied("a2", "u3", "m2", text("fine")),
    )
    assert [turn.status for turn in recording.turns] == [TurnStatus.ABORTED, TurnStatus.OK]


def test_a_picture_stays_a_part_and_is_charged_as_one() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}}
    content = [image, text("what is it?")]
    recording = load(record("user", "u1", None, message={"role": "user", "content": content}))
    (message,) = recording.messages
    assert message.value()["content"] == content
    assert message.sizes.breakdown[Category.IMAGES] > 0


def test_titles_of_other_sessions_are_not_taken() -> None:
    foreign = {"type": "summary", "summary": "another talk", "leafUuid": "elsewhere"}
    own = {"type": "summary", "summary": "this talk", "leafUuid": "u1"}
    assert load(foreign, said("u1", None, "go on")).title == "go on"
    assert load(foreign, own, said("u1", None, "go on")).title == "this talk"


def test_subagents_stand_apart_linked_to_their_call(shared: Path) -> None:
    case = json.loads((shared / "cases" / "subagent-records-in-main-list.json").read_text())
    expect = case["expect"]
    recording = load(*case["given"]["jsonl"])
    assert len(recording.messages) == expect["main_messages"]
    assert [turn.usage.prompt for turn in recording.turns if turn.usage] == [1000, 1100]
    assert recording.spent().input == expect["total_input"]
    assert recording.spent().output == expect["total_output"]
    (subagent,) = recording.subagents
    assert subagent.call_id == "task1" and texts(subagent) == ["look", "found"]


def test_a_file_of_a_subagent_alone_is_a_session() -> None:
    recording = load(
        said("s1", None, "look", isSidechain=True),
        replied("s2", "s1", "m1", text("found"), isSidechain=True),
    )
    assert texts(recording) == ["look", "found"] and len(recording.turns) == 1


def test_the_prompt_of_a_request_is_all_three_of_its_parts(shared: Path) -> None:
    case = json.loads((shared / "cases" / "cached-prompt-shows-zero-percent.json").read_text())
    replies = [
        replied(f"a{usage.pop('request')}", None, f"m{place}", text("x"), usage=usage)
        for place, usage in enumerate(case["given"]["usage"])
    ]
    turns = load(said("u1", None, "go"), *replies).turns
    prompts = [turn.usage.prompt for turn in turns if turn.usage]
    assert prompts == case["expect"]["prompt_tokens"]
    shares = [turn.usage.cache_read / turn.usage.prompt for turn in turns if turn.usage]
    percent = [round(100 * share, 1) for share in shares]
    assert percent == case["expect"]["cache_read_share_percent"]
