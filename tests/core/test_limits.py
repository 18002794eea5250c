from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentcore.limits import NOTICE_BYTES, Keep, clamp, head_of

KEEPS: tuple[Keep, ...] = get_args(Keep)
OMITTED = re.compile(r"([0-9]+) bytes omitted")
MIXED = "".join(f"{n} 中文 é 😀\n" for n in range(60))

texts = st.text(st.sampled_from("a\n é中😀\ud800\udfff\ufffd"), max_size=400)
keeps = st.sampled_from(KEEPS)


def size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def without_notices(text: str) -> str:
    """What is left of a clamped text: its own bytes."""
    text = re.sub(r"\n… \d+ bytes omitted here\n", "", text)
    return re.sub(r"(\A|\n| )… output truncated \([^)]*\)(\n|\Z|(?=\n))", "", text, count=1)


@pytest.mark.parametrize("keep", KEEPS)
def test_a_text_at_the_limit_comes_back_unchanged(keep: Keep) -> None:
    assert clamp("x" * 100, 100, keep) == "x" * 100


@pytest.mark.parametrize("keep", KEEPS)
def test_no_limit_keeps_all(keep: Keep) -> None:
    assert clamp("log line\n" * 30_000, 0, keep) == "log line\n" * 30_000


@pytest.mark.parametrize(
    ("text", "kept", "omitted"),
    [
        ("x" * 30_000, 20_000, 10_000),
        ("中" * 10_000, 19_998, 10_002),
        ("a" + "😀" * 6_000, 19_997, 4_004),
        ("aa" + "😀" * 6_000, 19_998, 4_004),
        ("é" * 12_000, 20_000, 4_000),
    ],
)
def test_the_head_ends_at_a_character_border(text: str, kept: int, omitted: int) -> None:
    head, _, notice = clamp(text, 20_000).rpartition("\n")
    assert text.startswith(head)
    assert size(head) == kept
    assert OMITTED.search(notice)[1] == str(omitted)  # type: ignore[index]


def test_the_tail_stands_after_the_notice() -> None:
    notice, _, tail = clamp("中" * 10_000, 20_000, "tail").partition("\n")
    assert tail == "中" * 6_666
    assert "10002 bytes omitted" in notice


def test_head_and_tail_announce_the_gap_in_the_first_line() -> None:
    text = "run_command: make test\n" + "é" * 20_000 + "\n3 failed"
    lines = clamp(text, 10_000, "head+tail").split("\n")
    assert lines[0].startswith("run_command: make test … output truncated (")
    assert lines[-1] == "3 failed"
    omitted = size(text) - 10_000 + 2  # half a character on either side
    assert f"… {omitted} bytes omitted here" in lines


def test_a_long_first_line_gets_the_notice_before_it() -> None:
    assert clamp("x" * 30_000, 20_000, "head+tail").startswith("… output truncated (10000 bytes")


@pytest.mark.parametrize("keep", KEEPS)
def test_every_offset_of_a_mixed_text_cuts_right(keep: Keep) -> None:
    whole = size(MIXED)
    for limit in range(1, whole):
        clamped = clamp(MIXED, limit, keep)
        omitted = int(OMITTED.search(clamped)[1])  # type: ignore[index]
        kept = whole - omitted
        assert limit - 6 <= kept <= limit
        assert kept < size(clamped) <= limit + NOTICE_BYTES
        assert "\ufffd" not in clamped


@given(texts, st.integers(1, 1_200), keeps)
def test_clamping_twice_changes_nothing(text: str, limit: int, keep: Keep) -> None:
    once = clamp(text, limit, keep)
    assert clamp(once, limit, keep) == once


@given(texts, st.integers(1, 1_200), keeps)
def test_the_notice_tells_exactly_what_is_missing(text: str, limit: int, keep: Keep) -> None:
    clamped = clamp(text, limit, keep)
    if clamped != text:
        omitted = int(OMITTED.search(clamped)[1])  # type: ignore[index]
        assert size(without_notices(clamped)) == size(text) - omitted


hostile = st.lists(
    st.sampled_from(
        [
            "… output truncated (5 bytes omitted; the session keeps all)",
            "\n… 5 bytes omitted here\n",
            clamp("x" * 9, 4).removeprefix("xxxx\n"),
            "\n",
            " ",
            "run_command: x",
            "中" * 30,
        ]
    ),
    max_size=60,
).map("".join)


@given(hostile, st.integers(1, 600), keeps)
@example("… output truncated (5 bytes omitted; the session keeps all)\n" * 500, 100, "head+tail")
@example(
    "… output truncated (5 bytes omitted; the session keeps all)"
    "… output truncated (5 bytes omitted; the session keeps the whole output; ask for less)",
    88,
    "tail",
)
def test_a_text_full_of_notices_stays_within_the_bound(text: str, limit: int, keep: Keep) -> None:
    clamped = clamp(text, limit, keep)
    assert size(clamped) <= limit + NOTICE_BYTES
    assert clamp(clamped, limit, keep) == clamped


def test_a_huge_amount_keeps_the_notice_within_its_bound() -> None:
    clamped = clamp("x" * 50_000_000, 10, "head+tail")
    assert size(clamped) <= 10 + NOTICE_BYTES


@given(texts, st.integers(0, 1_200))
def test_the_front_of_a_text_fits_and_is_a_front(text: str, limit: int) -> None:
    front = head_of(text, limit)
    assert text.startswith(front)
    assert size(front) <= limit
    assert front == text or size(front) > limit - 4


def test_the_case_of_a_cut_inside_a_character(shared: Path) -> None:
    case = _case(shared, "cut-inside-a-character")
    limit = case["given"]["limit_bytes"]
    originals = [_expand(result["text"]) for result in case["given"]["results"]]
    clamped = [clamp(text, limit) for text in originals]
    kept = [size(text.rpartition("\n")[0]) for text in clamped[:2]]
    assert kept == case["expect"]["kept_bytes"]
    assert all("\ufffd" not in text for text in clamped)
    assert "10002 bytes omitted" in clamped[0]
    assert [clamp(text, limit) for text in clamped] == clamped


@pytest.mark.parametrize("keep", KEEPS)
def test_the_case_of_the_hidden_mark(shared: Path, keep: Keep) -> None:
    given_ = _case(shared, "truncation-mark-hidden-in-the-middle")["given"]
    clamped = clamp(_expand(given_["output"]), given_["limit_bytes"], keep)
    assert "bytes omitted" in clamped[:200] + clamped[-200:]


def test_the_case_of_the_lost_original(shared: Path) -> None:
    given_ = _case(shared, "capped-output-original-lost")["given"]
    text = _expand(given_["result"]["parts"][0]["text"])
    clamped = clamp(text, given_["limits"][0])
    assert "the session keeps the whole output" in clamped[-200:]
    assert clamp(text, given_["limits"][1]) == text


def _case(shared: Path, name: str) -> Any:
    return json.loads((shared / "cases" / f"{name}.json").read_text())


def _expand(value: Any) -> str:
    if isinstance(value, str):
        return value
    if "$concat" in value:
        return "".join(_expand(part) for part in value["$concat"])
    return str(value["$repeat"]) * int(value["times"])
