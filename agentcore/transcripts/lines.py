"""JSON values out of a file of lines, one bad line costing one line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from agentcore.limits import MIB
from agentcore.said import Said
from agentcore.transcripts.base import Problem, ProblemKind

MAX_LINE_BYTES = 64 * MIB
BOM = b"\xef\xbb\xbf"

_DECODER = json.JSONDecoder()
# Where a record may begin behind the torn rest of another one, and what a whole record has.
_START = re.compile(r'\{"(?:type|uuid|parentUuid|sessionId|messages)"')
_MARKS = frozenset({"message", "messages", "uuid", "sessionId"})
_MOST_STARTS = 1_000


def read_values(stream: BinaryIO, problems: list[Problem]) -> Iterator[tuple[int, Any]]:
    """Each JSON value with the number of its line; what cannot be read is told in `problems`.

    Two values glued on one line are both given, also when the first one is torn.
    """
    for number, raw in _lines(stream):
        text, reason = _decode(raw)
        values: list[Any] = []
        if not reason:
            values, reason = _values(text)
        if reason:
            torn = not raw.endswith(b"\n") and len(raw) <= MAX_LINE_BYTES
            kind = ProblemKind.TORN_TAIL if torn else ProblemKind.BAD_LINE
            problems.append(Problem(number, kind, reason))
        if len(values) > 1:
            detail = Said("{count} records on one line, all read", count=len(values))
            problems.append(Problem(number, ProblemKind.GLUED_RECORDS, detail))
        for value in values:
            yield number, value


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers. No more than MAX_LINE_BYTES of one is ever held."""
    number = 0
    while raw := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        yield number, raw.removeprefix(BOM) if number == 1 else raw
        while len(raw) > MAX_LINE_BYTES and not raw.endswith(b"\n"):
            raw = stream.readline(MAX_LINE_BYTES + 1)


def _decode(raw: bytes) -> tuple[str, str]:
    if len(raw) > MAX_LINE_BYTES:
        return "", Said("longer than {most} bytes", most=MAX_LINE_BYTES)
    if raw.strip(b"\0\r\n") == b"" and b"\0" in raw:
        return "", Said("{count} NUL bytes", count=raw.count(0))
    try:
        return raw.decode().strip(" \t\r\n"), ""
    except UnicodeDecodeError as error:
        return "", Said("not UTF-8 at byte {place}", place=error.start)


def _values(text: str) -> tuple[list[Any], str]:
    """What the line holds, and why the rest of it could not be read."""
    values: list[Any] = []
    at = 0
    while at < len(text):
        try:
            value, at = _DECODER.raw_decode(text, at)
        except RecursionError:
            return values, Said("nested too deep")
        except ValueError as error:
            last = _last_record(text, at)
            return [*values, *last], _reason(error, len(text))
        values.append(value)
        while at < len(text) and text[at] in " \t\r":
            at += 1
    return values, ""


def _last_record(text: str, at: int) -> list[Any]:
    """The whole record that ends the line behind a torn one, or nothing."""
    starts = (found.start() for found in _START.finditer(text, at + 1))
    for _, start in zip(range(_MOST_STARTS), starts, strict=False):
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if end == len(text) and _MARKS.intersection(value):
            return [value]
    return []


def _reason(error: ValueError, length: int) -> str:
    if isinstance(error, json.JSONDecodeError):
        return Said(
            "not JSON at character {place} of {length}: {error}",
            place=error.pos,
            length=length,
            error=error.msg,
        )
    return Said("not readable: {error}", error=str(error)[:120])
