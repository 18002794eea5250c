"""What a sentence is about: its content words, without cues, numbers and units."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agentcore.ledger import chinese, english

# A word, with the number it may count; or a run of Chinese.
_WORD = re.compile(r"([0-9][0-9.,]*\s?)?([a-z@][a-z_'\-]*|[\u3400-\u9fff]+)")
_CHINESE_CUES = re.compile(
    "|".join(
        sorted(
            {
                *(*chinese.CONSTRAINT, *chinese.PREFERENCE, *chinese.DECISION),
                *(*chinese.REVISION, *chinese.STATE, *chinese.STOP_WORDS),
            },
            key=len,
            reverse=True,
        )
    )
    + f"|[{''.join(sorted(chinese.STOP))}]"
)
_CHINESE_UNITS = re.compile("|".join(sorted(chinese.UNITS, key=len, reverse=True)))
_UNITS = frozenset(english.UNITS)
_FAMILY = {
    word: family
    for families in (english.FAMILIES, chinese.FAMILIES)
    for family, words in families.items()
    for word in words.split()
}
_CHINESE_FAMILY = re.compile("|".join(word for word in _FAMILY if not word.isascii()))


def subject(text: str) -> str:
    """The content words of lower-case text, each once, sorted, joined by spaces."""
    return " ".join(sorted(content_words(text)))


def content_words(text: str) -> set[str]:
    """English words without their endings, Chinese as pairs of neighbours; what is chosen among
    (languages, indents) as the name of the choice."""
    found: set[str] = set()
    for count, word in _WORD.findall(text):
        if word in english.STOP:
            continue
        if word in _FAMILY:
            found.add(_FAMILY[word])
        elif word > "\u3000":
            found.update(_pairs(word, counted=bool(count)))
        elif len(word) > 1 and not (count and word in _UNITS):
            found.add(_stem(word))
    found.discard("")
    return found


def _stem(word: str) -> str:
    """Without the ending of a plural or a verb, roughly: alike for forms of one word."""
    word = word.strip("'-_").removesuffix("'s").removesuffix("s")
    if word.endswith(("ing", "ed")) and len(word) > 5:
        return word[:-3] if word[-1] == "g" else word[:-2]
    return word.removesuffix("e")


def _pairs(run: str, *, counted: bool) -> Iterable[str]:
    if counted and (unit := _CHINESE_UNITS.match(run)):
        run = run[unit.end() :]
    for match in _CHINESE_FAMILY.finditer(run):
        yield _FAMILY[match[0]]
    for piece in _CHINESE_CUES.sub(" ", _CHINESE_FAMILY.sub(" ", run)).split():
        if len(piece) == 1:
            yield piece
        for at in range(len(piece) - 1):
            yield piece[at : at + 2]
