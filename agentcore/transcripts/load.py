"""Which format a file has, and its recordings."""

from __future__ import annotations

import io
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from agentcore.errors import TranscriptError
from agentcore.said import Said
from agentcore.transcripts import claude_code, exported, openai_chat
from agentcore.transcripts.base import Format, Recording
from agentcore.transcripts.lines import read_values

Source: TypeAlias = Path | str | bytes

_VALUES_LOOKED_AT = 200
_NAMES_SHOWN = 8


def detect(source: Source) -> Format:
    """The format of a file or of its bytes. Raises TranscriptError for one that no reader knows."""
    with _open(source) as stream:
        return _detect(stream)[0]


def load_transcript(source: Source, format: Format | str | None = None) -> Recording:
    """The recording in a file (a path) or in its bytes; the first one where there are several.

    Raises TranscriptError with the reason when there is none.
    """
    return load_all(source, format)[0]


def load_all(source: Source, format: Format | str | None = None) -> tuple[Recording, ...]:
    """Every conversation of a file, at least one. Raises TranscriptError when there is none."""
    wanted = _format(format)
    with _open(source) as stream:
        found, is_lines = _detect(stream, wanted)
        stream.seek(0)
        if found is Format.CLAUDE_CODE:
            recordings = claude_code.load(stream)
        elif found is Format.HERMESWEB:
            recordings = exported.load(stream)
        else:
            recordings = openai_chat.load_lines(stream) if is_lines else openai_chat.load(stream)
    if not any(recording.messages or recording.skipped for recording in recordings):
        raise TranscriptError(Said("nothing in it is of the format {format}", format=str(found)))
    return recordings


def _format(name: Format | str | None) -> Format | None:
    try:
        return None if name is None else Format(name)
    except ValueError:
        known = ", ".join(Format)
        said = Said("unknown format {name}: use one of {known}", name=repr(name), known=known)
        raise TranscriptError(said) from None


def _open(source: Source) -> BinaryIO:
    """A stream that can be read twice."""
    if isinstance(source, bytes):
        return io.BytesIO(source)
    try:
        stream = Path(source).open("rb")  # noqa: SIM115 - the caller closes it
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TranscriptError(Said("cannot be read: {reason}", reason=reason)) from error
    if stream.seekable():
        return stream
    with stream:
        return io.BytesIO(stream.read(openai_chat.MAX_DOCUMENT_BYTES + 1))


def _detect(stream: BinaryIO, wanted: Format | None = None) -> tuple[Format, bool]:
    """The format, and whether the file is read line by line."""
    first, count = None, 0
    for line, value in islice(read_values(stream, []), _VALUES_LOOKED_AT):
        if wanted in (None, Format.HERMESWEB) and exported.is_record(value):
            return Format.HERMESWEB, True
        if wanted in (None, Format.CLAUDE_CODE) and claude_code.is_record(value):
            return Format.CLAUDE_CODE, True
        if wanted in (None, Format.OPENAI_CHAT) and openai_chat.is_document(value):
            return Format.OPENAI_CHAT, not openai_chat.is_list_of_runs(value)
        first, count = value if line == 1 else first, count + 1
    if wanted in (Format.CLAUDE_CODE, Format.HERMESWEB):
        return wanted, True
    stream.seek(0)
    if count > 1 and isinstance(first, dict):
        raise TranscriptError(Said("no reader knows these lines: {shape}", shape=_shape(first)))
    document = openai_chat.read_document(stream)
    if wanted or openai_chat.is_document(document):
        return Format.OPENAI_CHAT, False
    raise TranscriptError(Said("no reader knows this JSON: {shape}", shape=_shape(document)))


def _shape(value: Any) -> Said:
    if isinstance(value, list) and value and not isinstance(value[0], list):
        return Said("a list that begins with {shape}", shape=_shape(value[0]))
    if not isinstance(value, dict):
        return Said("{kind} at the top", kind=type(value).__name__)
    names = ", ".join(repr(name)[:40] for name in list(value)[:_NAMES_SHOWN])
    if not names:
        return Said("an empty object")
    return Said("an object with the members {names}", names=names)
