"""The worker's side of a guarded program: start it, take its output, end it with all it started."""

from __future__ import annotations

import asyncio
import functools
import os
import resource
import shutil
import socket
import subprocess
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from agentcore.errors import ToolError
from agentcore.limits import KIB, Limits
from agentcore.tools.base import Workspace
from agentcore.tools.guard import Reason

GUARD = Path(__file__).with_name("guard.py")
SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Nothing of the worker's own environment: keys lie there.
ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
}
# The system passes no longer argument to a program.
ARGUMENT_BYTES = 131_000
# Only what a killed guard could not end still holds a pipe then.
DRAIN_SECONDS = 1.0
# Run by a shell whose parent is the worker `$0`: no program is begun for one that is gone already.
BEGIN_READER = 'ulimit -c 0; ulimit -d "$1"; shift; [ "$PPID" = "$0" ] && exec "$@"'

# Takes output as it comes; true says that it wants no more.
Sink: TypeAlias = Callable[[bytes], bool | None]


@dataclass(frozen=True, slots=True)
class Ended:
    """`code` is negative for a signal; `left` counts the processes that were still running."""

    code: int
    left: int
    reason: Reason


class Guarded:
    """A program that runs under its guard."""

    def __init__(self, process: Process, control: socket.socket, drains: Sequence[_Drain]) -> None:
        self._process = process
        self._control = control
        self._drains = drains

    def end(self) -> None:
        """Ask the guard to end the program and all that it started."""
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)

    async def wait(self) -> Ended:
        """Raises ToolError when the guard itself was killed or failed."""
        await self._process.wait()
        await asyncio.wait([drain.ended for drain in self._drains], timeout=DRAIN_SECONDS)
        report = self._control.recv(64).decode().split()
        if len(report) != 3:
            raise ToolError("the command's guard ended early; what it started may still run")
        return Ended(int(report[0]), int(report[1]), Reason(report[2]))


@asynccontextmanager
async def guarded(
    command: Sequence[str],
    workspace: Workspace,
    *,
    folder: int,
    stdout: Sink,
    stderr: Sink,
    stdin: int = DEVNULL,
) -> AsyncIterator[Guarded]:
    """Run a program in a folder (a descriptor) with a clean environment. Leaving ends it and all
    that it started."""
    _check(command)
    with ExitStack() as held:
        ours, theirs = (held.enter_context(end) for end in socket.socketpair())
        ours.setblocking(False)
        with theirs:
            process, drains = await _started(
                [*_guard_command(theirs.fileno(), folder, workspace.limits), *command],
                workspace,
                held,
                (stdout, stderr),
                stdin=stdin,
                pass_fds=(theirs.fileno(), folder),
            )
        program = Guarded(process, ours, drains)
        try:
            yield program
        finally:
            program.end()
            await process.wait()


async def run_reader(
    command: Sequence[str],
    workspace: Workspace,
    *,
    folder: int,
    stdout: Sink,
    stderr: Sink,
    stdin: int = DEVNULL,
) -> None:
    """Run a program of our own that reads only and starts no other, to its end. Being cancelled
    ends it; the system ends it with the worker. So it needs no guard, which takes longer to start
    than many a search does."""
    begin = _begin_reader(workspace.limits)
    if not begin:
        program = guarded(
            command, workspace, folder=folder, stdout=stdout, stderr=stderr, stdin=stdin
        )
        async with program as running:
            await running.wait()
        return
    _check(command)
    with ExitStack() as held:
        process, drains = await _started(
            [*begin, *command],
            workspace,
            held,
            (stdout, stderr),
            stdin=stdin,
            cwd=f"/proc/self/fd/{folder}",
        )
        try:
            await process.wait()
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        await asyncio.wait([drain.ended for drain in drains], timeout=DRAIN_SECONDS)


async def _started(
    command: Sequence[str],
    workspace: Workspace,
    held: ExitStack,
    sinks: tuple[Sink, Sink],
    *,
    stdin: int,
    cwd: str | None = None,
    pass_fds: tuple[int, ...] = (),
) -> tuple[Process, tuple[_Drain, _Drain]]:
    """A program in a session of its own, with a clean environment; what it says goes to the sinks
    until `held` is left."""
    with ExitStack() as given:
        (out, out_drain), (err, err_drain) = [await _pipe(sink, held, given) for sink in sinks]
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=stdin,
            stdout=out,
            stderr=err,
            env=_environment(workspace),
            cwd=cwd,
            pass_fds=pass_fds,
            start_new_session=True,
        )
    return process, (out_drain, err_drain)


class _Drain(asyncio.Protocol):
    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._sink(data):
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        self.ended.set_result(None)


def _check(command: Sequence[str]) -> None:
    for argument in command:
        size = len(argument.encode("utf-8", "surrogatepass"))
        if size > ARGUMENT_BYTES:
            raise ToolError(
                f"{argument[:80]}…: {size} bytes are more than the system passes to a program "
                f"({ARGUMENT_BYTES}); put the text into a file"
            )
        if "\0" in argument or not _encodable(argument):
            raise ToolError(f"{argument!a:.80}: NUL and half surrogates cannot be passed")


def _encodable(argument: str) -> bool:
    try:
        os.fsencode(argument)
    except UnicodeEncodeError:
        return False
    return True


def _environment(workspace: Workspace) -> dict[str, str]:
    path = ":".join([*map(str, workspace.programs), SEARCH_PATH])
    return {**ENVIRONMENT, "PATH": path, "HOME": str(workspace.root)}


def _guard_command(control: int, folder: int, limits: Limits) -> list[str]:
    numbers = (control, folder, limits.command_processes, limits.command_memory_bytes)
    return [sys.executable, "-I", "-S", str(GUARD), *map(str, numbers)]


def _begin_reader(limits: Limits) -> list[str]:
    """What begins a reader so that the system ends it with us; empty where it cannot."""
    setpriv = _setpriv()
    if setpriv is None:
        return []
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = limits.command_memory_bytes or resource.RLIM_INFINITY
    lowest = min((size for size in (most, hard) if size != resource.RLIM_INFINITY), default=None)
    memory = "unlimited" if lowest is None else str(lowest // KIB)
    return [setpriv, "--pdeathsig=KILL", "/bin/sh", "-c", BEGIN_READER, str(os.getpid()), memory]


@functools.cache
def _setpriv() -> str | None:
    """The program of util-linux, where it is one that knows the option."""
    found = shutil.which("setpriv", path=SEARCH_PATH)
    if found is None:
        return None
    tried = subprocess.run([found, "--pdeathsig=KILL", "/bin/sh", "-c", ":"], capture_output=True)
    return None if tried.returncode else found


async def _pipe(sink: Sink, held: ExitStack, given: ExitStack) -> tuple[int, _Drain]:
    """The end to write to, and the drain that takes what is written there."""
    read, write = os.pipe()
    given.callback(os.close, write)
    transport, drain = await asyncio.get_running_loop().connect_read_pipe(
        lambda: _Drain(sink), os.fdopen(read, "rb", buffering=0)
    )
    held.callback(transport.close)
    return write, drain
