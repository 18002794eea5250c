"""What earlier sessions left behind: entries, the search over them, and the block in the prompt."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import bm25s

from agentcore.breakdown import SUMMARY_HEADER
from agentcore.facts import Fact, FactKind
from agentcore.ledger import Ledger
from agentcore.ledger.wording import lines_of
from agentcore.limits import Limits
from agentcore.messages import Message, born
from agentcore.redact import mask
from agentcore.sections import HEADINGS, MEMORY_END, Part, one_line

# Its import asks for every line of its own, whatever the program that uses it logs.
logging.getLogger("bm25s").setLevel(logging.WARNING)

REFERENCE = (
    "Retrieved from earlier sessions, for reference only. Where they differ, the user's present "
    "instruction wins."
)
CUT = "…"
LEFT = "Left by the session before this one. The user's present instruction wins."
# A question may be a whole pasted file: the terms after these say nothing new.
QUERY_CHARS = 4_000

# How many facts of a kind a session leaves, the newest.
DISTILLED = {
    FactKind.GOAL: 1,
    FactKind.CONSTRAINT: 5,
    FactKind.PREFERENCE: 5,
    FactKind.DECISION: 5,
    FactKind.STATE: 2,
}
# A sentence with fewer terms can neither be found nor understood later.
LEAST_TERMS = 3
PATHS = 40
HANDED_OVER = (FactKind.GOAL, FactKind.STATE, FactKind.DECISION, FactKind.CHANGED_PATH)

_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
_TERMS = re.compile(rf"([{_IDEOGRAPHS}]+)|[^\W_{_IDEOGRAPHS}]+")


class EntryKind(StrEnum):
    GOAL = "goal"
    CONSTRAINT = "constraint"
    PREFERENCE = "preference"
    DECISION = "decision"
    CHANGED_PATH = "changed_path"
    STATE = "state"
    FACT = "fact"


@dataclass(frozen=True, slots=True)
class Entry:
    """One sentence worth keeping. `numbers` are the messages of its session that say it; `id` is
    the store's."""

    kind: EntryKind
    text: str
    numbers: tuple[int, ...] = ()
    id: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    entry: Entry
    score: float


class MemoryIndex:
    """BM25 over entries. Making it costs with their text, a search with the terms asked for."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        texts = [list(terms(entry.text)) for entry in entries]
        self._known: set[str] = set().union(*texts)
        if self._known:
            self._scores = bm25s.BM25(method="lucene")
            self._scores.index(texts, show_progress=False)

    def search(self, query: str, most: int = 0) -> list[Hit]:
        """The entries that share a term with the query, best first, the earlier one of equals; all
        of them without `most`."""
        asked = sorted(self._known.intersection(terms(query[:QUERY_CHARS])))
        if not asked:
            return []
        scores = self._scores.get_scores(asked).tolist()
        hits = [
            Hit(entry, score)
            for entry, score in zip(self._entries, scores, strict=True)
            if score > 0
        ]
        hits.sort(key=lambda hit: -hit.score)
        return hits[: most or None]


def terms(text: str) -> Iterator[str]:
    """Words in lower case; of ideographs each one, and each pair of neighbours."""
    for found in _TERMS.finditer(unicodedata.normalize("NFKC", text).casefold()):
        run = found[0]
        if not found[1]:
            yield run
            continue
        yield from run
        yield from map("".join, zip(run, run[1:], strict=False))


def block(hits: Iterable[Hit], limits: Limits) -> tuple[str, list[Hit]]:
    """The memory block and the entries that are in it; empty without one. It has one start, one
    end and one line an entry, at most `memory_chars` in all; the first entry that does not fit
    ends it."""
    start, end = f"{HEADINGS[Part.MEMORY]}\n{REFERENCE}", f"\n{MEMORY_END}"
    text = start
    taken: list[Hit] = []
    for hit in hits:
        line = f"\n- [{hit.entry.kind}] {one_line(cut(hit.entry.text, limits))}"
        size = len(text) + len(line) + len(end)
        full = 0 < limits.memory_entries <= len(taken)
        if full or 0 < limits.memory_chars < size:
            break
        text += line
        taken.append(hit)
    return (text + end, taken) if taken else ("", [])


def cut(text: str, limits: Limits) -> str:
    """At most `memory_entry_chars` characters; what is missing is marked."""
    most = limits.memory_entry_chars
    return text if not 0 < most < len(text) else text[: most - len(CUT)] + CUT


def distill(ledger: Ledger, limits: Limits) -> list[Entry]:
    """What a session leaves for later ones, without a model: goal, rules, decisions, state, and
    the files it changed as one entry; each with the messages that say it. Secrets are masked: the
    entries are for requests of other sessions."""
    told = ledger.by_kind() | {FactKind.GOAL: (ledger.goal,) if ledger.goal else ()}
    entries = [
        Entry(EntryKind(kind.value), cut(mask(fact.text)[0], limits), (fact.number,))
        for kind, most in DISTILLED.items()
        for fact in told[kind][-most:]
        if sum(1 for _ in terms(fact.text)) >= LEAST_TERMS
    ]
    return [*entries, *_changed(told[FactKind.CHANGED_PATH][-PATHS:], limits)]


def hand_over(ledger: Ledger, max_chars: int) -> Message | None:
    """A summary of what a session leaves to its successor, secrets masked; None where it leaves
    nothing."""
    facts = ledger.by_kind()
    lines = lines_of({kind: facts[kind] for kind in HANDED_OVER}, max_chars)
    if not lines:
        return None
    told = mask("\n".join([SUMMARY_HEADER, LEFT, *lines]))[0]
    return born({"role": "system", "content": told})


def _changed(paths: Sequence[Fact], limits: Limits) -> list[Entry]:
    """As many of the paths as one entry holds, the newest first."""
    if not paths:
        return []
    newest = paths[::-1]
    text = cut(", ".join(fact.key for fact in newest), limits)
    numbers = tuple(sorted({fact.number for fact in newest}))
    return [Entry(EntryKind.CHANGED_PATH, text, numbers)]
