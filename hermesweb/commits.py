"""What the git repository of a workspace tells of its commits. It is only read."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Awaitable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from agentcore.errors import ToolError
from agentcore.said import Said
from agentcore.tools.base import Workspace
from agentcore.tools.process import SEARCH_PATH, run_reader

T = TypeVar("T")

# Of all that is asked at one time.
SECONDS = 5.0
TOLD_BYTES, TOLD_CHARS = 4_000, 200
# Paths are no patterns, nothing is fetched, no lock is taken.
OPTIONS = ("--literal-pathspecs", "--no-optional-locks", "-c", "protocol.allow=never")


class NoHistory(Exception):
    """Git cannot tell; says why."""


@dataclass(frozen=True, slots=True)
class Awaited:
    """A commit that changes `path`, a file or folder of the workspace, later than `since`: a
    commit, or empty before the first one."""

    path: str
    since: str


@dataclass(frozen=True, slots=True)
class Look:
    """`head`: the commit that is checked out; `made`: the newest of those that were awaited;
    `lost`: what is later than a commit that is not known here."""

    head: str
    made: Mapping[Awaited, str]
    lost: Collection[Awaited]


async def head(root: Path) -> str:
    """The commit that is checked out; empty where there is none yet. Raises NoHistory."""
    return await _timed(_commit(root, "HEAD"))


async def look(root: Path, now: str, awaited: Collection[Awaited]) -> Look:
    """What became of these up to the commit `now`. Raises NoHistory."""
    return await _timed(_looked(root, now, awaited))


async def _looked(root: Path, now: str, awaited: Collection[Awaited]) -> Look:
    made: dict[Awaited, str] = {}
    lost: list[Awaited] = []
    for one in awaited if now else ():
        if one.since and not await _commit(root, one.since):
            lost.append(one)
            continue
        span = f"{one.since}..{now}" if one.since else now
        if found := await _ask(root, "rev-list", "--max-count=1", span, "--", one.path):
            made[one] = found
    return Look(now, made, lost)


async def _commit(root: Path, name: str) -> str:
    return await _ask(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")


async def _timed(work: Awaitable[T]) -> T:
    try:
        async with asyncio.timeout(SECONDS):
            return await work
    except TimeoutError:
        raise NoHistory(Said("git took over {seconds:g} s", seconds=SECONDS)) from None


async def _ask(root: Path, *arguments: str) -> str:
    """One line. Raises NoHistory with what git says instead."""
    if shutil.which("git", path=SEARCH_PATH) is None:
        raise NoHistory(Said("the program git is not installed"))
    said, complaint = bytearray(), bytearray()
    try:
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise NoHistory(f"{root}: {error.strerror}") from error
    try:
        await run_reader(
            ["git", *OPTIONS, *arguments],
            Workspace(root),
            folder=folder,
            stdout=lambda data: _kept(said, data),
            stderr=lambda data: _kept(complaint, data),
        )
    except ToolError as error:
        raise NoHistory(str(error)) from error
    finally:
        os.close(folder)
    if complaint and not said:
        raise NoHistory(complaint.decode("utf-8", "replace").splitlines()[0][:TOLD_CHARS])
    return said.decode("ascii", "replace").strip()


def _kept(into: bytearray, data: bytes) -> bool:
    into += data
    return len(into) >= TOLD_BYTES
