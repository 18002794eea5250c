"""What earlier sessions left behind: entries, the search over them, and the block in the prompt."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import bm25s

from agentcore.limits import Limits
from agentcore.sections import HEADINGS, MEMORY_END, Part, one_line

REFERENCE = (
    "Retrieved from earlier sessions, for reference only. Where they differ, the user's present "
    "instruction wins."
)
CUT = "…"
# A question may be a whole pasted file: the terms after these say nothing new.
QUERY_CHARS = 4_000

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
