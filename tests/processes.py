"""Whether a process still runs, waiting for what becomes true, and for how long at most."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

# What takes longer has failed, on however busy a machine. What it must not wait for lasts longer.
PATIENCE = 30


def wait_until(holds: Callable[[], bool], seconds: float = PATIENCE) -> None:
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
