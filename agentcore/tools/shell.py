"""`run_command`: one command of the shell, its output bounded while it is read."""

from __future__ import annotations

import asyncio
import shutil
import time
from codecs import getincrementaldecoder
from pathlib import Path

from agentcore.breakdown import byte_length
from agentcore.limits import Limits
from agentcore.messages import ToolStatus
from agentcore.options import Effect
from agentcore.tools.arguments import FunctionTool, count, schema, text
from agentcore.tools.base import ToolResult, Workspace, clipped
from agentcore.tools.guard import Reason
from agentcore.tools.paths import opened
from agentcore.tools.process import SEARCH_PATH, Ended, guarded

SHELL = shutil.which("bash", path=SEARCH_PATH) or "/bin/sh"
COMMAND_CHARS = 50
# A successful command's output is shortened when it is longer than both.
LONG_BYTES, LONG_LINES = 8_000, 80
FIRST_LINES, WARNING_LINES, LAST_LINES = 20, 20, 40
WARNING_CHARS = 240
WARNINGS = ("warn", "deprecat", "error")


class Capture:
    """The front and the end of a stream; what lies between is counted and dropped."""

    def __init__(self, name: str, max_bytes: int) -> None:
        self._name = name
        self._front = max_bytes // 2 if max_bytes else None
        self._back = max_bytes - max_bytes // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._size = 0

    def feed(self, data: bytes) -> None:
        self._size += len(data)
        room = len(data) if self._front is None else self._front - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * self._back:
            del self._tail[: -self._back]

    def section(self, shorten: bool) -> str:
        """What was kept under a title, with a notice in the title and in the gap; nothing for a
        stream that was empty. Bytes that are no UTF-8 become U+FFFD."""
        if not self._size:
            return ""
        whole, dropped = self._kept()
        title = f"{self._name} truncated ({dropped} bytes not shown)" if dropped else self._name
        return f"--- {title}\n{_shortened(whole) if shorten else whole}"

    def _kept(self) -> tuple[str, int]:
        tail = self._tail[-self._back :] if self._back else self._tail
        if len(self._head) + len(tail) == self._size:
            return (self._head + tail).decode(errors="replace"), 0
        start = next((at for at in range(min(4, len(tail))) if tail[at] & 0xC0 != 0x80), 0)
        decoder = getincrementaldecoder("utf-8")("replace")
        head = decoder.decode(bytes(self._head))
        dropped = self._size - len(self._head) + len(decoder.getstate()[0]) - len(tail) + start
        gap = f"… {dropped} bytes of {self._name} not shown here"
        return f"{head}\n{gap}\n{tail[start:].decode(errors='replace')}", dropped


async def run_command(
    workspace: Workspace, command: str, *, timeout: int | None = None
) -> ToolResult:
    limits = workspace.limits
    seconds = min(timeout or limits.command_seconds, limits.command_seconds) or timeout
    streams = (Capture("stdout", limits.stream_bytes), Capture("stderr", limits.stream_bytes))
    started = time.monotonic()
    with opened(workspace, ".") as folder:
        ended = await _run(command, workspace, folder=folder, seconds=seconds, streams=streams)
    how = f"killed after {seconds} s, no exit code"
    if ended.reason is not Reason.ASKED:
        how = how_it_ended(ended, limits)
    took = time.monotonic() - started
    head = f"run_command ({how}, {took:.1f} s): {subject_of(command)}"
    if ended.left and ended.reason is Reason.EXIT:
        head += f"\n… it left {ended.left} running in the background; ended"
    if ended.reason is not Reason.EXIT or ended.code:
        whole = _joined(head, streams, shorten=False)
        return ToolResult(whole, ToolStatus.FAILED, "head+tail")
    whole, short = (_joined(head, streams, shorten=shorten) for shorten in (False, True))
    return ToolResult(short, keep="head+tail", captured=whole)


RUN_COMMAND = FunctionTool(
    "run_command",
    f"Run a command with {Path(SHELL).name} in the workspace. It gets no input; it "
    "and all that it started are ended when it returns or its time is over. The result tells the "
    "exit code; long output of a command that succeeded is shortened to its first, warning and "
    "last lines, so filter it (grep, head, sed -n) when you need a part.",
    schema(
        {"command": text("The command line")},
        {"timeout": count("Seconds after which it is ended, at most those of the session")},
    ),
    run_command,
    Effect.COMMAND,
)


def subject_of(command: str) -> str:
    """The beginning of a command, in one line."""
    line = " ".join(command.split())
    return clipped(line, COMMAND_CHARS)


def how_it_ended(ended: Ended, limits: Limits) -> str:
    """Of a command that was not asked to end."""
    if ended.reason is Reason.PROCESSES:
        return f"killed over {limits.command_processes} processes, no exit code"
    if ended.code < 0:
        return f"exit code {128 - ended.code}, signal {-ended.code}"
    return f"exit code {ended.code}"


async def _run(
    command: str,
    workspace: Workspace,
    *,
    folder: int,
    seconds: int | None,
    streams: tuple[Capture, Capture],
) -> Ended:
    out, err = streams
    shell = guarded(
        [SHELL, "-c", command], workspace, folder=folder, stdout=out.feed, stderr=err.feed
    )
    async with shell as program:
        try:
            async with asyncio.timeout(seconds):
                return await program.wait()
        except TimeoutError:
            program.end()
            return await program.wait()


def _joined(head: str, streams: tuple[Capture, Capture], *, shorten: bool) -> str:
    sections = [section for stream in streams if (section := stream.section(shorten))]
    return "\n".join([head, *sections] if sections else [head, "(no output)"])


def _shortened(whole: str) -> str:
    """First lines, lines that warn, last lines, of a text that is long."""
    lines = whole.split("\n")
    if byte_length(whole) <= LONG_BYTES or len(lines) <= LONG_LINES:
        return whole
    middle = lines[FIRST_LINES:-LAST_LINES]
    warnings = [line for line in middle if any(word in line.lower() for word in WARNINGS)]
    shown = [clipped(line, WARNING_CHARS) for line in warnings[:WARNING_LINES]]
    notice = f"… {len(middle)} of {len(lines)} lines not shown; the session keeps the whole output"
    if shown:
        notice += f"; {len(shown)} of {len(warnings)} among them that warn:"
    kept = [*lines[:FIRST_LINES], notice, *shown, "…", *lines[-LAST_LINES:]]
    return "\n".join(kept)
