"""What a workspace says of itself in files: the AGENTS.md chain and NANOHERMES.md."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from agentcore.errors import ToolError
from agentcore.limits import Limits
from agentcore.options import KeepDocs
from agentcore.tools.base import Workspace
from agentcore.tools.paths import file_size, opened

CONTEXT_NAME = "NANOHERMES.md"
# Above this the project context is warned of; it is never cut for it.
LARGE_CONTEXT_BYTES = 20_000
TRUNCATED = "… project guidance truncated ({} bytes omitted)"
NOT_READ = "\n… {} more bytes not read"


def guidance(
    workspace: Path,
    roots: Iterable[Path],
    names: Sequence[str],
    *,
    limits: Limits,
    user_wide: Path | None = None,
    closed: Path | None = None,
) -> list[str]:
    """The texts of the chain, the most specific last: the user-wide file, then the folders from
    the highest allowed root down to the workspace. A file that two paths lead to is read once;
    links that lead out of the roots or into the `closed` folder are not followed."""
    roots = [Path(os.path.realpath(root)) for root in roots]
    workspace = Path(os.path.realpath(workspace))
    candidates = [(folder / name, roots) for folder in _chain(workspace, roots) for name in names]
    if user_wide:
        candidates.insert(0, (user_wide, [user_wide.parent]))
    seen: set[str] = set()
    texts = []
    for path, allowed in candidates:
        real = _real(path)
        if real not in seen:
            seen.add(real)
            texts += _text(real, allowed, limits, closed)
    return texts


def joined(texts: Iterable[str], limits: Limits, keep: KeepDocs) -> str:
    """One text of at most `project_docs_bytes`, cut at a character border from the end that is not
    kept; a notice stands where the cut is."""
    whole, most = "\n\n".join(texts), limits.project_docs_bytes
    raw = whole.encode()
    if not 0 < most < len(raw):
        return whole
    general = keep is KeepDocs.GENERAL
    # Only a character that the cut goes through is ignored: the text was decoded before.
    kept = (raw[:most] if general else raw[-most:]).decode("utf-8", "ignore")
    notice = TRUNCATED.format(len(raw) - len(kept.encode()))
    return f"{kept}\n{notice}" if general else f"{notice}\n{kept}"


def project_context(workspace: Path, limits: Limits, *, closed: Path | None = None) -> str:
    """The text of NANOHERMES.md, whole; empty where there is none, or where it is a link out of
    the workspace or into its `closed` folder."""
    workspace = Path(os.path.realpath(workspace))
    return "".join(_text(_real(workspace / CONTEXT_NAME), [workspace], limits, closed))


def _chain(workspace: Path, roots: Sequence[Path]) -> Iterator[Path]:
    holding = [root for root in roots if workspace.is_relative_to(root)]
    highest = min(holding, key=lambda root: len(root.parts), default=workspace)
    below = workspace.relative_to(highest).parts
    for depth in range(len(below) + 1):
        yield highest.joinpath(*below[:depth])


def _real(path: Path) -> str:
    try:
        return os.path.realpath(path, strict=True)
    except OSError:
        return str(path)


def _text(path: str, roots: Iterable[Path], limits: Limits, closed: Path | None) -> list[str]:
    """What the file holds, or nothing: it is none, it is empty, it is no text, it may not be
    read. Of one that is over the limit for files, its beginning and how much is missing."""
    for root in roots:
        if Path(path).is_relative_to(root):
            below = os.path.relpath(path, root)
            place = Workspace(root, limits, closed)
            with suppress(ToolError), opened(place, below) as descriptor:
                size = file_size(path, descriptor)
                raw = _read(descriptor, min(limits.file_bytes or size, size))
                text = raw.decode("utf-8-sig", "replace").strip()
                missing = NOT_READ.format(size - len(raw)) if len(raw) < size else ""
                return [text + missing] if text and "\0" not in text else []
    return []


def _read(descriptor: int, most: int) -> bytes:
    with open(descriptor, "rb", closefd=False) as file:
        return file.read(most)
