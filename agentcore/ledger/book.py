"""The ledger of a session: its facts in order, what still holds of them, what was replaced."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from operator import itemgetter, le

from agentcore.facts import TODO_SUBJECT, Fact, FactKind
from agentcore.ledger.extract import facts_of
from agentcore.ledger.supersession import RULES, replaced_by
from agentcore.ledger.wording import lines_of
from agentcore.messages import Message

# How many statements of its kind one that revises is compared with.
COMPARED = 200
# Calls whose result may still come, at least.
OPEN_CALLS = 64
TRIED_CHARS = 120
_PATHS = (FactKind.CHANGED_PATH, FactKind.READ_PATH)
_WORD = re.compile(r"\w")
_DIGITS = re.compile(r"[0-9][0-9.,]*")


class Ledger:
    """Grows by messages in the order of the list; a message costs its own facts."""

    def __init__(self) -> None:
        self._standing: dict[FactKind, dict[str, Fact]] = {kind: {} for kind in FactKind}
        self._replaced: list[tuple[Fact, Fact]] = []
        self._recent: dict[str, deque[Fact]] = {}
        self._last_on: dict[tuple[str, str], Fact] = {}
        # What a call named, each with what stood for it before.
        self._of_call: dict[str, list[tuple[Fact, Fact | None]]] = {}
        self._instruction: Fact | None = None

    @classmethod
    def of(cls, messages: Iterable[Message]) -> Ledger:
        ledger = cls()
        ledger.add(_as_said(list(messages)))
        return ledger

    def add(self, facts: Iterable[Fact]) -> None:
        """The facts of the messages that come next, in their order."""
        # Looked up once: a list may hold tens of thousands.
        goal, state, failure = FactKind.GOAL, FactKind.STATE, FactKind.FAILURE
        standing_of, of_call = self._standing, self._of_call
        for fact in facts:
            kind, key, call = fact.kind, fact.key, fact.call
            if kind is goal:
                self._take_goal(fact)
                continue
            if kind is state:
                self._take_state(fact)
                continue
            standing = standing_of[kind]
            if fact.subject or (fact.bound and kind in RULES):
                fact = self._compare(fact)
            elif call and kind is failure:
                fact = self._failed(fact)
            elif call in of_call:
                of_call[call].append((fact, standing.get(key)))
            elif call:
                of_call[call] = [(fact, standing.get(key))]
                if len(of_call) > 2 * OPEN_CALLS:
                    self._let_go_of_calls()
            standing.pop(key, None)
            standing[key] = fact

    @property
    def goal(self) -> Fact | None:
        """The first instruction, or the last that set another goal."""
        return next(iter(self._standing[FactKind.GOAL].values()), None)

    @property
    def instruction(self) -> Fact | None:
        """The last thing that was asked for."""
        return self._instruction

    @property
    def superseded(self) -> tuple[tuple[Fact, Fact], ...]:
        """What no longer holds, each with the fact that took its place."""
        return tuple(self._replaced)

    def facts(self, kind: FactKind) -> tuple[Fact, ...]:
        """What holds, in the order in which it was last said."""
        return tuple(self._standing[kind].values())

    def by_kind(self) -> dict[FactKind, tuple[Fact, ...]]:
        """All that holds; of goals the one in force and the last instruction."""
        found = {kind: self.facts(kind) for kind in FactKind}
        asked = (self.goal, self._instruction)
        found[FactKind.GOAL] = tuple({fact.key: fact for fact in asked if fact}.values())
        return found

    def __iter__(self) -> Iterator[Fact]:
        """All that holds, kind by kind."""
        for facts in self.by_kind().values():
            yield from facts

    def text(self, max_chars: int) -> str:
        """What holds, in at most that many characters: goal and rules first, values and paths as
        they were said. What is left out is counted."""
        kinds = self.by_kind()
        asked = kinds[FactKind.GOAL]
        told = (self._without_replaced(fact) for fact in asked)
        kinds[FactKind.GOAL] = tuple(fact for fact in told if _WORD.search(fact.text))
        # What a person named stays longer than what a tool counted.
        numbers = kinds[FactKind.NUMBER]
        kinds[FactKind.NUMBER] = tuple(sorted(numbers, key=lambda fact: bool(fact.subject)))
        return "\n".join(lines_of(kinds, max_chars))

    def _compare(self, fact: Fact) -> Fact:
        """The fact, which takes over the subject of what it replaces where it names none."""
        group = "rule" if fact.kind in RULES else str(fact.kind)
        recent = self._recent.setdefault(group, deque(maxlen=COMPARED))
        same = self._last_on.get((group, fact.subject))
        looks_wider = fact.kind is not FactKind.NUMBER and (fact.bound or fact.revises)
        candidates = list(recent) if looks_wider else [same] if same else []
        for earlier in replaced_by(fact, candidates):
            standing = self._standing[earlier.kind]
            if standing.get(earlier.key) is earlier:
                del standing[earlier.key]
                self._replaced.append((earlier, fact))
            if not fact.subject:
                fact = replace(fact, subject=earlier.subject, bound=earlier.bound)
        recent.append(fact)
        self._last_on[group, fact.subject] = fact
        return fact

    def _take_goal(self, fact: Fact) -> None:
        goal = self.goal
        self._instruction = fact
        if goal is None or (fact.revises and fact.key != goal.key):
            if goal is not None:
                self._replaced.append((goal, fact))
            self._standing[FactKind.GOAL] = {fact.key: fact}

    def _take_state(self, fact: Fact) -> None:
        """The last list of to-dos stands, and the last statement."""
        standing = self._standing[FactKind.STATE]
        is_todo = fact.subject == TODO_SUBJECT
        for earlier in list(standing.values()):
            same_list = is_todo and earlier.number == fact.number
            if (earlier.subject == TODO_SUBJECT) is is_todo and not same_list:
                del standing[earlier.key]
        standing[fact.key] = fact

    def _let_go_of_calls(self) -> None:
        for call in list(self._of_call)[:OPEN_CALLS]:
            del self._of_call[call]

    def _failed(self, fact: Fact) -> Fact:
        """A failed call changed and read nothing: what it named leaves, and says what was tried."""
        tried = self._of_call.pop(fact.call, [])
        for named_fact, before in tried:
            standing = self._standing[named_fact.kind]
            if named_fact.kind in _PATHS and standing.get(named_fact.key) is named_fact:
                del standing[named_fact.key]
                if before is not None:
                    standing[before.key] = before
        if not tried or tried[0][0].text in fact.text:
            return fact
        return replace(fact, text=f"{tried[0][0].text[:TRIED_CHARS]}: {fact.text}")

    def _without_replaced(self, goal: Fact) -> Fact:
        """The goal without the values and rules that were replaced since."""
        text = goal.text
        for earlier, _ in self._replaced:
            if earlier.number == goal.number and earlier.kind is not FactKind.GOAL:
                shown = _DIGITS.sub("…", earlier.text) if earlier.bound else "…"
                text = text.replace(earlier.text, shown)
        return replace(goal, text=text)


def _as_said(messages: Sequence[Message]) -> Iterable[Fact]:
    """Their facts in the order in which they were said: a pinned message stands behind a summary
    that tells what was said after it."""
    told: list[Fact] = []
    said_at: list[int] = []
    for message in messages:
        facts, own = facts_of(message), message.number
        if not facts:
            continue
        at = _said_at(message)
        told += facts
        said_at += [at if fact.number == own else fact.number for fact in facts]
    if all(map(le, said_at, islice(said_at, 1, None))):
        return told
    return (fact for _, fact in sorted(zip(said_at, told, strict=True), key=itemgetter(0)))


def _said_at(message: Message) -> int:
    """What a summary tells in its own words is as old as the newest that it stands for."""
    if message.is_summary:
        return message.stands_for[-1].stop - 1 if message.stands_for else 0
    return message.number
