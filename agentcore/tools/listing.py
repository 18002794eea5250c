"""`list_dir`: what one folder of the workspace holds."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Iterator

from agentcore.errors import ToolError
from agentcore.tools.arguments import FunctionTool, schema, text
from agentcore.tools.base import ToolResult, Workspace, counted
from agentcore.tools.paths import opened, shown


async def list_dir(workspace: Workspace, *, path: str = ".") -> ToolResult:
    return await asyncio.to_thread(_list, workspace, path)


LIST_DIR = FunctionTool(
    "list_dir",
    "List what a folder holds: folders end in a slash, files stand with their bytes, links with "
    "their target. Nothing is left out; glob goes into folders, this does not.",
    schema({}, {"path": text("The folder; the workspace when left out")}),
    list_dir,
)


def _list(workspace: Workspace, path: str) -> ToolResult:
    most = workspace.limits.listed_names
    with opened(workspace, path) as folder:
        if not stat.S_ISDIR(os.fstat(folder).st_mode):
            raise ToolError(f"{path} is no folder; read it with read_file")
        names = sorted(os.listdir(folder))
        lines = list(_lines(folder, names[: most or None]))
    found = counted(len(names), "name") if names else "the folder is empty"
    more = len(names) - len(lines)
    notes = [f"… stopped after {most} names, {more} more"] if more else []
    return ToolResult("\n".join([f"list_dir {path}: {found}", *lines, *notes]))


def _lines(folder: int, names: list[str]) -> Iterator[str]:
    for name in names:
        named = shown(name).replace("\n", "␊")
        try:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            target = os.readlink(name, dir_fd=folder) if stat.S_ISLNK(found.st_mode) else ""
        except FileNotFoundError:
            yield f"{named} (gone meanwhile)"
            continue
        yield _line(named, found, shown(target))


def _line(name: str, found: os.stat_result, target: str) -> str:
    if stat.S_ISDIR(found.st_mode):
        return f"{name}/"
    if target:
        return f"{name} -> {target}"
    return f"{name} ({found.st_size} bytes)" if stat.S_ISREG(found.st_mode) else f"{name} (special)"
