"""Where the sections of a system message begin and end, as its text says it."""

from __future__ import annotations

import re
from enum import StrEnum


class Part(StrEnum):
    """In the order in which they stand; the memory block is last, so that the long front stays
    the same from run to run."""

    BUILT_IN = "built_in"
    MODE = "mode"
    PERSONA = "persona"
    PROJECT_DOCS = "project_docs"
    PROJECT_CONTEXT = "project_context"
    SKILLS = "skills"
    MEMORY = "memory"


MODE_LINE = "Mode: "
HEADINGS = {
    Part.PERSONA: "=== Persona ===",
    Part.PROJECT_DOCS: "=== Project guidance (AGENTS.md) ===",
    Part.PROJECT_CONTEXT: "=== Project context (NANOHERMES.md) ===",
    Part.SKILLS: "=== Skills ===",
    Part.MEMORY: "=== Memory ===",
}
MEMORY_END = "=== End of memory ==="

_MARKERS = re.compile("|".join(map(re.escape, [*HEADINGS.values(), MEMORY_END])), re.IGNORECASE)
# Line breaks, control characters, and those that are not seen or turn the text around.
_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def opening(part: Part) -> str:
    """What stands in front of a section's own text; nothing before the first."""
    if part is Part.BUILT_IN:
        return ""
    return f"\n\n{MODE_LINE}" if part is Part.MODE else f"\n\n{HEADINGS[part]}\n"


def found(content: str) -> list[tuple[Part, str]]:
    """The sections whose texts joined are the content. One section, BUILT_IN, where it has none
    of our marks."""
    borders = [(0, Part.BUILT_IN)]
    for part in list(Part)[1:]:
        at = content.find(opening(part), borders[-1][0])
        if at >= 0:
            borders.append((at, part))
    ends = [*(at for at, _ in borders[1:]), len(content)]
    return [(part, content[at:end]) for (at, part), end in zip(borders, ends, strict=True)]


def without_memory(content: str) -> str:
    """The content up to its memory block: the rules."""
    return "".join(text for part, text in found(content) if part is not Part.MEMORY)


def inert(text: str) -> str:
    """The text with our markers broken, so that it cannot open or close a section."""
    return _MARKERS.sub(lambda marker: f"{marker[0][0]}\\{marker[0][1:]}", text)


def one_line(text: str) -> str:
    """The text on one line, inert; what would break the line, or is not seen, is written out."""
    return inert(_UNSEEN.sub(_written_out, text))


def _written_out(character: re.Match[str]) -> str:
    return "\\n" if character[0] == "\n" else f"\\u{ord(character[0]):04x}"
