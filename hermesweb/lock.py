"""The file that says where an installation runs; also the lock against a second start."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

FILE = "up.json"


@dataclass(frozen=True, slots=True)
class Running:
    """`broker` is the URL that workers and pages use; empty when they share one process."""

    pid: int
    port: int
    url: str
    broker: str


@dataclass(frozen=True, slots=True)
class Hold:
    """`left` is what a killed start left behind, None after one that ended in order."""

    left: Running | None
    _file: TextIO

    def tell(self, where: Running) -> None:
        json.dump(asdict(where), self._file)
        self._file.flush()


class AlreadyRunning(Exception):
    """Another start holds the data folder; `where` is None while it is not yet listening."""

    def __init__(self, where: Running | None) -> None:
        self.where = where
        super().__init__(f"already running on port {where.port}" if where else "already starting")


def running(data_dir: Path) -> Running | None:
    """Where the installation of this data folder runs, or None."""
    found = _read(data_dir)
    try:
        if found:
            os.kill(found.pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass  # Another user's process is a process too.
    return found


@contextlib.contextmanager
def held(data_dir: Path) -> Iterator[Hold]:
    """Hold the data folder; the kernel lets go of it even when this process is killed."""
    with (data_dir / FILE).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning(running(data_dir)) from None
        left = _read(data_dir)
        file.truncate(0)
        yield Hold(left, file)
        file.truncate(0)


def _read(data_dir: Path) -> Running | None:
    try:
        return Running(**json.loads((data_dir / FILE).read_text()))
    except (OSError, json.JSONDecodeError):
        return None
