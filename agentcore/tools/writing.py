"""Writing and editing files of the workspace: all of the new text or all of the old."""

from __future__ import annotations

import asyncio
import difflib
import os
import stat
from contextlib import suppress
from itertools import islice
from secrets import token_hex

from agentcore.errors import ToolError
from agentcore.options import Effect
from agentcore.tools.arguments import PATH, FunctionTool, schema, text
from agentcore.tools.base import ToolResult, Workspace, clipped, counted
from agentcore.tools.paths import file_size, located, writable

DIFF_LINES, DIFF_LINE_CHARS, DIFF_CONTEXT = 60, 240, 2
# Comparing lines is quadratic at worst.
DIFFED_LINES = 400
PLACES_NAMED = 5


async def write_file(workspace: Workspace, path: str, content: str) -> ToolResult:
    return await asyncio.to_thread(_write, workspace, path, content)


async def edit_file(workspace: Workspace, path: str, *, old_text: str, new_text: str) -> ToolResult:
    return await asyncio.to_thread(_edit, workspace, path, old=old_text, new=new_text)


WRITE_FILE = FunctionTool(
    "write_file",
    "Write a whole file: made if it is new (with its folders), replaced if it is there. To change "
    "a part of a file use edit_file.",
    schema({"path": PATH, "content": text("The whole text of the file")}),
    write_file,
    Effect.WRITE,
)
EDIT_FILE = FunctionTool(
    "edit_file",
    "Replace one piece of a file by another. old_text must occur exactly once: copy it from the "
    "file, spaces included, with enough lines round it.",
    schema(
        {
            "path": PATH,
            "old_text": text("The text to replace, as it stands in the file"),
            "new_text": text("What stands there afterwards"),
        }
    ),
    edit_file,
    Effect.WRITE,
)


def _write(workspace: Workspace, path: str, content: str) -> ToolResult:
    data = _encoded(content, "content", workspace.limits.file_bytes)
    with located(workspace, path, create=True) as (folder, name):
        before = writable(path, folder, name)
        _replace(folder, name, data=data, before=before)
    was = f"replaced, {before.st_size} bytes before" if before else "new file"
    lines = content.count("\n") + (not content.endswith("\n") and content != "")
    return ToolResult(
        f"write_file {path}: {counted(lines, 'line')}, {len(data)} bytes written ({was})"
    )


def _encoded(content: str, name: str, max_bytes: int) -> bytes:
    try:
        data = content.encode()
    except UnicodeEncodeError as error:
        raise ToolError(f"{name} holds half a surrogate pair at {error.start}: no UTF-8") from None
    if 0 < max_bytes < len(data):
        raise ToolError(f"{name} has {len(data)} bytes, the limit is {max_bytes}: write less")
    return data


def _replace(folder: int, name: str, *, data: bytes, before: os.stat_result | None) -> None:
    """All of the new file or all of the old, whatever happens; mode and owner stay."""
    part = f".{token_hex(8)}.part"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(part, flags, 0o666, dir_fd=folder)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            if before:
                os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
                with suppress(PermissionError):
                    os.fchown(descriptor, before.st_uid, before.st_gid)
        os.replace(part, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        os.unlink(part, dir_fd=folder)
        raise


def _edit(workspace: Workspace, path: str, *, old: str, new: str) -> ToolResult:
    limit = workspace.limits.file_bytes
    old_data, new_data = _encoded(old, "old_text", limit), _encoded(new, "new_text", limit)
    if not old or old == new:
        raise ToolError(f"{path}: old_text is {'the same as new_text' if old else 'empty'}")
    with located(workspace, path) as (folder, name):
        before = writable(path, folder, name)
        data = _content(path, folder, name, limit=limit)
        if _has_crlf(data):
            old_data, new_data = _as_crlf(old_data), _as_crlf(new_data)
        at = _only_place(path, data, old_data)
        edited = data[:at] + new_data + data[at + len(old_data) :]
        _replace(folder, name, data=edited, before=before)
    line = data.count(b"\n", 0, at) + 1
    head = f"edit_file {path}: changed at line {line}, {len(data)} -> {len(edited)} bytes"
    diff = _diff(data, edited, at=at, old=len(old_data), new=len(new_data))
    return ToolResult(f"{head}\n{diff}")


def _content(path: str, folder: int, name: str, *, limit: int) -> bytes:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    with open(os.open(name, flags, dir_fd=folder), "rb") as file:
        size = file_size(path, file.fileno())
        if 0 < limit < size:
            raise ToolError(
                f"{path} has {size} bytes, the limit is {limit}: edit it with a command"
            )
        data = file.read()
    if b"\0" in data:
        raise ToolError(f"{path} is binary (it holds a NUL byte): edit_file changes text only")
    return data


def _has_crlf(data: bytes) -> bool:
    """Whether every line ends in CR LF."""
    ends = data.count(b"\n")
    return 0 < ends == data.count(b"\r\n")


def _as_crlf(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def _only_place(path: str, data: bytes, old: bytes) -> int:
    places: list[int] = []
    at = data.find(old)
    while at >= 0 and len(places) <= PLACES_NAMED:
        places.append(at)
        at = data.find(old, at + 1)
    if not places:
        raise ToolError(
            f"{path}: old_text does not occur in it; read the file and copy the text exactly"
        )
    if len(places) > 1:
        lines = ", ".join(str(data.count(b"\n", 0, place) + 1) for place in places[:PLACES_NAMED])
        more = " and more" if len(places) > PLACES_NAMED else ""
        raise ToolError(
            f"{path}: old_text occurs several times (lines {lines}{more}); "
            "add lines round it until it is the only one"
        )
    return places[0]


def _diff(before: bytes, after: bytes, *, at: int, old: int, new: int) -> str:
    """The changed lines with a few round them; `old` and `new` are the lengths at `at`."""
    start, end = _window(before, at, at + old)
    removed = _text_lines(before[start:end])
    added = _text_lines(after[start : end + new - old])
    if len(removed) + len(added) > DIFFED_LINES:
        return f"(about {len(removed)} lines became {len(added)}; too many to show)"
    compared = difflib.unified_diff(removed, added, n=DIFF_CONTEXT, lineterm="")
    lines = [line for line in islice(compared, 2, None) if not line.startswith("@@")]
    cut = [clipped(line, DIFF_LINE_CHARS) for line in lines[:DIFF_LINES]]
    more = len(lines) - len(cut)
    return "\n".join([*cut, f"… {more} more lines of the diff"] if more else cut)


def _window(data: bytes, start: int, end: int) -> tuple[int, int]:
    for _ in range(DIFF_CONTEXT + 1):
        start = data.rfind(b"\n", 0, max(start, 0))
        end = data.find(b"\n", end) + 1 or len(data)
    return start + 1, end


def _text_lines(data: bytes) -> list[str]:
    return data.decode(errors="replace").removesuffix("\n").split("\n")
