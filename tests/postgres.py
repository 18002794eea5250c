"""A PostgreSQL server of its own, in a folder, reached by a socket in it and by nothing else."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECONDS = 30


def binaries() -> Path | None:
    """The folder of the newest server on this machine."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_version)
    on_path = shutil.which("initdb")
    if found:
        return found[-1].parent
    return Path(on_path).resolve().parent if on_path else None


@contextmanager
def server(folder: Path, bin: Path) -> Iterator[str]:
    """The URL of a new and empty database; the server ends with the block."""
    data, owner = folder / "data", _owner()
    data.mkdir()
    if owner:
        _hand_over(folder, data, owner)
    _run([bin / "initdb", "-D", data, "-U", "test", "-A", "trust", "--no-sync"], owner)
    options = ("-c", "listen_addresses=", "-c", f"unix_socket_directories={data}")
    fast = ("-c", "fsync=off", "-c", "synchronous_commit=off")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [bin / "postgres", "-D", data, *options, *fast], stdout=log, stderr=log, user=owner
        )
    try:
        _wait(process, [bin / "pg_isready", "-q", "-h", data, "-U", "test"], folder / "log")
        _run([bin / "createdb", "-h", data, "-U", "test", "hermesweb"], owner)
        yield f"postgresql://test@{str(data).replace('/', '%2F')}/hermesweb"
    finally:
        # The fast way down: the gentle one waits for whoever is still connected.
        process.send_signal(signal.SIGINT)
        process.wait(SECONDS)


def _version(path: Path) -> list[int]:
    return [int(part) for part in path.parts[-3].split(".") if part.isdigit()]


def _owner() -> str | None:
    """The server refuses to run as root."""
    if os.getuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _hand_over(folder: Path, data: Path, owner: str) -> None:
    shutil.chown(data, owner)
    data.chmod(0o700)
    for parent in (folder, *folder.parents):
        if parent.stat().st_uid == 0 and not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)


def _run(command: list[Path | str], owner: str | None) -> None:
    done = subprocess.run(command, capture_output=True, text=True, user=owner, check=False, cwd="/")
    assert done.returncode == 0, done.stderr


def _wait(process: subprocess.Popen[bytes], ready: list[Path | str], log: Path) -> None:
    until = time.monotonic() + SECONDS
    while subprocess.run(ready, check=False).returncode:
        assert process.poll() is None and time.monotonic() < until, log.read_text()
        time.sleep(0.05)
