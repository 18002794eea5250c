"""A message's text as it is read, and as it was sent; never more at once than a page can hold.
Secrets are masked unless one asks for the text raw, and may.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from agentcore.breakdown import escaped_share
from agentcore.media import Medium, media_in
from agentcore.messages import content_text, read
from agentcore.redact import mask
from hermesweb.models import StoredMessage

PAGE_CHARS = 60_000


class Form(StrEnum):
    """`text`: the content and the calls; `wire`: the JSON as sent; `captured`: a tool's whole
    output, where the message keeps less."""

    TEXT = "text"
    WIRE = "wire"
    CAPTURED = "captured"

    @classmethod
    def of(cls, text: str) -> Form:
        return cls(text) if text in list(cls) else cls.TEXT


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Content:
    """`chars` of the whole text, of which `text` shows those from `offset`; `masked` secrets are
    not shown, and `media` are named only."""

    form: Form
    text: str
    offset: int
    chars: int
    calls: tuple[Call, ...] = ()
    media: tuple[Medium, ...] = ()
    masked: int = 0
    raw: bool = False

    @property
    def end(self) -> int:
        return self.offset + len(self.text)

    @property
    def next_offset(self) -> int | None:
        return self.end if self.end < self.chars else None

    @property
    def first(self) -> int:
        return self.offset + 1


def content(message: StoredMessage, form: Form, offset: int, *, raw: bool = False) -> Content:
    """`offset` counts in the text as it is shown."""
    if form is Form.CAPTURED and not message.captured:
        form = Form.TEXT
    text, calls, media = _texts(message, form)
    count = 0
    if not raw:
        text, count = mask(text)
        found = [(call.name, *mask(call.arguments)) for call in calls]
        calls = [Call(name, arguments) for name, arguments, _ in found]
        count += sum(masked for *_, masked in found)
    offset = min(offset, len(text))
    return Content(
        form,
        text[offset : offset + PAGE_CHARS],
        offset,
        len(text),
        tuple(Call(call.name, call.arguments[:PAGE_CHARS]) for call in calls),
        media=media,
        masked=count,
        raw=raw,
    )


def escaping(message: StoredMessage) -> float:
    """By how much JSON escaping lengthened what the message says, as a share of it."""
    value = read(message.text)
    return escaped_share([value.text, *(call.arguments for call in value.calls)])


def _texts(message: StoredMessage, form: Form) -> tuple[str, list[Call], tuple[Medium, ...]]:
    if form is Form.CAPTURED and message.captured:
        return message.captured.text, [], ()
    if form is Form.WIRE:
        return message.text, [], ()
    said = read(message.text)
    value = said.value()
    calls = [Call(call.name, call.arguments) for call in said.calls]
    return content_text(value.get("content")), calls, media_in(value.get("content"))
