from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentcore.errors import ToolError
from agentcore.limits import Limits
from agentcore.messages import ToolCall, ToolStatus
from agentcore.tools import Mode, toolbox
from agentcore.tools.base import Outcome, ToolResult, Workspace
from agentcore.tools.files import READ_FILE
from agentcore.tools.writing import EDIT_FILE, WRITE_FILE
from agentcore.wire import dumps

CHUNK = 256 * 1_024
PLAN = ["read_file", "list_dir", "grep", "glob", "checkpoint"]
DEBUG = ["run_command", "start_task", "read_task", "stop_task"]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path.resolve())


def small(workspace: Workspace, **limits: int) -> Workspace:
    return Workspace(workspace.root, Limits(**limits))


def lines(count: int, first: int = 1) -> str:
    return "".join(f"line {number}\n" for number in range(first, first + count))


async def read(workspace: Workspace, path: str, **arguments: Any) -> ToolResult:
    return await READ_FILE.run({"path": path, **arguments}, workspace)


async def edit(workspace: Workspace, path: str, old: str, new: str) -> ToolResult:
    return await EDIT_FILE.run({"path": path, "old_text": old, "new_text": new}, workspace)


async def write(workspace: Workspace, path: str, content: str) -> ToolResult:
    return await WRITE_FILE.run({"path": path, "content": content}, workspace)


async def call(
    workspace: Workspace, tool: str, mode: Mode = Mode.GOAL, **arguments: Any
) -> Outcome:
    return await toolbox(workspace, mode).call(ToolCall("c", tool, dumps(arguments)))


async def test_a_small_file_is_read_whole(workspace: Workspace) -> None:
    (workspace.root / "a.txt").write_text("one\ntwo")
    assert (await read(workspace, "a.txt")).text == "read_file a.txt: 2 lines, 7 bytes\none\ntwo"


async def test_an_empty_file_says_so(workspace: Workspace) -> None:
    (workspace.root / "a").touch()
    assert (await read(workspace, "a")).text == "read_file a: the file is empty (0 bytes)"


async def test_a_range_names_its_lines_and_the_way_on(workspace: Workspace) -> None:
    (workspace.root / "a").write_text(lines(10))
    text = (await read(workspace, "a", offset=3, limit=2)).text
    assert text == (
        "read_file a: lines 3-4 of 10\nline 3\nline 4\n"
        "… 6 more lines (total 10); read on with offset=5"
    )


async def test_the_default_number_of_lines_is_a_limit(workspace: Workspace) -> None:
    (workspace.root / "a").write_text(lines(10))
    text = (await read(small(workspace, read_lines=4), "a")).text
    assert "lines 1-4 of 10" in text
    assert "… 6 more lines (total 10)" in text


async def test_a_file_over_the_limit_is_refused_with_the_way_out(workspace: Workspace) -> None:
    (workspace.root / "a").write_bytes(b"x" * 101)
    with pytest.raises(
        ToolError, match=r"a has 101 bytes, the limit is 100: give offset and limit"
    ):
        await read(small(workspace, file_bytes=100), "a")


async def test_a_range_of_a_file_over_the_limit_is_streamed(workspace: Workspace) -> None:
    (workspace.root / "a").write_text(lines(100_000))
    limited = small(workspace, file_bytes=10_000)
    text = (await read(limited, "a", offset=70_000, limit=2)).text
    assert text.startswith("read_file a: lines 70000-70001 of 100000\nline 70000\nline 70001\n… ")
    with pytest.raises(ToolError, match="take more than 10000 bytes"):
        await read(limited, "a", offset=1, limit=5_000)


async def test_lines_that_fill_a_result_end_at_a_line_and_the_rest_is_kept(
    workspace: Workspace,
) -> None:
    (workspace.root / "a").write_text(lines(5_000))
    outcome = await call(small(workspace, result_bytes=10_000), "read_file", path="a")
    assert len(outcome.text.encode()) <= 10_000
    last = int(outcome.text.rpartition("offset=")[2]) - 1
    assert outcome.text.startswith(f"read_file a: lines 1-{last} of 5000\n")
    assert f"line {last}\n… {5_000 - last} more lines (total 5000)" in outcome.text
    assert outcome.captured.startswith(f"read_file a: lines 1-2000 of 5000\n{lines(2_000)}…")
    assert outcome.cut
    assert outcome.cut.original == len(outcome.captured.encode())


