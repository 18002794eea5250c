"""One scan of a text for the words and values that facts are known by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from agentcore.facts import FactKind
from agentcore.ledger import chinese, english

# A sentence longer than this on either side of a cue is cut.
REACH = 300
FENCE = "```"
TODO = "[ ]"

# `500`, `$1,847.20`, `v1.2.3`, `INC-4471`, `eu-north-7`, `#42`; every repeat is bounded.
VALUE = r"[$€£¥#]?[a-z_\-]{0,20}+[0-9][a-z0-9_.:/%+,\-]{0,60}"
BOUNDARY = re.compile(r"\n|[.!?;](?=\s|$)|[。！？；]")


@dataclass(slots=True)
class Cue:
    """`start` and `stop` are places in the text."""

    start: int
    stop: int
    word: str
    kind: FactKind | None


@dataclass(slots=True)
class Sentence:
    """A sentence that holds a cue or a value. `low` is the whole text in lower case."""

    low: str
    start: int
    stop: int
    cues: list[Cue] = field(default_factory=list)
    values: list[tuple[int, int]] = field(default_factory=list)

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
    done = 0
    for match in _SCAN.finditer(f"\n{low}"):
        at = match.end() - 1
        if at < done:
            continue
        word, value = match.groups()
        if word == FENCE:
            closing = low.find(FENCE, at + len(FENCE))
            done = len(low) if closing < 0 else closing + len(FENCE)
            continue
        done = at + len(word or value)
        if sentence is None or at >= sentence.stop:
            if sentence:
                yield sentence
            sentence = _sentence_at(low, at, sentence.stop if sentence else 0)
        if word:
            sentence.cues.append(Cue(at, done, word, _KINDS[word]))
        else:
            sentence.values.append((at, done))
    if sentence:
        yield sentence


def _sentence_at(low: str, at: int, least: int) -> Sentence:
    start = max(least, at - REACH)
    for boundary in BOUNDARY.finditer(low, start, at):
        start = boundary.end()
    ending = BOUNDARY.search(low, at, at + REACH)
    return Sentence(low, start, ending.start() if ending else min(len(low), at + REACH))


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
    kinds.update(dict.fromkeys(english.IMPERATIVE, FactKind.PREFERENCE))
    kinds.update(dict.fromkeys(english.NO_RULE))
    kinds[TODO] = FactKind.STATE
    kinds[FENCE] = None
    return kinds


def _pattern(words: Iterable[str]) -> str:
    """A tree of the words by their letters: tried from one place, the longest wins."""
    tails: dict[str, list[str]] = {}
    for word in words:
        tails.setdefault(word[:1], []).append(word[1:])
    may_end = bool(tails.pop("", None))
    parts = [
        (r"\s" if letter == " " else re.escape(letter)) + _pattern(rest)
        for letter, rest in sorted(tails.items())
    ]
    if not parts:
        return ""
    inner = parts[0] if len(parts) == 1 and not may_end else f"(?:{'|'.join(parts)})"
    return f"{inner}?" if may_end else inner


def _scan() -> re.Pattern[str]:
    """A character that ends a word, then a cue or a value that begins behind it."""
    words = [word for word in _KINDS if word.isascii()]
    others = [word for word in _KINDS if not word.isascii()]
    firsts = {word[0] for word in _KINDS if not "a" <= word[0] <= "z"}
    gate = "".join(re.escape(first) for first in sorted(firsts))
    return re.compile(
        rf"[^a-z0-9_](?=[a-z0-9$€£¥#{gate}])"
        rf"(?:(?=({_pattern(words)}(?![a-z0-9_])|{_pattern(others)}))|(?=({VALUE})))"
    )


_KINDS = _kinds()
_SCAN = _scan()
