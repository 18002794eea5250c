"""Size divided among categories. The parts sum to the whole, to the byte (spec-context 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from agentcore.sections import Part, found
from agentcore.wire import encoded

SUMMARY_HEADER = "[Earlier summary; reference only]"
OMISSION_HEADER = "[Messages omitted; reference only]"
EXCLUSION_HEADER = "[Messages excluded; reference only]"
COLLAPSED_HEADER = "[Collapsed:"
# A block of what was recalled from the same session: it counts as memory.
RECALL_HEADER = "[Recalled from this session; reference only]"
HEADERS = (SUMMARY_HEADER, OMISSION_HEADER, EXCLUSION_HEADER, COLLAPSED_HEADER)

THINKING_KEYS = ("reasoning_content", "reasoning", "reasoning_details", "thinking")
THINKING_PARTS = frozenset({"thinking", "redacted_thinking", "reasoning"})
MEDIA_PARTS = frozenset(
    {"image_url", "image", "input_image", "document", "file", "input_audio", "audio"}
)
# A picture's cost does not follow from its length; providers charge about this for a screenshot.
MEDIA_TOKENS = 1_500
# Characters a token takes (spec-context 3): prose, code and logs, Chinese.
PROSE, CODE, WIDE = 4.0, 3.25, 1.25


class Category(StrEnum):
    """In the order in which they stand in a request."""

    SYSTEM_PROMPT = "system_prompt"
    PROJECT_DOCS = "project_docs"
    PROJECT_CONTEXT = "project_context"
    SKILLS = "skills"
    TOOL_SCHEMAS = "tool_schemas"
    MEMORY = "memory"
    SUMMARY = "summary"
    USER = "user"
    ASSISTANT = "assistant"
    THINKING = "thinking"
    TOOL_CALLS = "tool_calls"
    IMAGES = "images"
    TOOL_RESULTS = "tool_results"


# What a section of the system message is charged to; the others are part of the prompt itself.
CATEGORY_OF = {
    Part.PROJECT_DOCS: Category.PROJECT_DOCS,
    Part.PROJECT_CONTEXT: Category.PROJECT_CONTEXT,
    Part.SKILLS: Category.SKILLS,
    Part.MEMORY: Category.MEMORY,
}


class Mark(StrEnum):
    """What a builder or reader knows of a message that its wire form does not say."""

    SUMMARY = "summary"
    OBSERVATION = "observation"


class Breakdown(Mapping[Category, int]):
    """Bytes per category; a category without bytes is 0. Iterates over the others, in order."""

    __slots__ = ("_bytes",)

    def __init__(self, parts: Mapping[Category, int] | None = None) -> None:
        self._bytes = {key: size for key, size in parts.items() if size} if parts else {}

    @property
    def total(self) -> int:
        """Bytes of the messages: everything but the tool schemas."""
        return sum(self._bytes.values()) - self[Category.TOOL_SCHEMAS]

    @property
    def request(self) -> int:
        """Bytes of the request: messages and tool schemas."""
        return sum(self._bytes.values())

    def __getitem__(self, category: Category) -> int:
        return self._bytes.get(category, 0)

    def __iter__(self) -> Iterator[Category]:
        return (category for category in Category if category in self._bytes)

    def __len__(self) -> int:
        return len(self._bytes)

    def __contains__(self, category: object) -> bool:
        return category in self._bytes

    def __add__(self, other: Breakdown) -> Breakdown:
        parts = dict(self._bytes)
        for category, size in other._bytes.items():
            parts[category] = parts.get(category, 0) + size
        return Breakdown(parts)

    def __sub__(self, other: Breakdown) -> Breakdown:
        return self + Breakdown({category: -size for category, size in other._bytes.items()})

    def __repr__(self) -> str:
        return f"Breakdown({ {str(key): size for key, size in self.items()} })"


@dataclass(frozen=True, slots=True)
class Sizes:
    """What one message, or a list of them, weighs. `chars` are code points of the wire form,
    `tokens` an estimate by script."""

    bytes: int
    chars: int
    tokens: int
    breakdown: Breakdown

    def __add__(self, other: Sizes) -> Sizes:
        return Sizes(
            self.bytes + other.bytes,
            self.chars + other.chars,
            self.tokens + other.tokens,
            self.breakdown + other.breakdown,
        )

    def __sub__(self, other: Sizes) -> Sizes:
        return Sizes(
            self.bytes - other.bytes,
            self.chars - other.chars,
            self.tokens - other.tokens,
            self.breakdown - other.breakdown,
        )


NOTHING = Sizes(0, 0, 0, Breakdown())


def total(sizes: Iterable[Sizes]) -> Sizes:
    """The sum, in one pass."""
    size = chars = tokens = 0
    parts: dict[Category, int] = {}
    for one in sizes:
        size += one.bytes
        chars += one.chars
        tokens += one.tokens
        for category, part in one.breakdown._bytes.items():
            parts[category] = parts.get(category, 0) + part
    return Sizes(size, chars, tokens, Breakdown(parts))


def measure_message(
    value: Mapping[str, Any],
    size: int,
    chars: int,
    *,
    mark: Mark | None = None,
    sections: Sequence[tuple[Category, str]] = (),
) -> Sizes:
    """Sizes of one message by the charging rule of spec-context 2; `size` bytes and `chars` code
    points are those of its wire form.

    `sections`: texts that the builder of a system message joined into its content; each is
    charged the bytes its escaped text takes, the rest goes to the category of the role. Without
    them they are found by our markers.
    """
    role = _category_of_role(value, mark)
    content = value.get("content")
    if role is Category.SYSTEM_PROMPT and not sections and isinstance(content, str):
        sections = _marked(content)
    parts = {category: 0 for category, _ in sections}
    for category, text in sections:
        parts[category] += len(encoded(text)) - 2
    if role is Category.ASSISTANT:
        _charge_members(value, size, parts)
    media = _charge_parts(content, parts) if isinstance(content, list) else 0
    rest = size - sum(parts.values())
    parts[role] = parts.get(role, 0) + rest
    return Sizes(
        size, chars, _estimate(parts, size, chars) + media * MEDIA_TOKENS, Breakdown(parts)
    )


def measure_schemas(schemas: Sequence[Mapping[str, Any]]) -> Sizes:
    """Sizes of the tool schemas of a request, as one JSON array."""
    if not schemas:
        return NOTHING
    raw = encoded(list(schemas))
    size, chars = len(raw), len(raw.decode())
    parts = {Category.TOOL_SCHEMAS: size}
    return Sizes(size, chars, _estimate(parts, size, chars), Breakdown(parts))


def text_tokens(sizes: Sizes) -> int:
    """The estimate of all but the media of a list."""
    return _estimate(dict(sizes.breakdown), sizes.bytes, sizes.chars)


def part_category(part: Any) -> Category | None:
    """IMAGES or THINKING for a part of a content list that is one; None for text and the rest."""
    kind = part.get("type") if isinstance(part, Mapping) else None
    if not isinstance(kind, str):
        return None
    if kind in MEDIA_PARTS:
        return Category.IMAGES
    return Category.THINKING if kind in THINKING_PARTS else None


def escaped_share(texts: Iterable[str]) -> float:
    """By how much JSON escaping lengthens the texts, as a share of their bytes; 0.0 for none."""
    pairs = [(byte_length(text), len(encoded(text)) - 2) for text in texts]
    plain = sum(before for before, _ in pairs)
    return sum(after for _, after in pairs) / plain - 1 if plain else 0.0


def byte_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _category_of_role(value: Mapping[str, Any], mark: Mark | None) -> Category:
    role = value.get("role")
    if mark is Mark.SUMMARY:
        return Category.SUMMARY
    if role == "tool" or mark is Mark.OBSERVATION:
        return Category.TOOL_RESULTS
    if role in ("system", "developer"):
        content = value.get("content")
        if not isinstance(content, str):
            return Category.SYSTEM_PROMPT
        if content.startswith(RECALL_HEADER):
            return Category.MEMORY
        return Category.SUMMARY if content.startswith(HEADERS) else Category.SYSTEM_PROMPT
    return Category.USER if role == "user" else Category.ASSISTANT


def _marked(content: str) -> list[tuple[Category, str]]:
    parts = found(content)
    return [(CATEGORY_OF[part], text) for part, text in parts if part in CATEGORY_OF]


def _charge_members(value: Mapping[str, Any], size: int, parts: dict[Category, int]) -> None:
    """A member is charged its key, its value and one neighbouring comma: what the message is
    longer with it than without."""
    rest = dict(value)
    for key in ("tool_calls", *THINKING_KEYS):
        if key in rest:
            del rest[key]
            category = Category.TOOL_CALLS if key == "tool_calls" else Category.THINKING
            without = len(encoded(rest))
            parts[category] = parts.get(category, 0) + size - without
            size = without


def _charge_parts(content: list[Any], parts: dict[Category, int]) -> int:
    """Charge media and thinking parts, each with a comma while there are any. Counts the media."""
    commas, media = len(content) - 1, 0
    for part in content:
        if category := part_category(part):
            comma = 1 if commas > 0 else 0
            commas -= comma
            media += category is Category.IMAGES
            parts[category] = parts.get(category, 0) + len(encoded(part)) + comma
    return media


def _estimate(parts: Mapping[Category, int], size: int, chars: int) -> int:
    """Tokens by script. A wide character has two bytes more than chars, media are counted apart."""
    wide = (size - chars) // 2
    narrow = chars - wide - parts.get(Category.IMAGES, 0)
    code = sum(
        parts.get(key, 0)
        for key in (Category.TOOL_RESULTS, Category.TOOL_CALLS, Category.TOOL_SCHEMAS)
    )
    dense = narrow * code / size if size else 0.0
    return round(wide / WIDE + dense / CODE + (max(narrow, 0) - dense) / PROSE)
