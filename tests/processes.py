"""Whether a process still runs, and waiting for what becomes true."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def wait_until(holds: Callable[[], bool], seconds: float = 10) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it did not come true in time"
        time.sleep(0.01)


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"
