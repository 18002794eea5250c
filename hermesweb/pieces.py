"""A system message by its sections, and what a rebuilt one says differently."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff

from agentcore.breakdown import Category
from agentcore.documents import LARGE_CONTEXT_BYTES
from agentcore.messages import Role, read
from agentcore.prompt import Section, sections_of
from agentcore.redact import mask
from agentcore.sections import Part
from agentcore.wire import encoded
from hermesweb.models import StoredMessage

# A comparison of more lines would keep its reader waiting.
MOST_LINES = 4_000
AROUND = 2


@dataclass(frozen=True, slots=True)
class Piece:
    """`bytes` as charged: those of the escaped text. `is_large`: over what is warned of."""

    part: Part
    category: Category
    bytes: int
    is_large: bool


@dataclass(frozen=True, slots=True)
class Line:
    """`sign` is +, - or a space; of a jump to other lines it is @."""

    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """One section that says something else. Without `lines` it was too long to compare."""

    part: Part
    before: int
    after: int
    lines: list[Line]


def pieces(message: StoredMessage) -> list[Piece]:
    """None for a message that was not built of sections."""
    sections = _sections(message)
    return [_piece(section) for section in sections] if len(sections) > 1 else []


def changes(old: StoredMessage, new: StoredMessage) -> list[Change]:
    before = {section.part: section.text for section in _sections(old)}
    after = {section.part: section.text for section in _sections(new)}
    return [
        _change(part, before.get(part, ""), after.get(part, ""))
        for part in Part
        if before.get(part) != after.get(part)
    ]


def _sections(message: StoredMessage) -> tuple[Section, ...]:
    if message.role not in (Role.SYSTEM, Role.DEVELOPER):
        return ()
    return sections_of(read(message.text).text)


def _piece(section: Section) -> Piece:
    size = len(encoded(section.text)) - 2
    is_large = section.part is Part.PROJECT_CONTEXT and size > LARGE_CONTEXT_BYTES
    return Piece(section.part, section.category, size, is_large)


def _change(part: Part, old: str, new: str) -> Change:
    """Lines with their secrets masked, sizes as they were."""
    before, after = (mask(text)[0].strip().splitlines() for text in (old, new))
    short = max(len(before), len(after)) <= MOST_LINES
    lines = list(_lines(before, after)) if short else []
    return Change(part, len(encoded(old)) - 2, len(encoded(new)) - 2, lines)


def _lines(before: list[str], after: list[str]) -> Iterator[Line]:
    for line in list(unified_diff(before, after, n=AROUND, lineterm=""))[2:]:
        yield Line(line[:1], line if line.startswith("@") else line[1:])
