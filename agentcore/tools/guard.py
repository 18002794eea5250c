"""The guard: the program under which every command of a tool runs (Linux; it needs /proc).

Started as `python -I -S guard.py SOCKET FOLDER PROCESSES BYTES PROGRAM ARGUMENT...` with two
descriptors and two limits (0: none). When the other end of the socket closes, because the worker
asks for it or was killed, all that the program started is ended, also what left its process group.
At its own end it sends `CODE LEFT REASON` through the socket: exit code (negative: signal), how
many processes were still running, and the Reason.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum

# Every command waits for this program to start, so it imports no more than it must.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

GRACE_SECONDS = 0.3
LOOK_SECONDS = 0.1
PAUSE_SECONDS = 0.02
KILL_SECONDS = 5.0
CANNOT_START = 127
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


class Reason(StrEnum):
    """Why a program ended: by itself, at the worker's wish, for too many processes."""

    EXIT = "exit"
    ASKED = "asked"
    PROCESSES = "processes"


class Command:
    """The program and all that descends from it. A guard adopts what loses its parent, so every
    descendant stays below it. The child is not collected when it ends: its number, which is that
    of its group too, cannot become another's."""

    def __init__(self, child: int, most: int) -> None:
        self._child = child
        self._most = most
        self._others = len(_all_processes())

    def code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        ended = os.waitid(os.P_PID, self._child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None:
            return None
        return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status

    def descendants(self) -> dict[int, int]:
        """The process group of each that runs, by process id."""
        children: dict[int, list[tuple[int, int]]] = {}
        for process in _all_processes():
            if found := _parent_and_group(process):
                children.setdefault(found[0], []).append((process, found[1]))
        below, todo = {}, [os.getpid()]
        while todo:
            for process, group in children.get(todo.pop(), ()):
                below[process] = group
                todo.append(process)
        return below

    def too_many(self) -> bool:
        """Looks closer only when the machine runs that many more, and holds the command for it:
        else a fork bomb would outrun the look."""
        if not self._most or len(_all_processes()) - self._others <= self._most:
            return False
        _send(os.killpg, self._child, signal.SIGSTOP)
        own = len(self.descendants())
        if own > self._most:
            return True
        self._others = len(_all_processes()) - own
        _send(os.killpg, self._child, signal.SIGCONT)
        return False

    def ended_within(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while self.descendants():
            if time.monotonic() >= until or self.too_many():
                return False
            time.sleep(PAUSE_SECONDS)
        return True

    def signal(self, number: signal.Signals) -> None:
        """By group, the command's own first: a group cannot outrun its signal by forking."""
        _send(os.killpg, self._child, number)
        own = os.getpgrp()
        for process, group in self.descendants().items():
            if group == own:
                _send(os.kill, process, number)
            elif group != self._child:
                _send(os.killpg, group, number)

    def end(self, *, gently: bool) -> None:
        if gently:
            self.signal(signal.SIGTERM)
            self.signal(signal.SIGCONT)
            self.ended_within(GRACE_SECONDS)
        until = time.monotonic() + KILL_SECONDS
        while self.descendants() and time.monotonic() < until:
            self.signal(signal.SIGKILL)
            time.sleep(PAUSE_SECONDS)


def main(arguments: list[str]) -> None:
    control, folder, processes, memory = (int(text) for text in arguments[:4])
    for descriptor in (control, folder):
        os.set_inheritable(descriptor, False)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    wake = _ignore_signals()
    guard = os.getpid()
    child = os.fork()
    if not child:
        _become(arguments[4:], folder, memory=memory, guard=guard)
    _close_streams()
    command = Command(child, processes)
    reason = _watch(command, control, wake)
    # A look at all processes takes its time: whoever left nobody behind is looked at once.
    is_gone = reason is Reason.EXIT and command.ended_within(GRACE_SECONDS)
    if reason is Reason.EXIT and not is_gone and command.too_many():
        reason = Reason.PROCESSES
    left = 0 if is_gone else len(command.descendants())
    if not is_gone:
        command.end(gently=reason is not Reason.PROCESSES)
    code = command.code()
    _collect()
    with suppress(OSError):
        os.write(control, f"{code or 0} {left} {reason}".encode())


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _ignore_signals() -> int:
    """Only the socket ends a guard. Returns a descriptor that is readable when a child ended."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    wake, written = os.pipe()
    for descriptor in (wake, written):
        os.set_blocking(descriptor, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(written, warn_on_full_buffer=False)
    return wake


def _become(command: list[str], folder: int, *, memory: int, guard: int) -> NoReturn:
    """In the child: its own session, its limits, then the program. Never returns."""
    try:
        os.setsid()
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != guard:
            os._exit(CANNOT_START)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _limit_memory(memory)
        os.fchdir(folder)
        os.execvp(command[0], command)
    except (OSError, ValueError, OverflowError) as error:
        os.write(2, f"cannot start {command[0]}: {error}\n".encode())
    finally:
        os._exit(CANNOT_START)


def _limit_memory(most: int) -> None:
    """Only data counts: some runtimes reserve far more address space than they use."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if most and (hard == resource.RLIM_INFINITY or most < hard):
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _close_streams() -> None:
    """Else the worker would wait for the guard's own copies of the command's output."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def _watch(command: Command, control: int, wake: int) -> Reason:
    """Wait for the end of the program, the worker's wish, or too many processes."""
    while True:
        ready, _, _ = select.select([control, wake], [], [], LOOK_SECONDS)
        with suppress(BlockingIOError):
            os.read(wake, 4_096)
        if command.code() is not None:
            return Reason.EXIT
        if control in ready:
            return Reason.ASKED
        if command.too_many():
            return Reason.PROCESSES


def _collect() -> None:
    """No ended process is left for whoever comes after the guard."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _send(send: Callable[[int, int], None], target: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        send(target, number)


def _all_processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _parent_and_group(process: int) -> tuple[int, int] | None:
    """None for what has ended. The name in parentheses may hold anything."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            state, parent, group = file.read().rpartition(b")")[2].split()[:3]
    except (OSError, ValueError):
        return None
    return None if state in b"ZX" else (int(parent), int(group))


if __name__ == "__main__":
    main(sys.argv[1:])
