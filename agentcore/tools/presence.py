"""Whether what a search found lies inside: ripgrep goes by names, and a folder may be swapped for
a link out of the workspace while it walks."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import groupby

from agentcore.errors import ToolError
from agentcore.tools.base import Workspace
from agentcore.tools.paths import file_size, located, opened

UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def hits_inside(
    workspace: Workspace, folder: str, hits: Iterable[tuple[bytes, bytes]]
) -> list[tuple[bytes, bytes]]:
    """Those whose text, `LINE:TEXT` or the beginning of one, their file below the folder holds."""
    inside = []
    for name, those in groupby(hits, key=lambda hit: hit[0]):
        data = _content(workspace, _below(folder, name))
        inside += [hit for hit in those if _text(hit, workspace) in data]
    return inside


def files_inside(workspace: Workspace, folder: str, names: Iterable[bytes]) -> Iterator[bytes]:
    for name in names:
        with suppress(ToolError), located(workspace, _below(folder, name)) as (place, last):
            os.stat(last, dir_fd=place, follow_symlinks=False)
            yield name


def _below(folder: str, name: bytes) -> str:
    return f"{folder.rstrip('/')}/{os.fsdecode(name)}"


def _text(hit: tuple[bytes, bytes], workspace: Workspace) -> bytes:
    """As much of the line as is certainly the file's own: a cut by ripgrep leaves more."""
    return hit[1].partition(b":")[2].rstrip(b"\r")[: workspace.limits.grep_line_chars or None]


def _content(workspace: Workspace, path: str) -> bytes:
    """As ripgrep read it; nothing where there is no such file."""
    with suppress(ToolError), opened(workspace, path) as descriptor:
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(file_size(path, descriptor))
        return data.decode("utf-16", "replace").encode() if data.startswith(UTF_16) else data
    return b""
