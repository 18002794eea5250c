"""Every bound of spec-context 4, and the clamp that all tool results pass."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

KIB, MIB = 1_024, 1_048_576
Keep = Literal["head", "tail", "head+tail"]

NOTICE_BYTES = 120
_NOTICE = re.compile(r"… output truncated \((\d+) bytes omitted\)")


@dataclass(frozen=True, slots=True)
class Limits:
    """0 means no limit. Units are in the names; lines, hits and files are counts."""

    file_bytes: int = 4 * MIB
    read_lines: int = 2_000
    searched_file_bytes: int = MIB
    grep_hits: int = 200
    grep_line_chars: int = 240
    glob_files: int = 500
    result_bytes: int = 20_000
    stream_bytes: int = 256 * KIB
    background_bytes: int = 512 * KIB
    command_seconds: int = 120
    web_body_bytes: int = 2 * MIB
    web_text_chars: int = 20_000
    web_hits: int = 8
    web_hit_chars: int = 300
    project_docs_bytes: int = 20_000
    skill_chars: int = 20_000
    memory_chars: int = 2_400
    memory_entries: int = 4
    memory_entry_chars: int = 400
    memory_stored: int = 500


def clamp(text: str, max_bytes: int, keep: Keep = "head") -> str:
    """At most `max_bytes` of the text's UTF-8, cut at character borders, plus a notice of at most
    120 bytes that says how many bytes are missing. Clamping twice changes nothing."""
    raw = text.encode("utf-8", "surrogatepass")
    if not max_bytes or len(raw) <= max_bytes or _is_clamped(text, len(raw), max_bytes):
        return text
    if keep == "head":
        head = _head(raw, max_bytes)
        return f"{head}\n{_notice(len(raw) - _length(head))}"
    if keep == "tail":
        tail = _tail(raw, max_bytes)
        return f"{_notice(len(raw) - _length(tail))}\n{tail}"
    head, tail = _head(raw, max_bytes // 2), _tail(raw, max_bytes - max_bytes // 2)
    gap = _notice(len(raw) - _length(head) - _length(tail))
    return f"{gap}\n{head}\n{gap}\n{tail}"


def _is_clamped(text: str, size: int, max_bytes: int) -> bool:
    """Whether a notice of ours stands at the cut while the rest is within the limit."""
    first, last = text.split("\n", 1)[0], text.rsplit("\n", 1)[-1]
    notices = [line for line in (first, last) if _NOTICE.fullmatch(line)]
    if not notices:
        return False
    copies = text.count(notices[0]) if notices[0] == first else 1
    return size - copies * (_length(notices[0]) + 1) <= max_bytes


def _notice(omitted: int) -> str:
    return f"… output truncated ({omitted} bytes omitted)"


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
