"""Lines that go on: prose cut at a width, as in mails and documents, read as it was written.

Lists and logs, too, are lines without a full stop, and two rules glued into one are worse than one
that is cut. So a line goes on only where its last word cannot end a sentence, or where all says
so: it begins with a capital letter, an item's mark, or inside a sentence (Chinese: it is long); the
first word of the next line is in lower case, had no room in front of it and begins no rule; and
the sentence comes to its full stop, which items need not have.
"""

from __future__ import annotations

import re

from agentcore.ledger import chinese, english
from agentcore.ledger.cues import pattern_of

# Columns, of which a Chinese character takes two: no line of prose is wider, no long one narrower.
WIDEST, LONG = 120, 40
# How far the end of a sentence is looked for.
SENTENCE_CHARS = 300

_HAN = "[\u3400-\u9fff，、]"
_LINE_END = re.compile(r"\n(?<=(?:[^\W_]|[,)\"'`’”，、）])\n)(?=\x20{0,6}[\"'`$]?[^\W_])")
# They may stand beyond the width.
_HANGING = "，。、；：！？"
_MARK = r"(?:[-*+•]|[0-9]{1,2}[.)])\x20+"
_ITEM = re.compile(rf"\x20*{_MARK}(?=\S)")
_NO_PROSE = ("#", ">", "|", "/", "<", "[", "{")
_CAPITAL = re.compile(r"(?:\A|[.!?]\x20)[\"'(`*]*[A-Z]")
_OWN_RULE = rf"(?:{pattern_of(english.RULE_BEGINS)})(?![a-z])|{pattern_of(chinese.RULE_BEGINS)}"
# No item, and no term that is explained (`port: `, `port -- `); with the first word where a
# sentence may go on with it.
_NEXT = re.compile(
    rf"(?!{_OWN_RULE})"
    rf"([a-z][a-z'’\-]*+[,.;!?)]*+(?=\s|\Z)(?!\x20(?:--?|=)\x20)|{_HAN})"
    rf"|(?!\s|{_MARK}|[0-9]+[、．]|[\"'`]?[\w.\-]+[\"'`]?(?:\x20--?|:|\x20=)\x20)"
    rf"((?<={_HAN}\n)[0-9A-Za-z][\w.\-]*+)?"
)
# Of a value whose number ends the line, and no name of another value.
_OF_VALUE = (
    rf"(?i:{pattern_of(unit for unit in english.UNITS if len(unit) > 1)})(?![a-z:=]|\s?[0-9:=])"
)
_UNIT = re.compile(_OF_VALUE)
_FULL_STOP = re.compile(
    r"(?:[^\n.!?:。！？；：]++|[.!?:](?!\s|\Z)"
    rf"|\n(?=[0-9][0-9,]*\x20)|(?<=[0-9])\n(?={_OF_VALUE})"
    rf"|(?<={_HAN})\n(?=[0-9A-Z](?![.)、．]))"
    rf"|\n\x20*(?=[a-z]|{_HAN})(?:(?<=[,，、]\n)|(?<=\x20and\n)|(?<=\x20or\n)|(?!{_OWN_RULE})))*+"
    r"[.!?:。！？；：]"
)
_CHINESE_WISH = re.compile(rf"(?:\A|[。！？；，：])请?(?:{pattern_of(chinese.GO_ON_IN_FRONT)})\Z")


def unwrapped(text: str) -> str:
    """The text without the line ends that a sentence goes on over: a space stands there, between
    Chinese characters nothing."""
    if "\n" not in text:
        return text
    text = text.replace("\r\n", "\n").replace(" \n", "\n")
    lines = _Lines(text)
    pieces: list[str] = []
    done = 0
    for found in _LINE_END.finditer(text):
        stop = found.start()
        if begins := lines.goes_on_at(stop):
            said = text[done:stop]
            pieces += (said, "" if _is_han(said[-1]) and _is_han(text[begins]) else " ")
            done = begins
    return "".join([*pieces, text[done:]]) if pieces else text


class _Lines:
    """The lines of a text, whose ends are asked about in their order."""

    def __init__(self, text: str) -> None:
        self._text = text
        # Where a line begins that the one before goes on in; where the text of both stands.
        self._next, self._column = -1, 0
        self._is_item = self._is_begun = False
        self._full_stop = 0

    def goes_on_at(self, stop: int) -> int:
        """Where the sentence goes on behind the line end; 0 where it does not."""
        text = self._text
        start = text.rfind("\n", max(0, stop - WIDEST - 1), stop) + 1
        if not start and stop > WIDEST:
            return 0
        said = text[start:stop]
        if start != self._next and not self._begin(said):
            return 0
        begins = stop + 1 + self._column
        following = _NEXT.match(text, begins)
        if following is None or (self._column and text[stop + 1 : begins].strip()):
            return 0
        word = following[1] or following[2]
        is_cut = said[-1].isdigit() and _UNIT.match(text, begins)
        if not is_cut and not _is_open(said) and not self._is_wrapped(said, word, begins):
            return 0
        self._next, self._is_begun = stop + 1, True
        return begins

    def _begin(self, said: str) -> bool:
        """What the first line of some shows; whether it may be prose."""
        item = _ITEM.match(said)
        self._column, self._is_item = item.end() if item else 0, item is not None
        self._is_begun = self._is_item or bool(_CAPITAL.search(said))
        return not said.startswith(_NO_PROSE)

    def _is_wrapped(self, said: str, word: str | None, begins: int) -> bool:
        if word is None or self._has_room(said, word, begins):
            return False
        is_chinese = _is_han(said[-1]) or _is_han(word)
        if not (_columns(said) >= LONG if is_chinese else self._is_begun):
            return False
        return self._is_item or self._comes_to_its_end(begins)

    def _has_room(self, said: str, word: str, begins: int) -> bool:
        """Whether the word could stand behind what is said, in a line no wider than the next."""
        stop = self._text.find("\n", begins, begins + WIDEST)
        following = self._text[begins : stop if stop >= 0 else begins + WIDEST]
        return _columns(f"{said} {word}") <= self._column + _columns(following.rstrip(_HANGING))

    def _comes_to_its_end(self, begins: int) -> bool:
        """Whether the sentence does, on lines that may belong to it."""
        if begins >= self._full_stop:
            found = _FULL_STOP.match(self._text, begins, begins + SENTENCE_CHARS)
            if found is None:
                return False
            self._full_stop = found.end()
        return True


def _is_open(said: str) -> bool:
    """Whether no sentence ends so."""
    last = said[said.rfind(" ") + 1 :].lower()
    if not last.isascii():
        return said.endswith(chinese.GOES_ON) or bool(_CHINESE_WISH.search(said[-6:]))
    if last in english.GO_ON_IN_FRONT:
        before = said[: -len(last)].rstrip()
        return not before or before.endswith((".", "!", "?", ":", ";", "please", "Please"))
    return last in english.GOES_ON


def _is_han(character: str) -> bool:
    return "\u3400" <= character <= "\u9fff" or character in "，、"


def _columns(text: str) -> int:
    return len(text) if text.isascii() else 2 * len(text) - len(text.encode("ascii", "ignore"))
