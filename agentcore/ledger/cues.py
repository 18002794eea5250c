"""One scan of a text for the words and values that facts are known by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple, TypeAlias

from agentcore.facts import FactKind
from agentcore.ledger import chinese, english

# A sentence longer than this on either side of a cue is cut.
REACH = 300
# What is read at once: who has enough facts asks for no more.
PORTION_CHARS = 1_000
FENCE = "```"
TODO = "[ ]"

# No cue or value goes on behind it.
_PORTION_END = re.compile(r"[.!?;。！？；](?:(?<=[。！？；])|\s)")
BOUNDARY = re.compile(r"[\n.!?;。！？；](?:(?<=[\n。！？；])|(?=\s|$))")
# `500`, `$1,847.20`, `v1.2.3`, `INC-4471`, `eu-north-7`, `#42`: from the first digit on, and what
# may stand in front of it.
_VALUE = re.compile(r"[0-9][a-z0-9_.:/%+,\-]{0,60}")
_BEFORE_VALUE = frozenset("abcdefghijklmnopqrstuvwxyz_-")
_SIGNS = frozenset("$€£¥#")
_IN_FRONT = _BEFORE_VALUE | _SIGNS
BEFORE_CHARS = 20
# What an English word may stand behind; white space spelled out, since `\s` is searched slower.
_SPACES = "\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_BREAK = rf"[{_SPACES}!-/:-@\[-^`{{-~，。、；：（“]"


# Where it starts and stops in the text, and its word: "" for a value.
Mark: TypeAlias = tuple[int, int, str]


class Sentence(NamedTuple):
    """A sentence that holds a cue or a value. `low` is the whole text in lower case, `words` those
    of the cues."""

    low: str
    start: int
    stop: int
    cues: list[Mark]
    words: set[str]
    values: list[tuple[int, int]]

    @property
    def is_question(self) -> bool:
        said = self.low[self.start : self.stop + 1].rstrip()
        return said.endswith(("?", "？", "吗", "吗。"))

    def part(self, start: int, stop: int) -> Sentence:
        cues = [cue for cue in self.cues if start <= cue[0] < stop]
        values = [value for value in self.values if start <= value[0] < stop]
        return Sentence(self.low, start, stop, cues, {word for _, _, word in cues}, values)


def lowered(text: str) -> str:
    """In lower case, every character in its place."""
    low = text.lower()
    return low if len(low) == len(text) else text.replace("\u0130", "I").lower()


def sentences(low: str) -> Iterator[Sentence]:
    """Those with cues or values, in order; what stands in code fences is passed over."""
    start = stop = done = behind = 0
    cues: list[Mark] = []
    words: set[str] = set()
    values: list[tuple[int, int]] = []
    ends = chain((match.end() for match in BOUNDARY.finditer(low)), (len(low) + 1,))
    ahead = next(ends)
    for at, to, word in _marks(low):
        if at < done:
            continue
        if word == FENCE:
            closing = low.find(FENCE, to)
            done = len(low) if closing < 0 else closing + len(FENCE)
            continue
        done = to
        if at >= stop:
            if cues or values:
                yield Sentence(low, start, stop, cues, words, values)
                cues, words, values = [], set(), []
            while ahead <= at:
                behind, ahead = ahead, next(ends)
            start, stop = max(stop, at - REACH, behind), min(ahead - 1, at + REACH)
        if word:
            while ahead <= to:
                # A line ends inside the cue: `do` and, on the next one, `not`.
                ahead = next(ends)
                stop = min(ahead - 1, to + REACH)
            cues.append((at, to, word))
            words.add(word)
        else:
            values.append((at, to))
    if cues or values:
        yield Sentence(low, start, stop, cues, words, values)


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


def _marks(low: str) -> Iterator[Mark]:
    """Cues and values, in the order in which they start."""
    behind_break = f"\n{low}"
    is_ascii = low.isascii()
    stop = 0
    while stop < len(low):
        start, stop = stop, _portion_end(low, stop + PORTION_CHARS)
        found = _ENGLISH.finditer(behind_break, start, stop + 1)
        marks = [(match.start(), match.end() - 1, _known(match[1])) for match in found]
        if not is_ascii:
            marks += [(*match.span(), match[0]) for match in _CHINESE.finditer(low, start, stop)]
        values = _VALUE.finditer(low, start, stop)
        marks += [(_front(low, match.start()), match.end(), "") for match in values]
        marks.sort()
        yield from marks


def _known(word: str) -> str:
    """As it is listed: any white space may stand between two words of a cue."""
    return word if word in KINDS else " ".join(word.split())


def _portion_end(low: str, least: int) -> int:
    end = _PORTION_END.search(low, least) if least < len(low) else None
    return end.end() if end else len(low)


def _front(low: str, start: int) -> int:
    """Where a value begins whose first digit stands at `start`."""
    if not start or low[start - 1] not in _IN_FRONT:
        return start
    least = max(0, start - BEFORE_CHARS)
    while start > least and low[start - 1] in _BEFORE_VALUE:
        start -= 1
    return start - 1 if start and low[start - 1] in _SIGNS else start


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


KINDS = _kinds()
_ENGLISH = re.compile(
    rf"{_BREAK}({pattern_of(word for word in KINDS if word.isascii())})(?![a-z0-9_])"
)
_CHINESE = re.compile(pattern_of(word for word in KINDS if not word.isascii()))
