"""The tables of spec-context 4 and 5, row by row: each limit has its default, is tunable in a
profile, and leaves a trace that holds the number in its true unit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from servers import said, serving

from agentcore import PRESETS, Profile, clamp
from agentcore.breakdown import byte_length
from agentcore.errors import ProfileError
from agentcore.limits import KIB, MIB, NOTICE_BYTES, Limits
from agentcore.messages import ToolCall
from agentcore.tools import Lent, Mode, Web, toolbox
from agentcore.tools.base import Outcome, Workspace
from agentcore.tools.fetcher import Fetcher
from agentcore.wire import dumps

# Row, field, default of spec-context 4.
ROWS = [
    ("read_file file size", "file_bytes", 4 * MIB),
    ("read_file lines by default", "read_lines", 2_000),
    ("scanned file size", "searched_file_bytes", 1 * MIB),
    ("grep hits", "grep_hits", 200),
    ("width of a hit line", "grep_line_chars", 240),
    ("glob files", "glob_files", 500),
    ("any tool result", "result_bytes", 20_000),
    ("command stdout, stderr, each", "stream_bytes", 256 * KIB),
    ("background task output", "background_bytes", 512 * KIB),
    ("web response body", "web_body_bytes", 2 * MIB),
    ("web page text", "web_text_chars", 20_000),
    ("web_search hits", "web_hits", 8),
    ("web_search text", "web_hit_chars", 300),
    ("AGENTS.md chain", "project_docs_bytes", 20_000),
    ("skill body", "skill_chars", 20_000),
    ("memory block", "memory_chars", 2_400),
    ("memory entries", "memory_entries", 4),
    ("memory entry", "memory_entry_chars", 400),
    ("memory entries stored", "memory_stored", 500),
]
# Units of a text: one, two, three and four bytes, and a letter with two combining marks.
LETTERS = {"ascii": "a", "latin": "é", "cjk": "中", "emoji": "😀", "combining": "e\u0301\u0323"}
Act: TypeAlias = Callable[[Path, Limits], Awaitable[str]]


@pytest.mark.parametrize(("row", "name", "default"), ROWS, ids=[row for row, _, _ in ROWS])
def test_a_row_is_a_limit_with_its_default_that_a_profile_tunes(
    row: str, name: str, default: int
) -> None:
    assert getattr(Limits(), name) == default
    tuned = Profile.of({**PRESETS["balanced"].values(), "limits": {name: 7}})
    assert getattr(tuned.limits, name) == 7
    unlimited = Profile.of({**PRESETS["balanced"].values(), "limits": {name: 0}})
    assert getattr(unlimited.limits, name) == 0
    for wrong in (-1, 10**15 + 1, 1.5, True, "7", None):
        with pytest.raises(ProfileError, match=f"limits.{name} is"):
            Profile.of({**PRESETS["balanced"].values(), "limits": {name: wrong}})


def test_every_limit_is_named_by_its_unit() -> None:
    units = (
        *("bytes", "chars", "lines", "hits", "files", "names", "seconds", "processes", "tasks"),
        *("entries", "stored"),
    )
    assert [one.name for one in fields(Limits) if not one.name.endswith(units)] == []


def test_the_session_size_is_the_budget_of_the_preset() -> None:
    assert PRESETS["nanohermes"].budget == 120_000
    assert PRESETS["nanohermes"].unit == "bytes"


def test_a_result_takes_a_twentieth_of_a_small_window() -> None:
    profile = PRESETS["balanced"].replace(window=32_000)
    assert profile.limits_for(profile.window_for("any")).result_bytes == 6_400
    nano = PRESETS["nanohermes"].replace(window=32_000)
    assert nano.limits_for(nano.window_for("any")).result_bytes == 20_000


async def call(root: Path, limits: Limits, tool: str, **arguments: Any) -> Outcome:
    box = toolbox(Workspace(root, limits), Mode.DEBUG)
    return await box.call(ToolCall("c", tool, dumps(arguments)))


async def reading(root: Path, limits: Limits) -> str:
    (root / "a").write_text("x" * 101)
    return (await call(root, limits, "read_file", path="a")).text


async def reading_lines(root: Path, limits: Limits) -> str:
    (root / "a").write_text("x\n" * 10)
    return (await call(root, limits, "read_file", path="a")).text


async def searching(root: Path, limits: Limits) -> str:
    (root / "a").write_text("needle " * 40)
    (root / "b").write_text("needle\n" * 5)
    return (await call(root, limits, "grep", pattern="needle")).text


async def listing(root: Path, limits: Limits) -> str:
    for number in range(5):
        (root / str(number)).touch()
    return (await call(root, limits, "glob", pattern="*")).text


async def running(root: Path, limits: Limits) -> str:
    return (await call(root, limits, "run_command", command="printf %01000d 0; exit 1")).text


async def fetching(root: Path, limits: Limits) -> str:
    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    async with serving(said("中" * 100, "Content-Type: text/plain; charset=utf-8")) as server:
        fetcher = Fetcher(trusted=frozenset([("web.example", server.port)]), resolve=resolve)
        box = toolbox(Workspace(root, limits), lent=Lent(web=Web(fetcher)))
        url = f"http://web.example:{server.port}/"
        return (await box.call(ToolCall("c", "web_fetch", dumps({"url": url})))).text


@pytest.mark.parametrize(
    ("act", "limits", "trace"),
    [
        (reading, {"file_bytes": 100}, "a has 101 bytes, the limit is 100: give offset and limit"),
        (reading_lines, {"read_lines": 4}, "… 6 more lines (total 10)"),
        (searching, {"searched_file_bytes": 200}, "… 1 file over 200 bytes not searched"),
        (searching, {"grep_hits": 2}, "… stopped after 2 matches"),
        (searching, {"grep_line_chars": 11}, "a:1: needle need…"),
        (listing, {"glob_files": 3}, "… capped at 3 files"),
        (running, {"stream_bytes": 100}, "--- stdout truncated (900 bytes not shown)"),
        (running, {"result_bytes": 200}, "bytes omitted"),
        (fetching, {"web_body_bytes": 100}, "[response truncated at 100 bytes]"),
        (fetching, {"web_text_chars": 40}, "… page text truncated (60 chars not shown)"),
    ],
)
async def test_what_a_limit_left_out_is_told_in_its_unit(
    act: Act, limits: dict[str, int], trace: str, tmp_path: Path
) -> None:
    root = tmp_path.resolve()
    assert trace in await act(root, Limits(**limits))
    unlimited = Limits(**dict.fromkeys(limits, 0))
    assert trace not in await act(root, unlimited)


@pytest.mark.parametrize(
    ("text", "kept", "omitted"),
    [
        ("a" * 30_000, 20_000, 10_000),
        ("中" * 10_000, 19_998, 10_002),
        ("a" + "中" * 10_000, 19_999, 10_002),
        ("aa" + "中" * 10_000, 20_000, 10_002),
        ("😀" * 7_500, 20_000, 10_000),
        ("a" + "😀" * 7_500, 19_997, 10_004),
        ("aa" + "😀" * 7_500, 19_998, 10_004),
        ("aaa" + "😀" * 7_500, 19_999, 10_004),
    ],
    ids=lambda value: f"{value[:3]}…" if isinstance(value, str) else str(value),
)
def test_clamp_keeps_what_the_table_says(text: str, kept: int, omitted: int) -> None:
    head, _, notice = clamp(text, 20_000).rpartition("\n")
    assert (byte_length(head), text.startswith(head)) == (kept, True)
    assert f"({omitted} bytes omitted;" in notice
    assert byte_length(notice) < NOTICE_BYTES


@pytest.mark.parametrize("letter", LETTERS.values(), ids=LETTERS)
@pytest.mark.parametrize("keep", ["head", "tail", "head+tail"])
def test_a_limit_inside_a_character_never_splits_it(letter: str, keep: Any) -> None:
    text = letter * 400
    for limit in range(200, 200 + 2 * byte_length(letter)):
        clamped = clamp(text, limit, keep)
        assert "\ufffd" not in clamped
        assert byte_length(clamped) <= limit + NOTICE_BYTES
        assert clamp(clamped, limit, keep) == clamped
    assert clamp(text, byte_length(text), keep) == text
    assert clamp(text, 0, keep) == text


@pytest.mark.parametrize("letter", LETTERS.values(), ids=LETTERS)
async def test_every_tool_result_passes_the_clamp(letter: str, tmp_path: Path) -> None:
    root = tmp_path.resolve()
    (root / "a").write_text(f"{letter * 3_000}\n" * 5)
    limits = replace(Limits(), result_bytes=1_001)
    for tool, arguments in (
        ("read_file", {"path": "a"}),
        ("grep", {"pattern": "^"}),
        ("run_command", {"command": "cat a; false"}),
        ("checkpoint", {"note": letter * 2_000}),
        ("read_file", {"path": letter * 2_000}),
    ):
        outcome = await call(root, limits, tool, **arguments)
        assert byte_length(outcome.text) <= 1_001 + NOTICE_BYTES
        assert "\ufffd" not in outcome.text
