"""Opening what lies inside a workspace, and nothing else.

A path is walked by folder descriptors, one name at a time, none of which may be followed by the
system: a link is read and walked here. So a name that is swapped for a link in the meantime fails.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from agentcore.errors import ToolError
from agentcore.tools.base import Workspace

MAX_LINKS = 40

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK a FIFO would wait for its other end.
_FILE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a symbolic link",
}


@contextmanager
def located(workspace: Workspace, path: str, *, create: bool = False) -> Iterator[tuple[int, str]]:
    """The descriptor of the folder that holds the path, and the name it has there; the name is
    `.` where the path is a folder walked to its end. `create` makes missing folders on the way.

    Raises ToolError for a path that is not inside the workspace or lies in its closed folder.
    """
    with _failures_told(path):
        walk = _Walk(workspace, path, create)
        try:
            yield walk.to_the_end()
        finally:
            walk.close()


@contextmanager
def opened(workspace: Workspace, path: str, flags: int = os.O_RDONLY) -> Iterator[int]:
    """A descriptor of what the path names, file or folder. Never waits for another process."""
    with located(workspace, path) as (folder, name):
        descriptor = os.open(name, flags | _FILE, dir_fd=folder)
        try:
            _refuse_closed(_closed(workspace), path, descriptor)
            yield descriptor
        finally:
            os.close(descriptor)


def file_size(path: str, descriptor: int) -> int:
    """Bytes of an open file. Raises ToolError for what is no ordinary file."""
    return _ordinary(path, os.fstat(descriptor)).st_size


def writable(path: str, folder: int, name: str) -> os.stat_result | None:
    """What stands at a name that is to be written; None where nothing does."""
    try:
        found = _ordinary(path, os.stat(name, dir_fd=folder, follow_symlinks=False))
    except FileNotFoundError:
        return None
    os.close(os.open(name, os.O_WRONLY | _FILE, dir_fd=folder))
    return found


def shown(name: str) -> str:
    """A file name as it may stand in text: bytes that are no UTF-8 become U+FFFD."""
    return os.fsencode(name).decode("utf-8", "replace")


@contextmanager
def _failures_told(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ToolError(f"{path}: {(error.strerror or str(error)).lower()}") from error


def _ordinary(path: str, found: os.stat_result) -> os.stat_result:
    if stat.S_ISREG(found.st_mode):
        return found
    kind = _KINDS.get(stat.S_IFMT(found.st_mode), "a special file")
    raise ToolError(f"{path} is {kind}; only ordinary files can be read or written")


def _closed(workspace: Workspace) -> os.stat_result | None:
    return os.stat(workspace.closed) if workspace.closed else None


def _refuse_closed(closed: os.stat_result | None, path: str, descriptor: int) -> None:
    if closed and os.path.samestat(os.fstat(descriptor), closed):
        raise ToolError(f"{path}: lies in the data folder of this installation, which is closed")


class _Walk:
    """The folders from the root down to where a path has led so far, each held open."""

    def __init__(self, workspace: Workspace, path: str, create: bool) -> None:
        self._workspace = workspace
        self._path = path
        self._create = create
        self._links = 0
        self._closed = _closed(workspace)
        self._names = _names(path, str(workspace.root))
        self._folders = [os.open(workspace.root, _FOLDER)]

    def to_the_end(self) -> tuple[int, str]:
        _refuse_closed(self._closed, self._path, self._folders[0])
        while self._names:
            name = self._names.pop()
            if name == "..":
                self._step_up()
            elif (target := self._link(name)) is not None:
                self._follow(target)
            elif self._names:
                self._step_down(name)
            else:
                return self._folders[-1], name
        return self._folders[-1], "."

    def close(self) -> None:
        for folder in self._folders:
            os.close(folder)

    def _step_up(self) -> None:
        if len(self._folders) == 1:
            raise _outside(self._path)
        os.close(self._folders.pop())

    def _step_down(self, name: str) -> None:
        if self._create:
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=self._folders[-1])
        self._folders.append(os.open(name, _FOLDER, dir_fd=self._folders[-1]))
        _refuse_closed(self._closed, self._path, self._folders[-1])

    def _link(self, name: str) -> str | None:
        try:
            return os.readlink(name, dir_fd=self._folders[-1])
        except OSError:
            return None

    def _follow(self, target: str) -> None:
        self._links += 1
        if self._links > MAX_LINKS:
            raise ToolError(f"{self._path}: more than {MAX_LINKS} symbolic links on the way")
        if target.startswith("/"):
            inside = os.path.relpath(target, self._workspace.root)
            if inside.split("/")[0] == "..":
                raise _outside(self._path)
            while len(self._folders) > 1:
                os.close(self._folders.pop())
            target = inside
        self._names.extend(_split(target))


def _names(path: str, root: str) -> list[str]:
    """The names of a path, the first one last. Refuses what cannot lie inside. An absolute path
    counts from the root when it begins with it."""
    if not path or "\0" in path:
        raise ToolError(
            f"{path!r} is no path: give one relative to the workspace, such as src/a.py"
        )
    below = f"{path}/".removeprefix(f"{root}/").rstrip("/") or "."
    if below.startswith(("/", "~")):
        raise ToolError(f"{path}: give the path relative to the workspace, such as src/a.py")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise ToolError(f"{path!a} cannot be the name of a file") from None
    if os.path.normpath(below).split("/")[0] == "..":
        raise _outside(path)
    return _split(below)


def _split(path: str) -> list[str]:
    return [name for name in reversed(path.split("/")) if name not in ("", ".")]


def _outside(path: str) -> ToolError:
    return ToolError(f"{path}: leads out of the workspace; only what lies inside can be used")
