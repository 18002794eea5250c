from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import PATIENCE

from agentcore.errors import ToolError
from agentcore.limits import Limits
from agentcore.tools import search
from agentcore.tools.base import Workspace
from agentcore.tools.search import GLOB, GREP, Records


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path.resolve() / "agent"
    (root / "src").mkdir(parents=True)
    (root / "a.txt").write_text("first needle\nhay\nlast needle\n")
    (root / "src" / "b.py").write_text("hay\nneedle = 1\n")
    return Workspace(root)


def limited(workspace: Workspace, **limits: int) -> Workspace:
    return Workspace(workspace.root, Limits(**limits))


async def grep(workspace: Workspace, pattern: str, **arguments: Any) -> str:
    return (await GREP.run({"pattern": pattern, **arguments}, workspace)).text


async def glob(workspace: Workspace, pattern: str) -> str:
    return (await GLOB.run({"pattern": pattern}, workspace)).text


async def test_hits_come_sorted_with_path_and_line(workspace: Workspace) -> None:
    assert await grep(workspace, "n[e]+dle") == (
        "grep 'n[e]+dle' in .: 3 hits\n"
        "a.txt:1: first needle\na.txt:3: last needle\nsrc/b.py:2: needle = 1"
    )


async def test_no_match_is_said(workspace: Workspace) -> None:
    assert await grep(workspace, "absent") == "grep 'absent' in .: no match"


async def test_a_folder_a_file_and_a_glob_narrow_the_search(workspace: Workspace) -> None:
    assert (await grep(workspace, "needle", path="src")).endswith("\nsrc/b.py:2: needle = 1")
    assert (await grep(workspace, "first", path="a.txt")).endswith("\na.txt:1: first needle")
    assert await grep(workspace, "needle", include="*.py") == (
        "grep 'needle' in . (*.py): 1 hit\nsrc/b.py:2: needle = 1"
    )


async def test_hits_over_the_limit_are_told(workspace: Workspace) -> None:
    text = await grep(limited(workspace, grep_hits=2), "needle")
    assert text.split("\n")[1:] == [
        "a.txt:1: first needle",
        "a.txt:3: last needle",
        "… stopped after 2 matches",
    ]
    assert "stopped" not in await grep(limited(workspace, grep_hits=3), "needle")


async def test_a_flood_of_hits_stops_early(workspace: Workspace) -> None:
    (workspace.root / "flood").write_text("needle\n" * 100_000)
    text = await grep(workspace, "needle", path="flood")
    assert text.count("\n") == 201
    assert text.endswith("… stopped after 200 matches")


@pytest.mark.parametrize("line", ["needle" + "x" * 400, "needle" + "中" * 100_000])
async def test_a_wide_line_is_cut_and_marked(workspace: Workspace, line: str) -> None:
    (workspace.root / "wide").write_text(line)
    hit = (await grep(workspace, "needle", path="wide")).split("\n")[1]
    assert hit == f"wide:1: {line[:240]}…"


async def test_a_line_of_exactly_the_width_is_whole(workspace: Workspace) -> None:
    (workspace.root / "wide").write_text("needle" + "中" * 234)
    assert (await grep(workspace, "needle", path="wide")).endswith(": needle" + "中" * 234)


async def test_files_over_the_size_are_skipped_and_counted(workspace: Workspace) -> None:
    (workspace.root / "big").write_text("needle\n" * 20)
    text = await grep(limited(workspace, searched_file_bytes=100), "needle")
    assert "big:" not in text
    assert text.endswith("… 1 file over 100 bytes not searched")
    with pytest.raises(ToolError, match="big has 140 bytes, the limit for searching is 100"):
        await grep(limited(workspace, searched_file_bytes=100), "needle", path="big")


async def test_binary_files_are_left_out(workspace: Workspace) -> None:
    (workspace.root / "bin").write_bytes(b"needle\n" + b"x" * 200_000 + b"\0")
    (workspace.root / "aaa").write_bytes(b"\0needle\n")
    text = await grep(workspace, "needle")
    assert "aaa" not in text
    assert "WARNING" not in text
    assert "a.txt:1: first needle" in text
    assert "src/b.py:2: needle = 1" in text


