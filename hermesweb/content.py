"""A message's text as it is read, and as it was sent; never more at once than a page can hold."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from agentcore.messages import read
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
    """`chars` of the whole text, of which `text` shows those from `offset`."""

    form: Form
    text: str
    offset: int
    chars: int
    calls: tuple[Call, ...] = ()

    @property
    def end(self) -> int:
        return self.offset + len(self.text)

    @property
    def next_offset(self) -> int | None:
        return self.end if self.end < self.chars else None

    @property
    def first(self) -> int:
        return self.offset + 1


def content(message: StoredMessage, form: Form, offset: int) -> Content:
    if form is Form.CAPTURED and message.captured:
        return _part(form, message.captured.text, offset)
    if form is Form.WIRE:
        return _part(form, message.text, offset)
    value = read(message.text)
    calls = tuple(Call(call.name, call.arguments[:PAGE_CHARS]) for call in value.calls)
    return _part(Form.TEXT, value.text, offset, calls)


def _part(form: Form, text: str, offset: int, calls: tuple[Call, ...] = ()) -> Content:
    offset = min(offset, len(text))
    return Content(form, text[offset : offset + PAGE_CHARS], offset, len(text), calls)
