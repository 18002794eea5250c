"""Reading files of the workspace."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass
from io import BytesIO
from typing import BinaryIO

from agentcore.breakdown import byte_length
from agentcore.errors import ToolError
from agentcore.limits import KIB, Limits, head_of
from agentcore.tools.arguments import PATH, FunctionTool, count, schema
from agentcore.tools.base import ToolResult, Workspace, counted
from agentcore.tools.paths import file_size, opened
from agentcore.tools.pictures import FRONT_BYTES, picture_kind, read_picture

CHUNK = 256 * KIB
# Room for what stands round the lines of a file in one result, the path aside.
FRAME_BYTES = 300


@dataclass(frozen=True, slots=True)
class _Span:
    """Lines of a file from line `first` on; lines, bytes and line ends are those of the file."""

    data: bytes
    first: int
    total: int
    size: int
    has_crlf: bool


async def read_file(
    workspace: Workspace, path: str, *, offset: int | None = None, limit: int | None = None
) -> ToolResult:
    return await asyncio.to_thread(_read, workspace, path, offset=offset, limit=limit)


READ_FILE = FunctionTool(
    "read_file",
    "Read a text file, or a range of its lines. The first line of the result names the file and "
    "the lines shown; the file's own text follows. A PNG, JPEG, GIF or WebP picture is shown.",
    schema(
        {"path": PATH},
        {
            "offset": count("First line to read, from 1"),
            "limit": count("How many lines to read"),
        },
    ),
    read_file,
)


def _read(workspace: Workspace, path: str, *, offset: int | None, limit: int | None) -> ToolResult:
    limits = workspace.limits
    first = offset or 1
    lines = limit or limits.read_lines or sys.maxsize
    with opened(workspace, path) as descriptor:
        size = file_size(path, descriptor)
        kind = picture_kind(os.pread(descriptor, FRONT_BYTES, 0))
        if kind and offset is None and limit is None:
            return read_picture(path, descriptor, kind, limits)
        if 0 < limits.file_bytes < size and offset is None and limit is None:
            raise ToolError(
                f"{path} has {size} bytes, the limit is {limits.file_bytes}: "
                "give offset and limit to read some of its lines"
            )
        with open(descriptor, "rb", closefd=False) as file:
            span = _scan(file, path, wanted=range(first, first + lines), limits=limits)
    if not span.size:
        return ToolResult(f"read_file {path}: the file is empty (0 bytes)")
    if first > span.total:
        raise ToolError(f"{path} has {span.total} lines: there is no line {first}")
    return _lines_shown(span, path, limits.result_bytes)


def _scan(file: BinaryIO, path: str, *, wanted: range, limits: Limits) -> _Span:
    """The wanted lines, in one pass that holds little more than them. Refuses binary files."""
    kept: list[bytes] = []
    last = b"\n"
    number, size, room, crlf = 1, 0, limits.file_bytes, 0
    while chunk := file.read(CHUNK):
        if (nul := chunk.find(b"\0")) >= 0:
            raise ToolError(f"{path} is binary (a NUL byte at offset {size + nul}), not text")
        newlines = chunk.count(b"\n")
        if number + newlines >= wanted.start and number < wanted.stop:
            kept.append(_lines_of(chunk, wanted.start - number, wanted.stop - number, newlines))
            room -= len(kept[-1])
        if limits.file_bytes and room < 0:
            raise ToolError(
                f"these lines of {path} take more than {limits.file_bytes} bytes: "
                "ask for fewer, or look for the place with grep"
            )
        number += newlines
        size += len(chunk)
        crlf += chunk.count(b"\r\n") + (last == b"\r" and chunk[:1] == b"\n")
        last = chunk[-1:]
    total = number - (last == b"\n")
    return _Span(b"".join(kept), wanted.start, total, size, has_crlf=0 < crlf == number - 1)


def _lines_of(chunk: bytes, start: int, stop: int, newlines: int) -> bytes:
    """Those lines of a chunk, counted from its first, whole or not."""
    if start <= 0 and newlines < stop:
        return chunk
    pieces = list(BytesIO(chunk))
    return b"".join(pieces[max(0, start) : stop])


def _lines_shown(span: _Span, path: str, result_bytes: int) -> ToolResult:
    """As many of the lines as one result holds; the others are kept in `captured`."""
    whole, note = _decoded(span)
    room = result_bytes - byte_length(path) - FRAME_BYTES if result_bytes else len(span.data) * 3
    fitting = _whole_lines(whole, room)
    if fitting == whole:
        return ToolResult(_framed(whole, span, path, note))
    if not fitting:
        note += "; the first line alone is longer than a result: find a part of it with grep"
        fitting = whole[: whole.find("\n") + 1] or whole
    captured = _framed(whole, span, path, note)
    return ToolResult(_framed(fitting, span, path, note), captured=captured)


def _decoded(span: _Span) -> tuple[str, str]:
    """The text and what the reader must know of how it was made."""
    note = ""
    try:
        whole = span.data.decode()
    except UnicodeDecodeError:
        whole = span.data.decode(errors="replace")
        note = "; bytes that are not UTF-8 are shown as U+FFFD"
    if span.has_crlf:
        whole = whole.replace("\r\n", "\n")
        note += "; line ends are CRLF, shown as LF"
    return whole, note


def _whole_lines(text: str, room: int) -> str:
    """The lines from the front that fit."""
    # No more characters than bytes.
    front = head_of(text[: max(0, room)], max(0, room))
    return text if len(front) == len(text) else front[: front.rfind("\n") + 1]


def _framed(lines: str, span: _Span, path: str, note: str) -> str:
    count = lines.count("\n") + (not lines.endswith("\n"))
    last = span.first + count - 1
    part = f"lines {span.first}-{last} of {span.total}"
    whole = f"{counted(span.total, 'line')}, {span.size} bytes"
    head = f"read_file {path}: {whole if count == span.total else part}{note}\n"
    more = span.total - last
    foot = f"… {more} more lines (total {span.total}); read on with offset={last + 1}"
    return head + lines + (foot if more else "")