@pytest.mark.parametrize("is_back", [False, True])
async def test_what_a_search_met_behind_a_link_that_was_swapped_in_is_not_shown(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, is_back: bool
) -> None:
    """As if the folder that ripgrep saw had been a link while it walked."""
    outside, inner = workspace.root.parent / "outside", workspace.root / "inner"
    outside.mkdir()
    (outside / "key.txt").write_text("needle of another\n")
    ripgrep = search._ripgrep

    async def swapping(*options: Any, **known: Any) -> search.Walked:
        outside.rename(inner)
        try:
            return await ripgrep(*options, **known)
        finally:
            inner.rename(outside)
            if is_back:
                inner.mkdir()
                (inner / "key.txt").write_text("own")
            else:
                inner.symlink_to(outside)

    monkeypatch.setattr(search, "_ripgrep", swapping)
    text = await grep(workspace, "needle")
    assert "another" not in text and "src/b.py:2: needle = 1" in text
    assert "… 1 hit left out: the files changed meanwhile" in text
    (inner / "key.txt").unlink() if is_back else inner.unlink()
    if is_back:
        inner.rmdir()
    text = await glob(workspace, "*.txt")
    assert ("inner/key.txt" in text) is is_back and "a.txt" in text
    assert ("… 1 file left out: gone meanwhile" in text) is not is_back


async def test_text_in_utf_16_is_found(workspace: Workspace) -> None:
    (workspace.root / "wide.txt").write_text("a wide needle\n", "utf-16")
    (workspace.root / "marked.txt").write_text("\ufeffneedle\r\n")
    text = await grep(workspace, "needle")
    assert "wide.txt:1: a wide needle" in text and "marked.txt:1: needle" in text


async def test_a_strange_name_stays_on_its_line(workspace: Workspace) -> None:
    (workspace.root / "a:1: fake\nb.txt").write_text("needle")
    (workspace.root / os.fsdecode(b"caf\xe9")).write_text("needle")
    hits = (await grep(workspace, "needle")).split("\n")
    assert "a:1: fake␊b.txt:1: needle" in hits
    assert "caf\ufffd:1: needle" in hits


@pytest.mark.parametrize("pattern", ["(", "a{1000}{1000}{1000}", "(?=x)", r"\1"])
async def test_a_pattern_that_is_refused_says_why(workspace: Workspace, pattern: str) -> None:
    with pytest.raises(ToolError) as caught:
        await grep(workspace, pattern)
    assert len(str(caught.value)) > 10


@pytest.mark.parametrize("pattern", ["x\0", "x\ud800", "x" * 200_000])
async def test_a_pattern_that_cannot_be_passed_is_refused(
    workspace: Workspace, pattern: str
) -> None:
    with pytest.raises(ToolError):
        await grep(workspace, pattern)


async def test_a_pattern_is_never_an_option(workspace: Workspace) -> None:
    assert "no match" in await grep(workspace, "--files")
    assert "no file" in await glob(workspace, "--version")


async def test_a_pattern_that_stops_other_engines_is_fast(workspace: Workspace) -> None:
    (workspace.root / "long").write_text("a" * 100_000)
    started = time.monotonic()
    assert "no match" in await grep(workspace, "(a+)+$b|(a|aa)+c", path="long")
    assert time.monotonic() - started < PATIENCE


async def test_no_search_leaves_the_workspace(workspace: Workspace) -> None:
    victim = workspace.root.parent / "agent-victim"
    victim.mkdir()
    (victim / "key").write_text("needle of the neighbour")
    (workspace.root / "link").symlink_to(victim)
    (workspace.root / "src" / "key").symlink_to(victim / "key")
    assert "neighbour" not in await grep(workspace, "needle")
    assert await glob(workspace, "**/key") == "glob '**/key': no file"
    for path in ("link", "src/key", "../agent-victim", str(victim)):
        with pytest.raises(ToolError, match="workspace"):
            await grep(workspace, "needle", path=path)
    for pattern in ("link/**", "../agent-victim/**", f"{victim}/**"):
        with pytest.raises(ToolError, match="workspace"):
            await glob(workspace, pattern)


