"""What a rewritten message says differently, word by word; secrets masked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from agentcore.messages import read
from agentcore.redact import mask

# Words of one text times those of the other, what both begin and end with left out. A comparison
# of more would keep its reader waiting (tests/bench/diffs.py).
MOST_PAIRS = 400_000
# Longer texts are not even split into words.
MOST_CHARS = 300_000
# Words that both say between two changes; fewer are taken for chance, and part of the change.
LEAST_SAME = 2
# Characters of a part that are shown, from its beginning and its end.
SHOWN_CHARS = 2_000
_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORDS = re.compile(rf"\s+|[{_CJK}]|[^\W{_CJK}]+|[^\w\s]")


class Sign(StrEnum):
    SAME = "same"
    GONE = "gone"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class Part:
    """Words in a row; `left_out` characters of them, in the middle, are not shown."""

    sign: Sign
    text: str
    rest: str = ""
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Rewording:
    """`is_whole`: too many words to compare, so that all of one text stands against all of the
    other."""

    parts: tuple[Part, ...]
    is_whole: bool = False


def rewording(before: str, after: str, *, most: int = SHOWN_CHARS) -> Rewording:
    """Between two wire texts; of each part at most so many characters."""
    texts = [_text(wire) for wire in (before, after)]
    if sum(map(len, texts)) > MOST_CHARS:
        return Rewording(tuple(_parts(_whole(*([text] for text in texts)), most)), is_whole=True)
    old, new = map(_WORDS.findall, texts)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    old_middle, new_middle = old[head : len(old) - tail], new[head : len(new) - tail]
    is_whole = len(old_middle) * len(new_middle) > MOST_PAIRS
    middle = _whole if is_whole else _compared
    found = [
        (Sign.SAME, old[:head]),
        *middle(old_middle, new_middle),
        (Sign.SAME, old[len(old) - tail :]),
    ]
    return Rewording(tuple(_parts(found, most)), is_whole)


def _text(wire: str) -> str:
    """Content and calls, as they are read."""
    value = read(wire)
    calls = (f"{call.name} {call.arguments}" for call in value.calls)
    return "\n".join(mask(text)[0] for text in (value.text, *calls) if text)


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """Words that both begin with."""
    pairs = zip(old, new, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))


def _whole(old: list[str], new: list[str]) -> Iterator[tuple[Sign, list[str]]]:
    yield Sign.GONE, old
    yield Sign.NEW, new


def _compared(old: list[str], new: list[str]) -> Iterator[tuple[Sign, list[str]]]:
    gone_from = new_from = 0
    for a, b, size in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        same = old[a : a + size]
        if size and sum(not word.isspace() for word in same) < LEAST_SAME:
            continue
        yield Sign.GONE, old[gone_from:a]
        yield Sign.NEW, new[new_from:b]
        yield Sign.SAME, same
        gone_from, new_from = a + size, b + size


def _parts(found: Iterable[tuple[Sign, Sequence[str]]], most: int) -> Iterator[Part]:
    return (_part(sign, words, most) for sign, words in found if words)


def _part(sign: Sign, words: Sequence[str], most: int) -> Part:
    text = "".join(words)
    if len(text) <= most:
        return Part(sign, text)
    half = most // 2
    return Part(sign, text[:half], text[-half:], len(text) - most)
