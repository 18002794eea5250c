"""Skills of a workspace: a line each in the system message, the body when it is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import yaml

from agentcore.errors import ToolError
from agentcore.sections import one_line
from agentcore.tools.base import Workspace
from agentcore.tools.paths import file_size, opened

FOLDERS = (".hermes/skills",)
FILE_NAME = "SKILL.md"
MOST_SKILLS = 100
HEAD_BYTES = 8_192
NAME_CHARS, DESCRIPTION_CHARS = 64, 300
ASK = "Bodies are read with the tool skill, by name:"
TRUNCATED = "\n… skill body truncated ({} more characters)"
FENCE = "---"
# The C loader is there in every wheel; a source build may lack it.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Skill:
    """`path` is relative to the workspace."""

    name: str
    description: str
    path: str


@dataclass(frozen=True, slots=True)
class Skills:
    """Those found when the folders were looked at. `left_out` counts those beyond the first 100."""

    workspace: Workspace
    found: tuple[Skill, ...] = ()
    left_out: int = 0

    @property
    def listing(self) -> str:
        """One line a skill; empty without skills."""
        if not self.found:
            return ""
        lines = [f"- {skill.name}: {skill.description}".rstrip(": ") for skill in self.found]
        more = [f"… {self.left_out} more skills not listed"] if self.left_out else []
        return "\n".join([ASK, *lines, *more])

    def body(self, name: str) -> str:
        """The text under the front matter, at most `skill_chars` of it. Raises ToolError for a
        name that is not listed, and for a file that is gone or too large."""
        skill = next((one for one in self.found if one.name == name), None)
        if skill is None:
            names = ", ".join(one.name for one in self.found) or "none"
            raise ToolError(f"there is no skill {name!r:.80}; the skills are {names}")
        limits = self.workspace.limits
        text = _split(_read(self.workspace, skill.path, limits.file_bytes))[1].strip()
        more = len(text) - limits.skill_chars
        if not limits.skill_chars or more <= 0:
            return text
        return text[: limits.skill_chars] + TRUNCATED.format(more)


def skills_in(workspace: Workspace, folders: Sequence[str] = FOLDERS) -> Skills:
    """The skills of `FOLDER/NAME/SKILL.md`, by name; the first of two that share one. What cannot
    be read, or lies behind a link out of the workspace, is left out."""
    found: dict[str, Skill] = {}
    paths = [path for folder in folders for path in _paths(workspace, folder)]
    for path in paths[:MOST_SKILLS]:
        with suppress(ToolError):
            skill = _skill(path, _read(workspace, path, HEAD_BYTES, whole=False))
            found.setdefault(skill.name, skill)
    listed = tuple(sorted(found.values(), key=lambda skill: skill.name))
    return Skills(workspace, listed, max(0, len(paths) - MOST_SKILLS))


def _paths(workspace: Workspace, folder: str) -> Iterator[str]:
    with suppress(ToolError), opened(workspace, folder) as descriptor:
        try:
            names = sorted(os.listdir(descriptor))
        except OSError:
            return
        yield from (f"{folder}/{name}/{FILE_NAME}" for name in names if not name.startswith("."))


def _read(workspace: Workspace, path: str, most: int, *, whole: bool = True) -> str:
    """The file's text, or its first `most` bytes; `whole` refuses a longer one."""
    with opened(workspace, path) as descriptor:
        size = file_size(path, descriptor)
        if whole and 0 < most < size:
            raise ToolError(f"{path} has {size} bytes, the limit is {most}: make it shorter")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(min(most or size, size)).decode("utf-8-sig", "replace")


@lru_cache(maxsize=1_024)
def _skill(path: str, text: str) -> Skill:
    """Named by its front matter, else by its folder. Kept, since reading YAML takes longer than
    reading the file."""
    matter = _matter(_split(text)[0])
    name = _line(matter.get("name"), NAME_CHARS) or _line(path.split("/")[-2], NAME_CHARS)
    return Skill(name, _line(matter.get("description"), DESCRIPTION_CHARS), path)


def _split(text: str) -> tuple[str, str]:
    """The front matter between two fences at the very beginning, and the body."""
    first, _, rest = text.partition("\n")
    if first.rstrip() != FENCE:
        return "", text
    matter, fence, body = f"\n{rest}".partition(f"\n{FENCE}")
    return (matter, body.partition("\n")[2]) if fence else ("", text)


def _matter(text: str) -> dict[str, Any]:
    try:
        matter = yaml.load(text, Loader=_LOADER)
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
    return matter if isinstance(matter, dict) else {}


def _line(value: object, chars: int) -> str:
    return one_line(" ".join(value.split()))[:chars] if isinstance(value, str) else ""
