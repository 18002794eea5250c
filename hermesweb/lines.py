"""What a row of a message list tells beside the message: what it weighs, how long, what became of
it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentcore.compaction.plan import Fate
from hermesweb.models import AgentSession, Compaction, StoredMessage
from hermesweb.spans import spans


@dataclass(frozen=True, slots=True)
class Line:
    """`bar` in percent of the largest row of the page; `share` of the list, None for what left it;
    `carried`: bytes times the requests that held them; `born` in that turn or after it, of the
    session's `turns`; `fate` of the last life that ended, empty while one is open; `again`: number
    of the earlier result of the same call; `cut_before` stands above it."""

    message: StoredMessage
    key: tuple[int, int]
    category: str
    bar: float
    share: float | None
    turns: int
    born: int
    carried: int = 0
    fresh: bool = False
    fate: str = ""
    again: int | None = None
    cut_before: Compaction | None = None

    @property
    def number(self) -> str:
        """As a row names it many times: written once, since templates localize numbers."""
        return str(self.message.number)

    @property
    def alive(self) -> bool:
        return not self.fate

    @property
    def age(self) -> int:
        """In turns."""
        return max(self.turns - self.born, 0)


def lines(
    session: AgentSession, rows: Sequence[Any], *, by_size: bool, seen: int | None
) -> list[Line]:
    """Of rows with their `place`, `turn_before` and `same_before`; two queries."""
    largest = max((row.bytes for row in rows), default=0)
    lives = _lives(session, [row.number for row in rows])
    asked = spans(session)
    made = []
    for row in rows:
        born = row.turn or row.turn_before or 0
        fate = _fate(lives[row.number])
        held = [(begun, ended) for begun, ended, _ in lives[row.number]]
        line = Line(
            message=row,
            key=(row.bytes if by_size else row.place, row.number),
            category=max(row.categories, key=row.categories.get, default="user"),
            bar=100.0 * row.bytes / largest if largest else 0.0,
            share=row.bytes / session.bytes if session.bytes and not fate else None,
            turns=session.turns,
            born=born,
            carried=row.bytes * asked.carried(born, held),
            fresh=seen is not None and row.number > seen,
            fate=fate,
            again=row.same_before if row.replaces is None else None,
        )
        made.append(line)
    return made


def fate_of(session: AgentSession, number: int) -> str:
    """Empty while the message is in the list."""
    return _fate(_lives(session, [number])[number])


def with_cuts(session: AgentSession, shown: Sequence[Line]) -> list[Line]:
    """Each compaction above the first message that it bore."""
    if not shown:
        return []
    span = (shown[0].message.number, shown[-1].message.number)
    changes = session.revisions.filter(last_number__range=span).values_list(
        "number", "last_number", "begun"
    )
    born = {number: last - begun + 1 for number, last, begun in changes}
    compactions: Iterable[Compaction] = session.stored_compactions.filter(revision__in=born)
    above = {born[cut.revision]: cut for cut in compactions if cut.revision is not None}
    return [replace(line, cut_before=above.get(line.message.number)) for line in shown]


def _lives(
    session: AgentSession, numbers: Sequence[int]
) -> dict[int, list[tuple[int, int | None, str]]]:
    found: dict[int, list[tuple[int, int | None, str]]] = defaultdict(list)
    lives = session.lives.filter(number__in=numbers).order_by("from_revision")
    for number, begun, ended, fate in lives.values_list(
        "number", "from_revision", "to_revision", "fate"
    ):
        found[number].append((begun, ended, fate))
    return found


def _fate(lives: Sequence[tuple[int, int | None, str]]) -> str:
    if not lives or lives[-1][1] is None:
        return ""
    return lives[-1][2] or Fate.DROPPED