async def test_ignore_rules_hold_inside_the_workspace_only(workspace: Workspace) -> None:
    (workspace.root.parent / ".gitignore").write_text("*\n")
    (workspace.root / ".gitignore").write_text("out/\n")
    for folder in ("out", ".git", ".ci"):
        (workspace.root / folder).mkdir()
        (workspace.root / folder / "run").write_text("needle")
    assert "\n.ci/run:1: needle\na.txt:1:" in await grep(workspace, "needle")
    assert await glob(workspace, "**/*") == (
        "glob '**/*': 4 files\n.ci/run\n.gitignore\na.txt\nsrc/b.py"
    )


async def test_a_folder_that_cannot_be_read_is_counted(workspace: Workspace) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read every folder")
    (workspace.root / "closed").mkdir(mode=0o000)
    assert "… 1 of the files and folders could not be read" in await grep(workspace, "needle")


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        ("*.py", ["src/b.py", "src/deep/c.py"]),
        ("src/*.py", ["src/b.py"]),
        ("./src/*.py", ["src/b.py"]),
        ("src/**", ["src/b.py", "src/deep/c.py"]),
        ("src/**/*", ["src/b.py", "src/deep/c.py"]),
        ("src/deep/**", ["src/deep/c.py"]),
        ("**/c.*", ["src/deep/c.py"]),
        ("*", ["a.txt"]),
        ("{a,b}.*", ["a.txt", "src/b.py"]),
        ("src", []),
        ("a**", ["a.txt"]),
    ],
)
async def test_globs_list_files(workspace: Workspace, pattern: str, files: list[str]) -> None:
    (workspace.root / "src" / "deep").mkdir()
    (workspace.root / "src" / "deep" / "c.py").touch()
    assert (await glob(workspace, pattern)).split("\n")[1:] == files


async def test_files_over_the_cap_are_told(workspace: Workspace) -> None:
    for number in range(5):
        (workspace.root / f"{number}.log").touch()
    text = await glob(limited(workspace, glob_files=3), "*.log")
    assert text == "glob '*.log': 3 files\n0.log\n1.log\n2.log\n… capped at 3 files"
    assert "capped" not in await glob(limited(workspace, glob_files=5), "*.log")


@pytest.mark.parametrize("pattern", ["!*.py", "[", "absent/**"])
async def test_a_glob_that_lists_nothing_sensible_is_refused(
    workspace: Workspace, pattern: str
) -> None:
    with pytest.raises(ToolError):
        await glob(workspace, pattern)


async def test_a_search_that_takes_too_long_ends(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = workspace.root / "slow"
    slow.write_text("#!/bin/sh\nsleep 30\n")
    slow.chmod(0o755)
    monkeypatch.setattr("agentcore.tools.search._program", lambda: str(slow))
    with pytest.raises(ToolError, match="took over 1 s: search a smaller folder"):
        await grep(limited(workspace, command_seconds=1), "x")


async def test_without_ripgrep_the_search_says_what_to_install(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(ToolError, match="install the pinned requirements"):
        await grep(workspace, "x")


@settings(max_examples=50)
@given(st.lists(st.text("ab\n", max_size=8), max_size=12), st.integers(0, 6))
def test_records_do_not_depend_on_how_the_stream_comes(pieces: list[str], most: int) -> None:
    together, apart = Records(b"\n", most), Records(b"\n", most)
    together.feed("".join(pieces).encode())
    for piece in pieces:
        apart.feed(piece.encode())
    records = "".join(pieces).encode().split(b"\n")[:-1]
    assert together.kept() == apart.kept() == records[: most or None]
    assert together.full == (0 < most < len(records))