async def test_one_line_longer_than_a_result_is_clamped_and_says_how_to_go_on(
    workspace: Workspace,
) -> None:
    (workspace.root / "a").write_text("x" * 50_000 + "\nend\n")
    outcome = await call(workspace, "read_file", path="a")
    assert "find a part of it with grep" in outcome.text[:200]
    assert "bytes omitted" in outcome.text[-200:]


async def test_a_line_past_the_end_is_refused(workspace: Workspace) -> None:
    (workspace.root / "a").write_text(lines(3))
    with pytest.raises(ToolError, match="a has 3 lines: there is no line 4"):
        await read(workspace, "a", offset=4)


async def test_binary_files_are_refused_with_the_place(workspace: Workspace) -> None:
    (workspace.root / "a").write_bytes(b"x" * CHUNK + b"abc\0")
    with pytest.raises(ToolError, match=f"a is binary .a NUL byte at offset {CHUNK + 3}"):
        await read(workspace, "a")


async def test_invalid_utf8_is_replaced_and_told(workspace: Workspace) -> None:
    (workspace.root / "a").write_bytes(b"caf\xe9\n")
    text = (await read(workspace, "a")).text
    assert "not UTF-8 are shown as U+FFFD" in text.split("\n")[0]
    assert text.endswith("caf\ufffd\n")


@pytest.mark.parametrize("tool", ["read_file", "write_file", "edit_file"])
async def test_what_is_no_ordinary_file_is_refused_at_once(workspace: Workspace, tool: str) -> None:
    os.mkfifo(workspace.root / "fifo")
    (workspace.root / "folder").mkdir()
    more = {
        "read_file": {},
        "write_file": {"content": "x"},
        "edit_file": {"old_text": "x", "new_text": "y"},
    }[tool]
    for name, kind in (("fifo", "a FIFO"), ("folder", "a folder"), (".", "a folder")):
        outcome = await call(workspace, tool, path=name, **more)
        assert outcome.status is ToolStatus.FAILED
        assert f"{tool}: {name} is {kind}" in outcome.text


