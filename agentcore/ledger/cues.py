"""One scan of a text for the words and values that facts are known by."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from agentcore.facts import FactKind
from agentcore.ledger import chinese, english

# A sentence longer than this on either side of a cue is cut.
REACH = 300
FENCE = "```"
TODO = "[ ]"

BOUNDARY = re.compile(r"[\n.!?;。！？；](?:(?<=[\n。！？；])|(?=\s|$))")
# `500`, `$1,847.20`, `v1.2.3`, `INC-4471`, `eu-north-7`, `#42`: from the first digit on, and what
# may stand in front of it.
_VALUE = re.compile(r"[0-9][a-z0-9_.:/%+,\-]{0,60}")
_BEFORE_VALUE = frozenset("abcdefghijklmnopqrstuvwxyz_-")
_SIGNS = frozenset("$€£¥#")
BEFORE_CHARS = 20
# What an English word may stand behind.
_BREAK = r"[\s!-/:-@\[-^`{-~，。、；：（“]"


class Cue(NamedTuple):
    """`start` and `stop` are places in the text; without a `word` it is a value."""

    start: int
    stop: int
    word: str
    kind: FactKind | None


class Sentence(NamedTuple):
    """A sentence that holds a cue or a value. `low` is the whole text in lower case."""

    low: str
    start: int
    stop: int
    cues: list[Cue]
    values: list[tuple[int, int]]

    @property
    def is_question(self) -> bool:
        said = self.low[self.start : self.stop + 1].rstrip()
        return said.endswith(("?", "？", "吗", "吗。"))


def lowered(text: str) -> str:
    """In lower case, every character in its place."""
    low = text.lower()
    return low if len(low) == len(text) else text.replace("\u0130", "I").lower()


def sentences(low: str) -> Iterator[Sentence]:
    """Those with cues or values, in order; what stands in code fences is passed over."""
    sentence: Sentence | None = None
    stop = done = 0
    ends = [match.end() for match in BOUNDARY.finditer(low)]
    for cue in _marks(low):
        if cue.start < done:
            continue
        if cue.word == FENCE:
            closing = low.find(FENCE, cue.stop)
            done = len(low) if closing < 0 else closing + len(FENCE)
            continue
        done = cue.stop
        if sentence is None or cue.start >= stop:
            if sentence:
                yield sentence
            sentence = _sentence_at(low, cue.start, stop, ends)
            stop = sentence.stop
        if cue.word:
            sentence.cues.append(cue)
        else:
            sentence.values.append(cue[:2])
    if sentence:
        yield sentence


def pattern_of(words: Iterable[str]) -> str:
    """A tree of the words by their letters: tried from one place, the longest wins."""
    tails: dict[str, list[str]] = {}
    for word in words:
        tails.setdefault(word[:1], []).append(word[1:])
    may_end = bool(tails.pop("", None))
    parts = [
        (r"\s" if letter == " " else re.escape(letter)) + pattern_of(rest)
        for letter, rest in sorted(tails.items())
    ]
    if not parts:
        return ""
    inner = parts[0] if len(parts) == 1 and not may_end else f"(?:{'|'.join(parts)})"
    return f"{inner}?" if may_end else inner


def _marks(low: str) -> list[Cue]:
    """Cues and values in order; where two overlap the one that begins first, or is longer."""
    kinds = _KINDS
    marks = [
        Cue(match.start(), match.end() - 1, word := match[1], kinds[word])
        for match in _ENGLISH.finditer(f"\n{low}")
    ]
    if not low.isascii():
        marks += [
            Cue(match.start(), match.end(), match[0], kinds[match[0]])
            for match in _CHINESE.finditer(low)
        ]
    marks += _values(low)
    marks.sort()
    return marks


def _values(low: str) -> Iterator[Cue]:
    for match in _VALUE.finditer(low):
        start = match.start()
        least = max(0, start - BEFORE_CHARS)
        while start > least and low[start - 1] in _BEFORE_VALUE:
            start -= 1
        if start and low[start - 1] in _SIGNS:
            start -= 1
        yield Cue(start, match.end(), "", None)


def _sentence_at(low: str, at: int, least: int, ends: Sequence[int]) -> Sentence:
    """`ends`: behind each boundary; `least`: where the sentence before stopped."""
    behind = bisect_right(ends, at)
    start = max(least, at - REACH, ends[behind - 1] if behind else 0)
    stop = ends[behind] - 1 if behind < len(ends) else len(low)
    return Sentence(low, start, min(stop, at + REACH), [], [])


def _kinds() -> Mapping[str, FactKind | None]:
    """Each word with its kind; None for one that only changes what another says."""
    kinds: dict[str, FactKind | None] = {}
    for language in (english, chinese):
        for words, kind in (
            (language.REVISION, None),
            (language.NEW_GOAL, None),
            (language.STATE, FactKind.STATE),
            (language.DECISION, FactKind.DECISION),
            (language.PREFERENCE, FactKind.PREFERENCE),
            (language.CONSTRAINT, FactKind.CONSTRAINT),
        ):
            kinds.update(dict.fromkeys(words, kind))
    kinds.update(dict.fromkeys(english.WISHES_IN_FRONT, FactKind.PREFERENCE))
    kinds.update(dict.fromkeys(english.RULES_IN_FRONT, FactKind.CONSTRAINT))
    kinds.update(dict.fromkeys(english.NO_RULE))
    kinds[TODO] = FactKind.STATE
    kinds[FENCE] = None
    return kinds


_KINDS = _kinds()
_ENGLISH = re.compile(
    rf"{_BREAK}({pattern_of(word for word in _KINDS if word.isascii())})(?![a-z0-9_])"
)
_CHINESE = re.compile(pattern_of(word for word in _KINDS if not word.isascii()))
