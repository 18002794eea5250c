"""How long messages stayed in the list: which turns each was sent with, and what ended it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agentcore.compaction.plan import Fate
from agentcore.compaction.result import CompactionState
from hermesweb.models import AgentSession, StoredMessage
from hermesweb.spans import Spans, spans

MOST_ROWS = 60
ROW_HEIGHT = 24
# Names of turns and compactions along the top, so that none covers another on a narrow page.
MOST_TICKS, MOST_NAMES = 8, 12


@dataclass(frozen=True, slots=True)
class Bar:
    """Turns `first` to `last` in a row carried the message; `x` and `width` in percent."""

    first: int
    last: int
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Row:
    """`fate`: how the last life ended, empty while it is open; `y` in pixels."""

    message: StoredMessage
    category: str
    carried: int
    turns: int
    bars: tuple[Bar, ...]
    fate: str
    y: int

    @property
    def end(self) -> float:
        return self.bars[-1].x + self.bars[-1].width

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "number": self.message.number,
            "role": self.message.role,
            "tool": self.message.tool or None,
            "category": self.category,
            "bytes": self.message.bytes,
            "turns": self.turns,
            "carried": self.carried,
            "spans": "; ".join(f"{bar.first}-{bar.last}" for bar in self.bars),
            "fate": self.fate or None,
            "pinned": self.message.pinned,
        }


@dataclass(frozen=True, slots=True)
class Mark:
    """Something at a place along the turns, in percent; without a name it is a line alone."""

    x: float
    name: str = ""


@dataclass(frozen=True, slots=True)
class Map:
    """`carried` by all messages, of which the rows are those that carried most; `turns` columns."""

    rows: list[Row]
    turns: int
    carried: int
    messages: int
    cuts: list[Mark]
    ticks: list[Mark]

    @property
    def height(self) -> int:
        return ROW_HEIGHT * len(self.rows)

    @property
    def share(self) -> float | None:
        shown = sum(row.carried for row in self.rows)
        return shown / self.carried if self.carried else None


@dataclass(slots=True)
class _Carrier:
    number: int
    bytes: int
    lives: list[range] = field(default_factory=list)
    fate: str = ""

    @property
    def turns(self) -> int:
        return sum(map(len, self.lives))

    @property
    def carried(self) -> int:
        return self.bytes * self.turns


def lifetimes(session: AgentSession, most: int = MOST_ROWS) -> Map:
    """Four queries; rows in the order of the talk."""
    carriers = _carriers(session, spans(session))
    top = sorted(carriers, key=lambda one: (-one.carried, one.number))[:most]
    shown = sorted((one for one in top if one.turns), key=lambda one: one.number)
    messages = _messages(session, shown)
    turns = session.turns
    return Map(
        rows=[
            _row(one, messages[one.number], turns, place * ROW_HEIGHT)
            for place, one in enumerate(shown)
        ],
        turns=turns,
        carried=sum(one.carried for one in carriers),
        messages=len(carriers),
        cuts=_cuts(session),
        ticks=_ticks(turns),
    )


def _carriers(session: AgentSession, asked: Spans) -> list[_Carrier]:
    found: dict[int, _Carrier] = {}
    born = 0
    lives = session.lives.order_by("number", "from_revision")
    for number, size, turn, begun, ended, fate in lives.values_list(
        *("number", "message__bytes", "message__turn", "from_revision", "to_revision", "fate")
    ):
        born = max(born, turn)
        one = found.setdefault(number, _Carrier(number, size))
        one.fate = "" if ended is None else fate or Fate.DROPPED
        if turns := asked.turns(turn or born, begun, ended):
            one.lives.append(turns)
    return list(found.values())


def _messages(session: AgentSession, shown: Sequence[_Carrier]) -> dict[int, StoredMessage]:
    numbers = [one.number for one in shown]
    rows = session.messages.filter(number__in=numbers).defer("wire", "facts")
    return {row.number: row for row in rows}


def _row(one: _Carrier, message: StoredMessage, turns: int, y: int) -> Row:
    return Row(
        message=message,
        category=max(message.categories, key=message.categories.get, default="user"),
        carried=one.carried,
        turns=one.turns,
        bars=tuple(_bar(life, turns) for life in one.lives),
        fate=one.fate,
        y=y,
    )


def _bar(life: range, turns: int) -> Bar:
    return Bar(
        life.start, life.stop - 1, 100.0 * (life.start - 1) / turns, 100.0 * len(life) / turns
    )


def _cuts(session: AgentSession) -> list[Mark]:
    """Each stands between the turn it was made after and the next."""
    applied = session.stored_compactions.filter(state=CompactionState.APPLIED).order_by("number")
    rows = list(applied.values_list("number", "turn"))
    step = max(1, -(-len(rows) // MOST_NAMES))
    by_turn: dict[int, list[int]] = defaultdict(list)
    for number, turn in rows:
        by_turn[turn].append(number)
    return [
        Mark(
            100.0 * turn / max(session.turns, 1),
            _name(numbers) if place % step == 0 else "",
        )
        for place, (turn, numbers) in enumerate(by_turn.items())
    ]


def _name(numbers: Sequence[int]) -> str:
    """Of the compactions in one place."""
    first, last = numbers[0], numbers[-1]
    return f"C{last}" if first == last else f"C{first}–{last}"


def _ticks(turns: int) -> list[Mark]:
    step = max(1, -(-turns // MOST_TICKS))
    return [Mark(100.0 * (turn - 0.5) / turns, str(turn)) for turn in range(1, turns + 1, step)]
