"""Facts in what people and the assistant say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

from agentcore.facts import TODO_SUBJECT, Fact, FactKind, make_fact
from agentcore.ledger import chinese, english
from agentcore.ledger.cues import (
    BOUNDARY,
    KINDS,
    TODO,
    Mark,
    Sentence,
    lowered,
    pattern_of,
    sentences,
)
from agentcore.ledger.supersession import NEW_VALUE
from agentcore.ledger.words import content_words, subject
from agentcore.ledger.wrapping import unwrapped

GOAL_CHARS = 300
# What is longer asks for something.
SHORT_CHARS = 60
# What is longer was pasted: its middle is passed over.
HEAD_CHARS, TAIL_CHARS = 80_000, 20_000
# Where a goal is looked for; what is longer was pasted.
OPENING_CHARS = 1_000
STATED_FACTS, NUMBERS_OF_PERSON, NUMBERS_OF_ASSISTANT = 60, 40, 8
# How far from a limit word its number stands, and how close behind a word like `by` a time.
VALUE_REACH, DATE_REACH = 30, 6

KINDS_OF_PERSON = (FactKind.CONSTRAINT, FactKind.PREFERENCE, FactKind.DECISION)
KINDS_OF_ASSISTANT = (FactKind.DECISION,)

_NEED_VALUE = english.NEED_VALUE | chinese.NEED_VALUE
_UPPER = english.UPPER | chinese.UPPER | {"keep it", "控制在"}
_LOWER = english.LOWER | chinese.LOWER
_DATED = english.DATED | chinese.DATED
_REVISION = frozenset({*english.REVISION, *chinese.REVISION})
_NEW_GOAL = frozenset({*english.NEW_GOAL, *chinese.NEW_GOAL})
_STATES = frozenset(word for word, kind in KINDS.items() if kind is FactKind.STATE)
_IN_FRONT = frozenset({*english.WISHES_IN_FRONT, *english.RULES_IN_FRONT})
_AT_TIMES = _IN_FRONT | _NEED_VALUE
_UNITS = {*english.UNITS, *chinese.UNITS}

_DATE = re.compile(
    r"\s*(?:the |this |next )?(?:end of|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|today|tomorrow|tonight|noon|midnight|eod|january|february|march|april|may |june|july"
    r"|august|september|october|november|december|q[1-4]|release|friday|周|星期|月底|明天|今天)"
)
_UNIT = re.compile(rf"[\s\-]?({pattern_of(_UNITS)})(?![a-z])")
_GLUED_UNIT = re.compile(rf"[0-9]({pattern_of(english.UNITS)})\Z")
# But for what stands between two digits: 3,000 and 8:30 are one value.
_SEPARATOR = re.compile(r"[,，、:：\s](?!(?<=[0-9][,:])[0-9])(?:(?<!\s)|(?:and|but|then)\s)")
_ID = re.compile(r"[a-z][a-z0-9]*[-_#.]?[0-9]|[0-9]+\.[0-9]+\.[0-9]|#[0-9]|[0-9a-f]*[a-f][0-9a-f]*")
_NAMING = (":", "=", " is", " at", " to", " of", " was", " are")
_NAMED = re.compile(r"[a-z_]{2}\s*(?:[:=]|\s[a-z]{2,3})$")
_LIST_MARK = re.compile(r"[\s>*+\-•]*(?:please )?$")
_COMMENT = ("//", "/*", "<!--")
_TRAILING = ".,:;/-+"
_ACKNOWLEDGED = re.compile(pattern_of(chinese.ACKNOWLEDGEMENTS))
_WORD = re.compile(r"[a-z']+|[0-9]+|[^\x00-\x7f，。、！？…]+")


def facts_of_person(text: str, number: int) -> list[Fact]:
    """Rules, wishes, decisions and values of one user message, and what it asks for."""
    text = _read(text)
    low = lowered(text)
    stated: list[Fact] = []
    numbers: list[Fact] = []
    taken: list[Sentence] = []
    revises = False
    for sentence in sentences(low):
        revises = revises or not _NEW_GOAL.isdisjoint(sentence.words)
        if found := _stated(text, sentence, number, KINDS_OF_PERSON):
            taken.append(sentence)
            stated += found
        elif fact := _new_value(text, sentence, number):
            stated.append(fact)
        elif len(numbers) < NUMBERS_OF_PERSON:
            numbers += _numbers(text, sentence, number, by_person=True)
        if len(stated) >= STATED_FACTS:
            break
    goal = _goal(text, low, taken)
    first = [] if goal is None else [Fact(FactKind.GOAL, goal, number, goal, revises=revises)]
    return [*first, *stated, *numbers[:NUMBERS_OF_PERSON]]


def facts_of_assistant(text: str, number: int) -> list[Fact]:
    """Decisions, values, and the last that was said of progress."""
    text = _read(text)
    stated: list[Fact] = []
    numbers: list[Fact] = []
    state: Sentence | None = None
    for sentence in sentences(lowered(text)):
        found = _stated(text, sentence, number, KINDS_OF_ASSISTANT)
        stated += found
        if TODO in sentence.words:
            stated.append(_to_do(text, sentence, number))
        elif not _STATES.isdisjoint(sentence.words):
            state = sentence
        if not found and len(numbers) < NUMBERS_OF_ASSISTANT:
            numbers += _numbers(text, sentence, number, by_person=False)
        if len(stated) >= STATED_FACTS:
            break
    last = [] if state is None else [_progress(text, state, number)]
    return [*stated, *numbers[:NUMBERS_OF_ASSISTANT], *last]


def flat(text: str) -> str:
    """On one line, without marks of lists and white space around it."""
    return " ".join(text.split()).strip(" *-•>#|,，、;")


def bound_of(words: AbstractSet[str], low: str, values: Sequence[tuple[int, int]]) -> str:
    """Side and unit of the limit that these words set on the last value; "" for none."""
    is_upper = not words.isdisjoint(_UPPER)
    is_lower = not words.isdisjoint(_LOWER)
    if not is_upper and not is_lower and not words.isdisjoint(_DATED):
        return "date"
    if not values or not (is_upper or is_lower):
        return ""
    return f"{'<' if is_upper else '>'}={unit_behind(low, values[-1][1])}"


def unit_behind(low: str, stop: int) -> str:
    """The unit behind a value, or at its end: `500 mb`, `500mb`."""
    found = _UNIT.match(low, stop)
    if found is None and stop and not low[stop - 1].isdigit():
        found = _GLUED_UNIT.search(low, max(0, stop - 20), stop)
    return found[1] if found else ""


def _read(text: str) -> str:
    if len(text) > HEAD_CHARS + TAIL_CHARS:
        text = f"{text[:HEAD_CHARS]}\n\n{text[-TAIL_CHARS:]}"
    return unwrapped(text)


def _stated(text: str, sentence: Sentence, number: int, kinds: Sequence[FactKind]) -> list[Fact]:
    """One fact for each clause of the sentence that has a cue of these kinds."""
    cues = [
        cue
        for cue in sentence.cues
        if KINDS[cue[2]] in kinds and (cue[2] not in _AT_TIMES or _counts(cue, sentence))
    ]
    if not cues or sentence.is_question:
        return []
    found: list[Fact] = []
    for clause, said_kinds in _clauses(sentence, cues):
        low, start, stop, _, words, values = clause
        said = flat(text[start:stop])
        if said.startswith(_COMMENT):
            continue
        kind = next(filter(said_kinds.__contains__, kinds))
        bound = "" if kind is FactKind.DECISION else bound_of(words, low, values)
        about = subject(low[start:stop])
        if values and not bound and "@" not in about:
            # Rules for table 3 and for table 5 are two.
            about = " ".join([about, *(low[at:to].rstrip(_TRAILING) for at, to in values)])
        revises = not _REVISION.isdisjoint(words)
        found.append(make_fact(kind, said, number, said, about, bound, "", revises))
    return found


def _counts(cue: Mark, sentence: Sentence) -> bool:
    """Whether a word that does so only at times means here what it is listed for."""
    start, stop, word = cue
    low = sentence.low
    if word in _IN_FRONT:
        return low.startswith(" ", stop) and bool(_LIST_MARK.fullmatch(low, sentence.start, start))
    is_dated = word in _DATED
    least, most = (0, DATE_REACH) if is_dated else (1 - VALUE_REACH, VALUE_REACH)
    for value, _ in sentence.values:
        if least <= value - stop < most:
            return True
    return is_dated and bool(_DATE.match(low, stop, stop + VALUE_REACH))


def _clauses(
    sentence: Sentence, cues: Sequence[Mark]
) -> Iterator[tuple[Sentence, AbstractSet[FactKind | None]]]:
    """The sentence cut at the last comma or `and` before each further cue; each with the kinds of
    these cues."""
    start = sentence.start
    kinds = {KINDS[cues[0][2]]}
    for (_, before, _), (behind, _, word) in pairwise(cues):
        cuts = list(_SEPARATOR.finditer(sentence.low, before, behind))
        if cuts:
            yield sentence.part(start, cuts[-1].start()), kinds
            start, kinds = cuts[-1].end(), set()
        kinds.add(KINDS[word])
    whole = start == sentence.start
    yield sentence if whole else sentence.part(start, sentence.stop), kinds


def _numbers(text: str, sentence: Sentence, number: int, *, by_person: bool) -> Iterator[Fact]:
    """Values with a unit, a name or the form of an id. Only a person's have a subject: what the
    assistant counts replaces nothing that was asked for."""
    low = sentence.low
    for start, stop in sentence.values:
        value = low[start:stop].rstrip(_TRAILING)
        stop = start + len(value)
        if _is_no_value(low, sentence.start, start, stop):
            continue
        unit = unit_behind(low, stop)
        if not by_person and not unit and not _ID.match(value) and not _is_named(low, start):
            continue
        before, after = _segment(sentence, start, stop)
        about = subject(f"{low[before:start]} {low[stop:after]}") if by_person else ""
        if by_person and not about:
            before, after = sentence.start, sentence.stop
        said = flat(text[before:after])
        yield make_fact(FactKind.NUMBER, said, number, text[start:stop], about, f"={unit}")


def _new_value(text: str, sentence: Sentence, number: int) -> Fact | None:
    """A change that names nothing but the value: it is about the last limit."""
    if not sentence.values or _REVISION.isdisjoint(sentence.words):
        return None
    if sentence.is_question or subject(sentence.low[sentence.start : sentence.stop]):
        return None
    said = flat(text[sentence.start : sentence.stop])
    bound = f"{NEW_VALUE}={unit_behind(sentence.low, sentence.values[-1][1])}"
    return Fact(FactKind.CONSTRAINT, said, number, said, "", bound, "", True)


def _is_named(low: str, start: int) -> bool:
    before = low[max(0, start - 34) : start].rstrip()
    return before.endswith(_NAMING) and bool(_NAMED.search(before))


def _segment(sentence: Sentence, start: int, stop: int) -> tuple[int, int]:
    """From the comma before the value to the one behind it, within the sentence."""
    before = sentence.start
    for cut in _SEPARATOR.finditer(sentence.low, sentence.start, start):
        if sentence.low[cut.start()] not in ":：":
            before = cut.end()
    behind = _SEPARATOR.search(sentence.low, stop, sentence.stop)
    return before, behind.start() if behind else sentence.stop


def _is_no_value(low: str, first: int, start: int, stop: int) -> bool:
    """Whether the number is part of a path, counts a line of a file, or marks an item of a list."""
    before = low[start - 1 : start]
    if before == ":":
        word = low[max(0, start - 40) : start - 1].rsplit(None, 1)[-1:]
        return bool(word) and not word[0].isalpha()
    is_mark = low[stop : stop + 1] in (".", ")") and not low[first:start].strip(" >*-(")
    return is_mark or before in ("/", "\\", ".")


def _to_do(text: str, sentence: Sentence, number: int) -> Fact:
    said = flat(text[sentence.start : sentence.stop].replace(TODO, ""))
    return Fact(FactKind.STATE, said, number, said, TODO_SUBJECT)


def _progress(text: str, sentence: Sentence, number: int) -> Fact:
    said = flat(text[sentence.start : sentence.stop])
    return Fact(FactKind.STATE, said, number, said, subject(lowered(said)))


def _goal(text: str, low: str, taken: Sequence[Sentence]) -> str | None:
    """The opening without its rules; None for what only acknowledges."""
    pieces: list[str] = []
    at = 0
    for sentence in taken:
        if sentence.start >= OPENING_CHARS:
            break
        pieces.append(text[at : sentence.start])
        at = sentence.stop + 1
    pieces.append(text[at:OPENING_CHARS])
    goal = _cut(flat(" ".join(pieces)))
    if len(goal) > SHORT_CHARS:
        return goal
    if taken and not content_words(lowered(goal)):
        goal = _cut(flat(text[:OPENING_CHARS]))
    return None if _only_acknowledges(lowered(goal)) else goal


def _cut(text: str) -> str:
    """Whole sentences where that is possible."""
    if len(text) <= GOAL_CHARS:
        return text
    stop = 0
    for boundary in BOUNDARY.finditer(text, 0, GOAL_CHARS):
        stop = boundary.end()
    return text[:stop].strip() if stop else f"{text[:GOAL_CHARS]}…"


def _only_acknowledges(low: str) -> bool:
    others = set(_WORD.findall(low)) - english.ACKNOWLEDGEMENTS
    return not any(_ACKNOWLEDGED.sub("", word) for word in others)
