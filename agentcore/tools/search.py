"""`grep` and `glob`, both by ripgrep: linear time whatever the pattern, no links followed."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import stat
import sysconfig
from asyncio.subprocess import DEVNULL
from collections.abc import Sequence
from dataclasses import dataclass

from agentcore.errors import ToolError
from agentcore.tools.arguments import FunctionTool, schema, text
from agentcore.tools.base import ToolResult, Workspace, clipped, counted
from agentcore.tools.paths import file_size, opened, shown
from agentcore.tools.presence import files_inside, hits_inside
from agentcore.tools.process import SEARCH_PATH, Sink, run_reader

# Ignore rules that lie outside the workspace are not its own.
WALK = [
    *("--no-config", "--no-ignore-parent", "--no-ignore-global", "--no-require-git"),
    *("--hidden", "--color=never", "--null", "--glob=!.git"),
]
# To ripgrep a glob that fits a folder lifts the ignore rules from it; these fit all.
EVERYTHING = ("**/*", "**")
ERROR_BYTES = 4_000
PATTERN_CHARS = 60
# ripgrep cuts by bytes, we by characters; this many bytes hold any character.
CHARACTER_BYTES = 4

_LEFT_OUT = re.compile(rb": \d+ bytes$")
_GLOB_SIGN, _ESCAPED = re.compile(r"[][*?{}!\\]"), r"\\\g<0>"


class Records:
    """The first records of a stream, taken apart at a separator. Full as soon as one more came."""

    def __init__(self, separator: bytes, most: int) -> None:
        self._separator = separator
        self._most = most
        self._rest = b""
        self._taken: list[bytes] = []

    def feed(self, data: bytes) -> bool:
        *records, self._rest = (self._rest + data).split(self._separator)
        self._taken += records
        return self.full

    @property
    def full(self) -> bool:
        return 0 < self._most < len(self._taken)

    def kept(self) -> list[bytes]:
        return self._taken[: self._most or None]


class Walked:
    """What ripgrep said beside its hits: files left out for their size, files it could not read,
    and what it has against the pattern."""

    def __init__(self) -> None:
        self.larger = 0
        self._rest = b""
        self._is_debug = False
        self._errors = b""

    def feed(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if line.startswith(b"rg: "):
                self._is_debug = line.startswith(b"rg: DEBUG|")
            if not self._is_debug:
                fits = len(self._errors) + len(line) < ERROR_BYTES
                self._errors += line + b"\n" if fits else b""
            elif _LEFT_OUT.search(line):
                self.larger += 1

    @property
    def unread(self) -> int:
        return self._errors.count(b"\n")

    def check(self) -> None:
        """Raises ToolError when there is more against it than files that cannot be read."""
        errors = (self._errors + self._rest).decode(errors="replace")
        if any(not line.startswith(("rg: ./", "rg: DEBUG|")) for line in errors.splitlines()):
            raise ToolError(errors.strip().removeprefix("rg: "))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where to search: an open folder, or an open file that becomes the input."""

    path: str
    descriptor: int
    is_folder: bool

    def path_of(self, name: bytes) -> str:
        """A name that ripgrep gave, as a path that the other tools take."""
        if not self.is_folder:
            return self.path
        below = shown(os.fsdecode(name.removeprefix(b"./"))).replace("\n", "␊")
        folder = self.path.rstrip("/")
        return below if folder == "." else f"{folder}/{below}"


async def grep(
    workspace: Workspace, pattern: str, *, path: str = ".", include: str | None = None
) -> ToolResult:
    limits = workspace.limits
    walk = [*WALK, f"--glob={include}"] if include and include not in EVERYTHING else WALK
    with opened(workspace, path) as descriptor:
        place = _place(path, descriptor, limits.searched_file_bytes)
        search = [*_search_options(workspace), *walk, f"--regexp={pattern}"]
        records, walked = await _searched(search, place, workspace)
        if records.full and place.is_folder:
            # All cores took part, so chance decided which hits came first.
            records, walked = await _searched([*search, "--sort=path"], place, workspace)
    found = _taken_apart(records.kept())
    inside = await asyncio.to_thread(hits_inside, workspace, path, found)
    hits = _hits(inside if place.is_folder else found, place, limits.grep_line_chars)
    moved = len(found) - len(hits)
    where = f"{path} ({include})" if include else path
    notes = _notes(
        (f"… stopped after {limits.grep_hits} matches", records.full),
        (
            f"… {counted(walked.larger, 'file')} over {limits.searched_file_bytes} bytes "
            "not searched",
            walked.larger,
        ),
        (f"… {walked.unread} of the files and folders could not be read", walked.unread),
        (f"… {counted(moved, 'hit')} left out: the files changed meanwhile", moved),
    )
    count = counted(len(hits), "hit") if hits else "no match"
    head = f"grep {pattern[:PATTERN_CHARS]!r} in {where}: {count}"
    return ToolResult("\n".join([head, *hits, *notes]))


async def glob(workspace: Workspace, pattern: str) -> ToolResult:
    folder, wanted = _folder_and_glob(pattern)
    most = workspace.limits.glob_files
    records = Records(b"\0", most)
    with opened(workspace, folder) as descriptor:
        place = _Place(folder, descriptor, is_folder=True)
        options = ["--files", "--sort=path", *wanted, *WALK]
        unread = (await _ripgrep(options, place, workspace, sink=records.feed)).unread
    names = records.kept()
    inside = await asyncio.to_thread(list, files_inside(workspace, folder, names))
    paths = [place.path_of(name) for name in inside]
    moved = len(names) - len(inside)
    notes = _notes(
        (f"… capped at {most} files", records.full),
        (f"… {counted(moved, 'file')} left out: gone meanwhile", moved),
        (f"… {counted(unread, 'folder')} could not be read", unread),
    )
    found = counted(len(paths), "file") if paths else "no file"
    return ToolResult("\n".join([f"glob {pattern[:PATTERN_CHARS]!r}: {found}", *paths, *notes]))


