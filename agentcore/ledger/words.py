"""What a sentence is about: its content words, without cues, numbers and units."""

from __future__ import annotations

import re
from operator import add

from agentcore.ledger import chinese, english
from agentcore.ledger.cues import pattern_of

_FAMILY = {
    word: family
    for families in (english.FAMILIES, chinese.FAMILIES)
    for family, words in families.items()
    for word in words.split()
}
# With nothing for what names nothing.
_NAMES = {**_FAMILY, **dict.fromkeys(english.STOP, "")}
_LATIN = re.compile(r"[a-z@][a-z_'\-]+")
_LATIN_UNITS = {unit for unit in english.UNITS if unit.isalpha() and unit not in _FAMILY}
_COUNTED = re.compile(
    rf"[0-9][0-9.,]*+\s?"
    rf"(?:{pattern_of(_LATIN_UNITS)}(?![a-z_'\-])|{pattern_of(chinese.UNITS)})"
)
_CHINESE = re.compile("[\u3400-\u9fff]+")
_CHINESE_FAMILY = re.compile(pattern_of(word for word in _FAMILY if not word.isascii()))
_CHINESE_STOP = re.compile(
    pattern_of(
        {
            *(*chinese.CONSTRAINT, *chinese.PREFERENCE, *chinese.DECISION, *chinese.REVISION),
            *(*chinese.STATE, *chinese.STOP_WORDS, *chinese.STOP),
        }
    )
)


def subject(text: str) -> str:
    """The content words of lower-case text, each once, sorted, joined by spaces."""
    return " ".join(sorted(content_words(text)))


def content_words(text: str) -> set[str]:
    """English words without their endings, Chinese as pairs of neighbours; what is chosen among
    (languages, indents) as the name of the choice."""
    text = _COUNTED.sub(" ", text)
    found = set() if text.isascii() else _chinese_words(text)
    for word in _LATIN.findall(text):
        name = _NAMES.get(word)
        found.add(_stem(word) if name is None else name)
    found.discard("")
    return found


def _stem(word: str) -> str:
    """Without the ending of a plural or a verb, roughly: alike for forms of one word."""
    if word[-1] in "s'-_":
        word = word.rstrip("'-_").removesuffix("'s").removesuffix("s")
    if len(word) > 5 and word.endswith(("ing", "ed")):
        return word[:-3] if word[-1] == "g" else word[:-2]
    return word.removesuffix("e")


def _chinese_words(text: str) -> set[str]:
    found = {_FAMILY[word] for word in _CHINESE_FAMILY.findall(text)}
    if found:
        text = _CHINESE_FAMILY.sub(" ", text)
    for run in _CHINESE.findall(_CHINESE_STOP.sub(" ", text)):
        found.update(map(add, run, run[1:]) if len(run) > 1 else run)
    return found
