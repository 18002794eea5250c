from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentcore.errors import ToolError
from agentcore.limits import Limits
from agentcore.tools.base import Workspace
from agentcore.tools.files import READ_FILE
from agentcore.tools.listing import LIST_DIR
from agentcore.tools.search import GLOB, GREP
from agentcore.tools.writing import WRITE_FILE

CLOSED = "run/data [1]{a}"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path.resolve()
    (root / "src").mkdir()
    (root / "a.txt").write_text("abc")
    (root / ".hidden").touch()
    (root / "link").symlink_to("a.txt")
    os.mkfifo(root / "fifo")
    return Workspace(root)


@pytest.fixture
def closed(tmp_path: Path) -> Workspace:
    """A workspace in which the data folder of the installation lies."""
    root = tmp_path.resolve()
    data = root / CLOSED
    data.mkdir(parents=True)
    (data / "secret_key").write_text("needle of the house")
    (root / "way").symlink_to(CLOSED)
    (root / "run" / "own.txt").write_text("a needle")
    return Workspace(root, closed=data)


async def list_dir(workspace: Workspace, **arguments: str) -> str:
    return (await LIST_DIR.run(arguments, workspace)).text


async def test_a_folder_is_listed_with_kinds_sizes_and_targets(workspace: Workspace) -> None:
    assert await list_dir(workspace) == (
        "list_dir .: 5 names\n"
        ".hidden (0 bytes)\na.txt (3 bytes)\nfifo (special)\nlink -> a.txt\nsrc/"
    )
    assert await list_dir(workspace, path="src") == "list_dir src: the folder is empty"


async def test_names_over_the_limit_are_told(workspace: Workspace) -> None:
    limited = Workspace(workspace.root, Limits(listed_names=2))
    assert (await list_dir(limited)).endswith("\n… stopped after 2 names, 3 more")
    unlimited = Workspace(workspace.root, Limits(listed_names=0))
    assert (await list_dir(unlimited)).count("\n") == 5


async def test_names_that_are_no_text_stay_on_their_line(workspace: Workspace) -> None:
    (workspace.root / "src" / "two\nlines").touch()
    (workspace.root / "src" / os.fsdecode(b"caf\xe9")).touch()
    text = await list_dir(workspace, path="src")
    assert text.split("\n")[1:] == ["caf\ufffd (0 bytes)", "two␊lines (0 bytes)"]


@pytest.mark.parametrize("path", ["a.txt", "fifo", "absent", "..", "/etc"])
async def test_what_is_no_folder_inside_is_refused(workspace: Workspace, path: str) -> None:
    with pytest.raises(ToolError, match=path.replace(".", "[.]")):
        await list_dir(workspace, path=path)


async def test_an_absolute_path_inside_is_served_by_every_tool(workspace: Workspace) -> None:
    root = str(workspace.root)
    assert (await list_dir(workspace, path=root)).startswith(f"list_dir {root}: 5 names\n")
    assert (await READ_FILE.run({"path": f"{root}/a.txt"}, workspace)).text.endswith("\nabc")
    assert (await GREP.run({"pattern": "b", "path": f"{root}/"}, workspace)).text.endswith("abc")
    for outside in (f"{root}/../x", f"{root}-twin/x", f"{root}/src/../../x"):
        with pytest.raises(ToolError, match="workspace"):
            await READ_FILE.run({"path": outside}, workspace)


@pytest.mark.parametrize("path", [f"{CLOSED}/secret_key", "way/secret_key", f"{CLOSED}/x/../y"])
async def test_nothing_in_the_closed_folder_is_read_or_written(
    closed: Workspace, path: str
) -> None:
    for tool, more in ((READ_FILE, {}), (GREP, {"pattern": "x"}), (WRITE_FILE, {"content": "x"})):
        with pytest.raises(ToolError, match="data folder of this installation"):
            await tool.run({"path": path, **more}, closed)


@pytest.mark.parametrize("path", [CLOSED, "way", f"{CLOSED}/", "run/../way"])
async def test_the_closed_folder_is_not_listed(closed: Workspace, path: str) -> None:
    for tool, arguments in ((LIST_DIR, {"path": path}), (GREP, {"path": path, "pattern": "e"})):
        with pytest.raises(ToolError, match="data folder of this installation"):
            await tool.run(arguments, closed)


@pytest.mark.parametrize("path", [".", "run"])
async def test_a_search_goes_round_the_closed_folder(closed: Workspace, path: str) -> None:
    for include in ({}, {"include": "*"}, {"include": "*key*"}):
        found = await GREP.run({"pattern": "needle", "path": path, **include}, closed)
        assert "house" not in found.text
    assert "own.txt:1: a needle" in (await GREP.run({"pattern": "needle"}, closed)).text
    for pattern in ("**/*", "*", "secret_key", "run/**", "**/*key"):
        assert "/secret_key" not in (await GLOB.run({"pattern": pattern}, closed)).text
    with pytest.raises(ToolError, match="data folder of this installation"):
        await GLOB.run({"pattern": "way/**"}, closed)


async def test_a_search_goes_round_a_closed_folder_that_is_named_through_a_link(
    closed: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> None:
    alias = tmp_path_factory.mktemp("elsewhere") / "alias"
    alias.symlink_to(closed.root)
    linked = Workspace(closed.root, closed=alias / CLOSED)
    found = await GREP.run({"pattern": "needle"}, linked)
    assert "own.txt:1: a needle" in found.text and "house" not in found.text
    assert "/secret_key" not in (await GLOB.run({"pattern": "**"}, linked)).text


async def test_a_workspace_that_is_the_closed_folder_is_closed(closed: Workspace) -> None:
    inside = Workspace(closed.closed or Path(), closed=closed.closed)
    with pytest.raises(ToolError, match="data folder of this installation"):
        await READ_FILE.run({"path": "secret_key"}, inside)