GREP = FunctionTool(
    "grep",
    "Search files for a regular expression (Rust syntax, line by line). Hits are "
    "`path:line: text`. Left out are .git, binary files and what .gitignore names.",
    schema(
        {"pattern": text("The regular expression; (?i) in front ignores case")},
        {
            "path": text("File or folder to search; the workspace when left out"),
            "include": text("Search only files that fit this glob, such as *.py"),
        },
    ),
    grep,
)
GLOB = FunctionTool(
    "glob",
    "List files by a glob pattern, sorted by path. A pattern without a slash fits at any depth, "
    "such as *.py; ** fits any number of folders. Left out are .git and what .gitignore names.",
    schema({"pattern": text("The glob pattern, such as src/**/*.ts")}),
    glob,
)


def _folder_and_glob(pattern: str) -> tuple[str, list[str]]:
    """The folder to walk, and ripgrep's options for what to list there."""
    if pattern.startswith("!"):
        raise ToolError(f"{pattern}: a pattern says which files to list, not which to leave out")
    wanted = pattern.removeprefix("./")
    for all_below in EVERYTHING:
        folder = wanted.removesuffix(all_below)
        whole = folder == "" or (folder != wanted and folder.endswith("/"))
        if whole and not set("*?[{") & set(folder):
            return folder or ".", []
    return ".", ["--glob=/*" if wanted == "*" else f"--glob={wanted}"]


def _place(path: str, descriptor: int, max_bytes: int) -> _Place:
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        return _Place(path, descriptor, is_folder=True)
    size = file_size(path, descriptor)
    if 0 < max_bytes < size:
        raise ToolError(
            f"{path} has {size} bytes, the limit for searching is {max_bytes}: "
            "read parts of it with read_file, offset and limit"
        )
    return _Place(path, descriptor, is_folder=False)


def _search_options(workspace: Workspace) -> list[str]:
    limits = workspace.limits
    options = ["--no-heading", "--with-filename", "--line-number"]
    if limits.searched_file_bytes:
        # It tells of the files that it leaves out for their size as it goes, and nowhere else.
        options += [f"--max-filesize={limits.searched_file_bytes}", "--debug"]
    if limits.grep_line_chars:
        columns = limits.grep_line_chars * CHARACTER_BYTES
        options += [f"--max-columns={columns}", "--max-columns-preview"]
    return options


async def _searched(
    options: Sequence[str], place: _Place, workspace: Workspace
) -> tuple[Records, Walked]:
    records = Records(b"\n", workspace.limits.grep_hits)
    return records, await _ripgrep(options, place, workspace, sink=records.feed)


async def _ripgrep(
    options: Sequence[str], place: _Place, workspace: Workspace, *, sink: Sink
) -> Walked:
    """Run ripgrep in a place. Raises ToolError for a pattern that it refuses and for a search
    that takes too long."""
    walked = Walked()
    with opened(workspace, ".") as root:
        seconds = workspace.limits.command_seconds or None
        try:
            async with asyncio.timeout(seconds):
                await run_reader(
                    [_program(), *options, *_not_closed(place, workspace)]
                    + ["." if place.is_folder else "-"],
                    workspace,
                    folder=place.descriptor if place.is_folder else root,
                    stdin=DEVNULL if place.is_folder else place.descriptor,
                    stdout=sink,
                    stderr=walked.feed,
                )
        except TimeoutError:
            raise ToolError(f"took over {seconds} s: search a smaller folder") from None
    walked.check()
    return walked


def _not_closed(place: _Place, workspace: Workspace) -> list[str]:
    """The option that keeps ripgrep out of the closed folder; the last glob that fits decides."""
    if not place.is_folder or workspace.closed is None:
        return []
    folder = os.readlink(f"/proc/self/fd/{place.descriptor}")
    inside = os.path.relpath(os.path.realpath(workspace.closed), folder)
    if inside.split("/")[0] == "..":
        return []
    return [f"--glob=!/{_GLOB_SIGN.sub(_ESCAPED, inside)}"]


def _program() -> str:
    """ripgrep from its wheel, else the system's."""
    scripts = sysconfig.get_path("scripts")
    found = shutil.which("rg", path=f"{scripts}:{SEARCH_PATH}")
    if found is None:
        raise ToolError("ripgrep (rg) is not installed; install the pinned requirements")
    return found


def _taken_apart(records: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
    """Path and LINE:TEXT of each. Records are PATH NUL LINE:TEXT. A line end in a path makes two of
    one, and what ripgrep says of a binary file has no NUL: both are joined to the path that
    follows."""
    hits, loose = [], b""
    for record in records:
        name, nul, rest = record.partition(b"\0")
        name = loose + name
        loose = b"" if nul else name + b"\n"
        if nul:
            hits.append((name.rpartition(b"\n./")[2], rest))
    return hits


def _hits(found: Sequence[tuple[bytes, bytes]], place: _Place, width: int) -> list[str]:
    """As they are shown, sorted by path."""
    by_path = sorted(found, key=lambda hit: hit[0].split(b"/"))
    return [f"{place.path_of(path)}:{_shown(rest, width)}" for path, rest in by_path]


def _shown(rest: bytes, width: int) -> str:
    number, _, line = rest.decode(errors="replace").rstrip("\r").partition(":")
    return f"{number}: {clipped(line, width)}"


def _notes(*notes: tuple[str, int]) -> list[str]:
    return [note for note, holds in notes if holds]
