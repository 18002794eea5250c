"""The short text of a ledger, and the way back from it: one line a fact under its heading."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from agentcore.breakdown import HEADERS
from agentcore.facts import ALL_DONE, TODO_SUBJECT, Fact, FactKind
from agentcore.ledger.cues import TODO, lowered
from agentcore.ledger.prose import facts_of_person, flat
from agentcore.ledger.words import subject

LINE_CHARS = 400
# For a heading and the count of what was left out.
HEADING_CHARS = 40
HEADINGS: Mapping[FactKind, str] = {
    FactKind.GOAL: "Goal",
    FactKind.CONSTRAINT: "Constraints",
    FactKind.PREFERENCE: "Preferences",
    FactKind.STATE: "State",
    FactKind.CHANGED_PATH: "Changed files",
    FactKind.DECISION: "Decisions",
    FactKind.NUMBER: "Values",
    FactKind.FAILURE: "Failures",
    FactKind.WARNING: "Warnings",
    FactKind.READ_PATH: "Read files",
    FactKind.COMMAND: "Commands",
}
# These take what room there is; each of the others half of what is left.
_WHOLE = frozenset(
    {
        *(FactKind.GOAL, FactKind.CONSTRAINT, FactKind.PREFERENCE, FactKind.STATE),
        FactKind.CHANGED_PATH,
    }
)
_REREAD = frozenset({FactKind.CONSTRAINT, FactKind.PREFERENCE, FactKind.DECISION, FactKind.NUMBER})
_KIND_OF_HEADING = {heading.lower(): kind for kind, heading in HEADINGS.items()}
_ITEM_MARK = "- "
_ITEM = re.compile(rf"{_ITEM_MARK}(.+)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_HEADING = re.compile(r"([A-Z][a-z ]{3,14}):")


def lines_of(facts: Mapping[FactKind, Sequence[Fact]], room: int) -> list[str]:
    """Headings with their facts, in the order of what must not get lost, in `room` characters.
    What has no room beside newer facts is left out, and counted under the heading."""
    lines: list[str] = []
    for kind, heading in HEADINGS.items():
        # Two values of one sentence are one line.
        of_kind = list({fact.text: fact for fact in facts.get(kind, ())}.values())
        share = 1 if kind in _WHOLE else 2
        shown = _newest_that_fit(of_kind, (room - HEADING_CHARS) // share)
        if not shown:
            continue
        left = len(of_kind) - len(shown)
        more = [f"({left} older left out)"] if left else []
        added = [f"{heading}:", *more, *shown]
        room -= sum(len(line) + 1 for line in added)
        lines += added
    return lines


def facts_of_note(text: str, number: int) -> Iterator[Fact]:
    """The facts under the headings of a note; of a summary without them, those of its prose."""
    kind: FactKind | None = None
    headed = False
    prose: list[str] = []
    for line in text.split("\n"):
        if heading := _HEADING.fullmatch(line):
            kind = _KIND_OF_HEADING.get(heading[1].lower())
            headed = headed or kind is not None
        elif kind and (item := _ITEM.fullmatch(line)):
            yield from _facts_of_line(kind, item[1], number)
        elif line not in HEADERS:
            prose.append(line)
    if not headed:
        told = facts_of_person("\n".join(prose), number)
        yield from (fact for fact in told if fact.kind is not FactKind.GOAL)


def _newest_that_fit(facts: Sequence[Fact], room: int) -> list[str]:
    kept: list[str] = []
    for fact in reversed(facts):
        if room <= len(_ITEM_MARK):
            break
        line = _line(fact)
        if len(line) < room:
            room -= len(line) + 1
            kept.append(_CONTROL.sub(" ", line))
    return kept[::-1]


def _line(fact: Fact) -> str:
    is_open = fact.subject == TODO_SUBJECT and fact.text != ALL_DONE
    mark = f"{_ITEM_MARK}{TODO} " if is_open else _ITEM_MARK
    return mark + fact.text[:LINE_CHARS]


def _facts_of_line(kind: FactKind, line: str, number: int) -> Iterator[Fact]:
    """The same fact that the line was written for, as far as it tells it."""
    again = []
    if kind in _REREAD:
        again = [fact for fact in facts_of_person(line, number) if fact.kind is kind]
    if again:
        yield from again
        return
    said = flat(line.removeprefix(TODO))
    about = TODO_SUBJECT if line.startswith(TODO) else ""
    if kind in _REREAD or kind is FactKind.GOAL:
        about = subject(lowered(said))
    yield Fact(kind, said, number, said, about)
