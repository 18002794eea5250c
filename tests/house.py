"""A real installation for tests: `manage.py up` on a free port with a data folder of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BASE_DIR = Path(__file__).resolve().parent.parent
MANAGE = [sys.executable, str(BASE_DIR / "manage.py")]
# What takes longer has failed, on however busy a machine.
SECONDS = 60
COMMANDS = {"broker": "valkey-server", "web": "uvicorn", "worker": "celery"}


@dataclass(frozen=True, slots=True)
class House:
    process: subprocess.Popen[str]
    data_dir: Path
    url: str
    sign_in_url: str
    api_token: str

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    def log(self) -> str:
        return (self.data_dir / "up.log").read_text()

    def children(self) -> dict[str, int]:
        """Name to process id of what runs under the supervisor now."""
        running = {}
        for pid in children_of(self.process.pid):
            command = command_of(pid)
            running |= {name: pid for name, part in COMMANDS.items() if part in command}
        return running

    def rows(self, query: str, *values: Any) -> list[Any]:
        with contextlib.closing(sqlite3.connect(self.data_dir / "hermesweb.sqlite3")) as database:
            return database.execute(query, values).fetchall()

    def kill(self, name: str) -> None:
        os.kill(self.children()[name], signal.SIGKILL)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Its exit code; it may not take longer than a minute."""
        self.process.send_signal(number)
        return self.process.wait(SECONDS)


@contextlib.contextmanager
def up(data_dir: Path, *options: str, **env: str) -> Iterator[House]:
    """Started on a free port and without a demo unless `options` say otherwise; then stopped."""
    data_dir.mkdir(parents=True, exist_ok=True)
    with (data_dir / "up.log").open("w") as log:
        process = subprocess.Popen(
            [*MANAGE, "up", "--json", "--data-dir", data_dir, "--port", "0", "--no-demo", *options],
            env={**os.environ, "HERMESWEB_EXPLORER_PACE_MS": "1", **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, (data_dir / "up.log").read_text()
        facts = json.loads(line)
        assert facts.pop("pid") == process.pid
        yield House(process=process, data_dir=data_dir, **facts)
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(SECONDS)
        process.stdout.close()


def manage(*arguments: str, data_dir: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """A management command, to its end."""
    return subprocess.run(
        [*MANAGE, *arguments],
        env={**os.environ, "HERMESWEB_DATA_DIR": str(data_dir), **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def wait_for(what: Callable[[], object], *, seconds: float = SECONDS) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.05)


def children_of(parent: int) -> list[int]:
    threads = Path(f"/proc/{parent}/task").glob("*/children")
    return [int(pid) for file in threads for pid in file.read_text().split()]


def command_of(pid: int) -> str:
    """Empty when the process has ended, even where nobody has taken note of it yet."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    return ""
