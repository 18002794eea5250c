"""Which facts of a ledger a list still holds; model-free."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from agentcore.facts import Fact, FactKind
from agentcore.ledger.book import Ledger
from agentcore.ledger.cues import lowered
from agentcore.ledger.extract import facts_of
from agentcore.ledger.prose import flat
from agentcore.ledger.words import content_words
from agentcore.ledger.wrapping import unwrapped
from agentcore.messages import Message

# Of the content words of a statement, those that a summary must have to tell it.
TOLD_SHARE = 0.75
_TOKEN = re.compile(r"[a-zA-Z0-9_.\-/#$€£¥%~+@]+")
_DIGIT = re.compile("[0-9]")
_STATEMENTS = frozenset(
    {
        *(FactKind.GOAL, FactKind.CONSTRAINT, FactKind.PREFERENCE, FactKind.DECISION),
        FactKind.STATE,
    }
)
_PATHS = frozenset({FactKind.CHANGED_PATH, FactKind.READ_PATH})


@dataclass(frozen=True, slots=True)
class Kept:
    """How many facts of a kind are still known, and those that are not."""

    kept: int
    lost: tuple[Fact, ...]

    @property
    def total(self) -> int:
        return self.kept + len(self.lost)

    @property
    def share(self) -> float:
        """1.0 where there was nothing to lose."""
        return self.kept / self.total if self.total else 1.0


Survival: TypeAlias = Mapping[FactKind, Kept]


def survival(ledger: Ledger, after: Sequence[Message]) -> Survival:
    """For each kind with facts what the list still holds: the source message unaltered, the same
    fact in another message that is there, or what a summary, note or placeholder tells."""
    unaltered = [one for one in after if not one.is_summary and one.replaces is None]
    numbers = {message.number for message in unaltered}
    found: dict[FactKind, Kept] = {}
    candidates: list[Fact] = []
    for kind, facts in ledger.by_kind().items():
        gone = [fact for fact in facts if fact.number not in numbers]
        candidates += gone
        if facts:
            found[kind] = Kept(len(facts) - len(gone), ())
    if not candidates:
        return found
    lost = _lost(candidates, unaltered, after)
    for kind, kept in found.items():
        gone_of_kind = tuple(fact for fact in lost if fact.kind is kind)
        count = len(ledger.by_kind()[kind]) - len(gone_of_kind)
        found[kind] = Kept(count, gone_of_kind) if gone_of_kind or count != kept.kept else kept
    return found


def as_json(found: Survival) -> dict[str, dict[str, object]]:
    """`{kind: {kept, lost: [{number, text}]}}`."""
    return {
        str(kind): {
            "kept": kept.kept,
            "lost": [{"number": fact.number, "text": fact.text} for fact in kept.lost],
        }
        for kind, kept in found.items()
    }


def _lost(
    candidates: Iterable[Fact], unaltered: Sequence[Message], after: Sequence[Message]
) -> list[Fact]:
    said = {(fact.kind, fact.key) for message in unaltered for fact in facts_of(message)}
    told = _Told([message.text for message in after if message.is_summary])
    stand_ins = {one.replaces: one for one in after if one.replaces is not None}
    return [
        fact
        for fact in candidates
        if (fact.kind, fact.key) not in said
        and not _holds(stand_ins.get(fact.number), fact)
        and not told.tells(fact)
    ]


def _holds(stand_in: Message | None, fact: Fact) -> bool:
    """Whether what replaces its message does; a statement may stand there on several lines."""
    if stand_in is None:
        return False
    if fact.key in stand_in.wire:
        return True
    return fact.kind in _STATEMENTS and fact.key in flat(unwrapped(stand_in.text))


class _Told:
    """What summaries and notes say, looked up by value, path or words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._whole = flat(" ".join(texts))
        self._tokens: set[str] = set()
        for token in _TOKEN.findall(self._whole):
            bare = _bare(token)
            self._tokens.update((bare, bare.lower(), _ending(bare)))
        self._words = content_words(lowered(self._whole))

    def tells(self, fact: Fact) -> bool:
        if not self._whole:
            return False
        key = fact.key
        if _TOKEN.fullmatch(key):
            return key in self._tokens or (fact.kind in _PATHS and _ending(key) in self._tokens)
        if key in self._whole:
            return True
        return fact.kind in _STATEMENTS and self._tells_statement(fact)

    def _tells_statement(self, fact: Fact) -> bool:
        """Nearly all its words, and every value."""
        words = content_words(lowered(fact.text))
        values = {bare for bare in map(_bare, _TOKEN.findall(fact.text)) if _DIGIT.search(bare)}
        if not words or not values <= self._tokens:
            return False
        return len(words & self._words) >= TOLD_SHARE * len(words)


def _bare(token: str) -> str:
    return token.rstrip(".-+/")


def _ending(path: str) -> str:
    """The last two parts: how a path is told where its root is known."""
    return "/".join(path.rsplit("/", 2)[-2:])