@example(data="\n\r" * 40, offset=2, limit=1)
@example(data="x\r" + "\n" * 9, offset=1, limit=4)
@given(
    data=st.text(st.sampled_from("ab中\n\r"), max_size=300).map(lambda text: text * 40),
    offset=st.integers(1, 40),
    limit=st.integers(1, 40),
)
async def test_every_range_gives_its_lines(
    data: str, offset: int, limit: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.getbasetemp().resolve()
    (root / "ranges").write_bytes(data.encode())
    whole = data.replace("\r\n", "\n") if data.count("\n") == data.count("\r\n") else data
    expected = [line + "\n" for line in whole.split("\n")]
    expected[-1] = expected[-1].removesuffix("\n")
    expected = [line for line in expected if line]
    wanted = expected[offset - 1 : offset - 1 + limit]
    if not wanted:
        return
    text = (
        await read(Workspace(root, Limits(result_bytes=0)), "ranges", offset=offset, limit=limit)
    ).text
    assert text.partition("\n")[2].partition("… ")[0] == "".join(wanted)


async def test_a_new_file_is_written_with_its_folders(workspace: Workspace) -> None:
    text = (await write(workspace, "a/b/c.txt", "é\n")).text
    assert text == "write_file a/b/c.txt: 1 line, 3 bytes written (new file)"
    assert (workspace.root / "a/b/c.txt").read_bytes() == "é\n".encode()


async def test_a_file_that_is_replaced_keeps_its_mode(workspace: Workspace) -> None:
    path = workspace.root / "run"
    path.write_text("old")
    path.chmod(0o750)
    text = (await write(workspace, "run", "new text")).text
    assert "replaced, 3 bytes before" in text
    assert path.read_text() == "new text"
    assert stat.S_IMODE(path.stat().st_mode) == 0o750


async def test_writing_leaves_no_other_file_and_no_change_elsewhere(workspace: Workspace) -> None:
    outside = workspace.root.parent / f"{workspace.root.name}-twin"
    outside.write_text("twin")
    os.link(outside, workspace.root / "hard")
    await write(workspace, "hard", "changed")
    assert outside.read_text() == "twin"
    assert os.listdir(workspace.root) == ["hard"]


async def test_a_file_is_written_through_a_link_inside(workspace: Workspace) -> None:
    (workspace.root / "real").write_text("old")
    (workspace.root / "link").symlink_to("real")
    await write(workspace, "link", "new")
    assert (workspace.root / "real").read_text() == "new"
    assert (workspace.root / "link").is_symlink()


@pytest.mark.parametrize("path", ["../x", "/tmp/x", "out/x", "gone"])
async def test_nothing_is_written_outside(workspace: Workspace, path: str) -> None:
    (workspace.root / "out").symlink_to("..")
    (workspace.root / "gone").symlink_to("../absent")
    outcome = await call(workspace, "write_file", path=path, content="x")
    assert outcome.status is ToolStatus.FAILED
    assert not (workspace.root.parent / "x").exists()
    assert not (workspace.root.parent / "absent").exists()


async def test_text_that_is_no_utf8_or_too_long_is_not_written(workspace: Workspace) -> None:
    with pytest.raises(ToolError, match="half a surrogate pair at 1"):
        await write(workspace, "a", "x\ud800")
    with pytest.raises(ToolError, match="content has 11 bytes, the limit is 10"):
        await write(small(workspace, file_bytes=10), "a", "x" * 11)
    assert not (workspace.root / "a").exists()


async def test_an_edit_replaces_the_one_place_and_shows_it(workspace: Workspace) -> None:
    path = workspace.root / "a.py"
    path.write_text(lines(20))
    path.chmod(0o755)
    text = (await edit(workspace, "a.py", "line 10\n", "line ten\nand more\n")).text
    assert text == (
        "edit_file a.py: changed at line 10, 151 -> 161 bytes\n"
        " line 8\n line 9\n-line 10\n+line ten\n+and more\n line 11\n line 12"
    )
    assert path.read_text() == lines(9) + "line ten\nand more\n" + lines(10, 11)
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


async def test_text_that_is_missing_or_not_unique_changes_nothing(workspace: Workspace) -> None:
    path = workspace.root / "a"
    path.write_text("aaa\nx\nx\n")
    with pytest.raises(ToolError, match="a: old_text does not occur in it"):
        await edit(workspace, "a", "y", "z")
    with pytest.raises(ToolError, match=r"occurs several times .lines 2, 3.; add lines"):
        await edit(workspace, "a", "x", "z")
    with pytest.raises(ToolError, match=r"lines 1, 1"):
        await edit(workspace, "a", "aa", "z")
    with pytest.raises(ToolError, match="old_text is empty"):
        await edit(workspace, "a", "", "z")
    with pytest.raises(ToolError, match="the same as new_text"):
        await edit(workspace, "a", "x", "x")
    assert path.read_text() == "aaa\nx\nx\n"


async def test_crlf_line_ends_stay(workspace: Workspace) -> None:
    path = workspace.root / "a"
    path.write_bytes(b"one\r\ntwo\r\nthree\r\n")
    shown = (await read(workspace, "a")).text
    assert shown == (
        "read_file a: 3 lines, 17 bytes; line ends are CRLF, shown as LF\none\ntwo\nthree\n"
    )
    await edit(workspace, "a", "one\ntwo\n", "1\n2\n")
    assert path.read_bytes() == b"1\r\n2\r\nthree\r\n"
    await edit(workspace, "a", "1\r\n2", "1\n\n2")
    assert path.read_bytes() == b"1\r\n\r\n2\r\nthree\r\n"


async def test_a_line_end_that_two_chunks_share_is_seen(workspace: Workspace) -> None:
    (workspace.root / "a").write_bytes(b"x" * (CHUNK - 1) + b"\r\nend\r\n")
    assert (await read(workspace, "a", offset=2)).text.endswith("shown as LF\nend\n")


async def test_bytes_that_are_no_utf8_survive_an_edit(workspace: Workspace) -> None:
    (workspace.root / "a").write_bytes(b"caf\xe9\nname\n\xff")
    await edit(workspace, "a", "name", "nom")
    assert (workspace.root / "a").read_bytes() == b"caf\xe9\nnom\n\xff"


async def test_a_line_of_a_diff_that_is_cut_says_so(workspace: Workspace) -> None:
    (workspace.root / "a").write_text("x" * 500)
    text = (await edit(workspace, "a", "x" * 500, "y" * 500)).text
    assert text.split("\n")[1:] == [f"-{'x' * 239}…", f"+{'y' * 239}…"]


async def test_a_long_diff_is_cut_and_a_huge_one_counted(workspace: Workspace) -> None:
    (workspace.root / "a").write_text(lines(150))
    text = (await edit(workspace, "a", lines(100), lines(50, 900))).text
    assert "more lines of the diff" in text.split("\n")[-1]
    (workspace.root / "a").write_text(lines(1_000))
    text = (await edit(workspace, "a", lines(900), "short\n")).text
    assert "too many to show" in text


@given(
    before=st.text(st.sampled_from("ab\n中"), max_size=40),
    old=st.text(st.sampled_from("ab\n中"), min_size=1, max_size=6),
    new=st.text(st.sampled_from("ab\n中"), max_size=6),
)
async def test_an_edit_does_what_replacing_the_only_place_does(
    before: str, old: str, new: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.getbasetemp().resolve()
    (root / "edited").write_text(before)
    unique = any(before.startswith(old, at) for at in range(len(before)))
    unique = unique and before.find(old) == before.rfind(old) and old != new
    try:
        await edit(Workspace(root), "edited", old, new)
    except ToolError:
        assert not unique
    assert (root / "edited").read_text() == (before.replace(old, new) if unique else before)


@pytest.mark.parametrize(
    ("mode", "offered"),
    [
        (Mode.PLAN, PLAN),
        (Mode.DEBUG, [*PLAN, *DEBUG]),
        (Mode.GOAL, [*PLAN, *DEBUG, "write_file", "edit_file"]),
    ],
)
def test_a_mode_offers_its_tools(workspace: Workspace, mode: Mode, offered: list[str]) -> None:
    schemas = toolbox(workspace, mode).schemas
    assert [schema["function"]["name"] for schema in schemas] == offered


async def test_a_tool_of_another_mode_is_refused_and_does_nothing(workspace: Workspace) -> None:
    outcome = await call(workspace, "write_file", Mode.PLAN, path="a", content="x")
    assert outcome.status is ToolStatus.FAILED
    assert outcome.text == (
        "write_file: not allowed in plan mode, it needs goal mode; the tools are "
        "checkpoint, glob, grep, list_dir, read_file"
    )
    assert not (workspace.root / "a").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "the argument path is missing"),
        ({"path": None}, "the argument path is missing"),
        ({"path": 3}, "path is a string, not 3"),
        ({"path": "a", "lines": 3}, "no argument 'lines'; the arguments are path, offset, limit"),
        ({"path": "a", "offset": "3"}, "offset is a whole number from 1 up, not '3'"),
        ({"path": "a", "offset": 0}, "offset is a whole number from 1 up, not 0"),
        ({"path": "a", "offset": True}, "offset is a whole number from 1 up, not True"),
        ({"path": "a", "offset": 1.5}, "offset is a whole number from 1 up, not 1.5"),
    ],
)
async def test_arguments_that_do_not_fit_are_named(
    workspace: Workspace, arguments: dict[str, Any], told: str
) -> None:
    outcome = await toolbox(workspace).call(ToolCall("c", "read_file", dumps(arguments)))
    assert outcome.text == f"read_file: {told}"
    assert outcome.status is ToolStatus.FAILED


async def test_a_null_stands_for_an_argument_left_out(workspace: Workspace) -> None:
    (workspace.root / "a").write_text("x")
    outcome = await call(workspace, "read_file", path="a", offset=None, limit=None)
    assert outcome.text.endswith("\nx")
