"""Every bound of spec-context 4, and the clamp that all tool results pass."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

KIB, MIB = 1_024, 1_048_576
Keep = Literal["head", "tail", "head+tail"]

# The most that all notices of one clamp take, with their line ends.
NOTICE_BYTES = 120
# A first line up to here names the subject of a result; what is added to it stays within the
# first 200 characters of the text.
SUBJECT_CHARS = 120

_DIGITS = "([0-9]{1,15})"
_OMITTED = "… output truncated (%s bytes omitted; the session keeps the whole output; ask for less)"
_ANNOUNCED = "… output truncated (%s bytes omitted; the session keeps all)"
_GAP = "\n… %s bytes omitted here\n"


@dataclass(frozen=True, slots=True)
class Limits:
    """0 means no limit. Units are in the names; lines, hits, files, names, tasks,
    processes and entries are counts."""

    file_bytes: int = 4 * MIB
    picture_bytes: int = MIB
    read_lines: int = 2_000
    searched_file_bytes: int = MIB
    grep_hits: int = 200
    grep_line_chars: int = 240
    glob_files: int = 500
    listed_names: int = 500
    result_bytes: int = 20_000
    stream_bytes: int = 256 * KIB
    background_bytes: int = 512 * KIB
    background_tasks: int = 8
    command_seconds: int = 120
    command_processes: int = 256
    command_memory_bytes: int = 4_096 * MIB
    web_seconds: int = 30
    web_body_bytes: int = 2 * MIB
    web_text_chars: int = 20_000
    web_hits: int = 8
    web_hit_chars: int = 300
    recall_hits: int = 8
    recall_hit_chars: int = 300
    project_docs_bytes: int = 20_000
    skill_chars: int = 20_000
    memory_chars: int = 2_400
    memory_entries: int = 4
    memory_entry_chars: int = 400
    memory_stored: int = 500


def clamp(text: str, max_bytes: int, keep: Keep = "head") -> str:
    """At most `max_bytes` of the text's UTF-8, cut at character borders, plus notices of at most
    120 bytes that say how many bytes are missing. Clamping twice changes nothing.

    With `head+tail` the notice stands in the gap and is announced in the first line.
    """
    raw = text.encode("utf-8", "surrogatepass")
    if not max_bytes or len(raw) <= max_bytes or len(raw) - _notices(text) <= max_bytes:
        return text
    if keep == "head":
        head = _head(raw, max_bytes)
        return f"{head}\n{_OMITTED % (len(raw) - _length(head))}"
    if keep == "tail":
        tail = _tail(raw, max_bytes)
        return f"{_OMITTED % (len(raw) - _length(tail))}\n{tail}"
    head, tail = _head(raw, max_bytes // 2), _tail(raw, max_bytes - max_bytes // 2)
    omitted = len(raw) - _length(head) - _length(tail)
    return f"{_announced(head, omitted)}{_GAP % omitted}{tail}"


def head_of(text: str, max_bytes: int) -> str:
    """The longest front of the text that takes at most `max_bytes` of UTF-8."""
    raw = text.encode("utf-8", "surrogatepass")
    return text if len(raw) <= max_bytes else _head(raw, max_bytes)


def whole_characters(data: bytes) -> bytes:
    """Bytes of UTF-8 without the beginning of a character at their end."""
    for back in range(1, min(3, len(data)) + 1):
        first = data[-back]
        if first & 0xC0 == 0xC0:
            length = 4 if first >= 0xF0 else 3 if first >= 0xE0 else 2
            return data[:-back] if length > back else data
        if first & 0xC0 != 0x80:
            return data
    return data


def _notices(text: str) -> int:
    """Bytes that the notices of one earlier clamp take: at most NOTICE_BYTES, whatever the text.

    A text that itself holds notices may be read in several ways; the one that takes most counts,
    or what was kept of a notice at one end would hide ours at the other.
    """
    at_end = _AT_END.search(text, max(0, len(text) - NOTICE_BYTES))
    taken = [_length(found[0]) for found in (at_end, _AT_START.match(text)) if found]
    if found := _IN_FIRST_LINE.match(text):
        gap = _GAP % found[2]
        # The first line took a space or a line end besides.
        taken += [_length(found[1]) + 1 + _length(gap)] if gap in text else []
    return max(taken, default=0)


def _announced(head: str, omitted: int) -> str:
    """The head with the notice at the end of its first line, or before one that is too long."""
    notice = _ANNOUNCED % omitted
    subject, newline, rest = head.partition("\n")
    if newline and len(subject) <= SUBJECT_CHARS:
        return f"{subject} {notice}\n{rest}"
    return f"{notice}\n{head}"


def _head(raw: bytes, size: int) -> str:
    while size and raw[size] & 0xC0 == 0x80:
        size -= 1
    return raw[:size].decode("utf-8", "surrogatepass")


def _tail(raw: bytes, size: int) -> str:
    start = len(raw) - size
    while start < len(raw) and raw[start] & 0xC0 == 0x80:
        start += 1
    return raw[start:].decode("utf-8", "surrogatepass")


def _length(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _pattern(template: str) -> str:
    return re.escape(template).replace("%s", _DIGITS)


_AT_END = re.compile(rf"\n{_pattern(_OMITTED)}\Z")
_AT_START = re.compile(rf"{_pattern(_OMITTED)}\n")
_IN_FIRST_LINE = re.compile(rf"(?:[^\n]{{0,{SUBJECT_CHARS}}} )?({_pattern(_ANNOUNCED)})\n")
