"""What environment variables say; nonsense in one is told by its name, and keys are hidden."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence

from django.core.exceptions import ImproperlyConfigured

PR_SET_DUMPABLE = 4


def makes_state(arguments: Sequence[str]) -> bool:
    """Whether the folder and key of an installation are made where there are none: not by what
    only tells, or needs an installation that is there."""
    asks = {"-h", "--help", "help"} & set(arguments)
    return not (asks or {"demo", "doctor", "import_session"} & set(arguments[:1]))


def env_flag(name: str, default: bool = False) -> bool:
    value = os.environ.get(name, "").lower()
    if value not in ("", "0", "1", "true", "false"):
        raise ImproperlyConfigured(f"{name} is {value!r}: use 1 or 0.")
    return value in ("1", "true") if value else default


def env_int(name: str, default: int) -> int:
    value = os.environ.get(name, "")
    if value and not (value.isdecimal() and int(value) > 0):
        raise ImproperlyConfigured(f"{name} is {value!r}: use a whole number above 0.")
    return int(value) if value else default


def env_list(name: str, separator: str = ",") -> list[str]:
    return [part.strip() for part in os.environ.get(name, "").split(separator) if part.strip()]


def env_places(name: str) -> list[tuple[str, int]]:
    """(host, port) pairs, written HOST:PORT and separated by commas."""
    places = [part.rpartition(":") for part in env_list(name)]
    if not all(host and port.isdecimal() for host, _, port in places):
        raise ImproperlyConfigured(f"{name} is {os.environ[name]!r}: use HOST:PORT, HOST:PORT.")
    return [(host.strip("[]"), int(port)) for host, _, port in places]


def hide() -> None:
    """Our environment holds keys: other processes of this user, the commands of agents among them,
    no longer read it in /proc. Root does, whatever we do."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
