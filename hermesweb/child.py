"""One process under the supervisor: own process group, ends with its parent, output in a log."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PR_SET_PDEATHSIG = 1
LOG_BYTES = 5_000_000
# A child that has run this long was not crashing at its start.
STEADY_SECONDS = 60.0
LONGEST_PAUSE = 30.0

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class Child:
    """Started, watched, restarted with growing pauses, stopped; all from one thread.

    The death signal is sent when the thread that started the child ends, so that must be the
    main thread.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        log: Path,
        pass_fds: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.log = log
        self._command = list(command)
        self._env = dict(env)
        self._cwd = cwd
        self._pass_fds = pass_fds
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self._crashes = 0
        self._start_again_at = 0.0

    @property
    def ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def start(self) -> None:
        if self.log.exists() and self.log.stat().st_size > LOG_BYTES:
            self.log.replace(self.log.with_suffix(".log.1"))
        parent = os.getpid()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                env=self._env,
                cwd=self._cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=self._pass_fds,
                # A group of its own: Ctrl-C in the terminal reaches the supervisor only.
                start_new_session=True,
                preexec_fn=lambda: _die_with(parent),
            )
        self._started = time.monotonic()

    def tend(self) -> str | None:
        """Restart it once it has ended and its pause is over; returns what there is to tell."""
        if self._process is None:
            if time.monotonic() < self._start_again_at:
                return None
            self.start()
            return f"{self.name} started again"
        code = self._process.poll()
        if code is None:
            return None
        steady = time.monotonic() - self._started > STEADY_SECONDS
        self._crashes = 1 if steady else self._crashes + 1
        pause = min(2.0 ** (self._crashes - 1) - 1, LONGEST_PAUSE)
        self._start_again_at = time.monotonic() + pause
        self._clear()
        return f"{self.name} ended ({_how(code)}): next start in {pause:.0f} s, see {self.log}"

    def stop(self, seconds: float, hurried: Callable[[], bool]) -> bool:
        """Ask it to end; kill its group after `seconds`, or as soon as it is `hurried`. Returns
        whether it ended by itself."""
        if self._process is None:
            return True
        self._process.terminate()
        end = time.monotonic() + seconds
        while not self.ended and time.monotonic() < end and not hurried():
            time.sleep(0.05)
        by_itself = self.ended
        self._clear()
        return by_itself

    def last_lines(self, count: int) -> str:
        with self.log.open("rb") as log:
            log.seek(max(0, self.log.stat().st_size - 20_000))
            return "\n".join(log.read().decode(errors="replace").splitlines()[-count:])

    def _clear(self) -> None:
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None


def _die_with(parent: int) -> None:
    if _libc is not None:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _how(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
