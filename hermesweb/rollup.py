"""What tools brought into the list, by tool, path and command, and what had to be asked again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from typing import Any

from agentcore.compaction.result import CompactionState
from agentcore.messages import Role
from hermesweb.models import AgentSession
from hermesweb.spans import Spans, spans


class By(StrEnum):
    TOOL = "tool"
    PATH = "path"
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class Row:
    """Of the results of one tool, or about one path or command. `now`: bytes in the window;
    `carried`: bytes times the requests that held them; `repeats`: calls with arguments that were
    used before; `stale`: results in the window that a later call with the same arguments repeated,
    of `stale_bytes`. `bar` in percent of the row that carried most."""

    name: str
    calls: int
    now: int
    carried: int
    repeats: int
    stale: int
    stale_bytes: int
    bar: float = 0.0

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "calls": self.calls,
            "bytes": self.now,
            "carried": self.carried,
            "repeats": self.repeats,
            "stale": self.stale,
            "stale_bytes": self.stale_bytes,
        }


@dataclass(frozen=True, slots=True)
class Again:
    """Result `number` answers the same call as result `first`, which compaction `lost_in` had taken
    out of the list in the meantime: likely, what was known was lost."""

    tool: str
    name: str
    first: int
    number: int
    lost_in: int

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "tool": self.tool,
            "name": self.name,
            "first": self.first,
            "number": self.number,
            "compaction": self.lost_in,
        }


@dataclass(frozen=True, slots=True)
class Rollup:
    rows: dict[By, list[Row]]
    again: list[Again]

    @property
    def facts(self) -> dict[str, Any]:
        return {
            **{by: [row.facts for row in rows] for by, rows in self.rows.items()},
            "again": [one.facts for one in self.again],
        }


@dataclass(slots=True)
class _Result:
    number: int
    tool: str
    path: str
    command: str
    arguments: str
    bytes: int
    born: int
    stands_in: bool
    lives: list[tuple[int, int | None]] = field(default_factory=list)
    repeated: bool = False

    @property
    def is_alive(self) -> bool:
        return self.lives[-1][1] is None

    def named(self, by: By) -> str:
        return self.tool if by is By.TOOL else self.path if by is By.PATH else self.command


def rollup(session: AgentSession) -> Rollup:
    """Three queries. Rows by what they carried, the most first; the newest repeat first."""
    results = _results(session)
    twins = _twins(results)
    for earlier, _ in twins:
        earlier.repeated = True
    asked = spans(session)
    return Rollup({by: _rows(results, by, asked) for by in By}, _again(session, twins))


def _results(session: AgentSession) -> list[_Result]:
    lives = session.lives.filter(message__role=Role.TOOL).order_by("number", "from_revision")
    found: dict[int, _Result] = {}
    born = 0
    for number, tool, path, command, arguments, size, turn, old, begun, ended in lives.values_list(
        *("number", "message__tool", "message__path", "message__command", "message__arguments"),
        *("message__bytes", "message__turn", "message__replaces", "from_revision", "to_revision"),
    ):
        born = max(born, turn)
        if number not in found:
            found[number] = _Result(
                *(number, tool or "tool", path, command, arguments, size),
                born=turn or born,
                stands_in=old is not None,
            )
        found[number].lives.append((begun, ended))
    return list(found.values())


def _twins(results: Iterable[_Result]) -> list[tuple[_Result, _Result]]:
    """Results of calls with the same arguments, each with the next one."""
    alike: dict[str, list[_Result]] = defaultdict(list)
    for one in results:
        if one.arguments and not one.stands_in:
            alike[one.arguments].append(one)
    return [pair for same in alike.values() for pair in pairwise(same)]


def _rows(results: Iterable[_Result], by: By, asked: Spans) -> list[Row]:
    groups: dict[str, list[_Result]] = defaultdict(list)
    for one in results:
        if name := one.named(by):
            groups[name].append(one)
    rows = [_row(name, group, asked) for name, group in groups.items()]
    most = max((row.carried for row in rows), default=0)
    rows.sort(key=lambda row: (-row.carried, -row.now, row.name))
    return [replace(row, bar=100.0 * row.carried / most if most else 0.0) for row in rows]


def _row(name: str, group: Sequence[_Result], asked: Spans) -> Row:
    stale = [one for one in group if one.repeated and one.is_alive]
    return Row(
        name=name,
        calls=sum(not one.stands_in for one in group),
        now=sum(one.bytes for one in group if one.is_alive),
        carried=sum(one.bytes * asked.carried(one.born, one.lives) for one in group),
        repeats=sum(one.repeated for one in group),
        stale=len(stale),
        stale_bytes=sum(one.bytes for one in stale),
    )


def _again(session: AgentSession, twins: Iterable[tuple[_Result, _Result]]) -> list[Again]:
    """Those whose earlier result had left the list when the later one came."""
    applied = session.stored_compactions.filter(state=CompactionState.APPLIED)
    numbers = dict(applied.values_list("revision", "number"))
    found = []
    for earlier, later in twins:
        gone = earlier.lives[-1][1]
        if gone is not None and gone <= later.lives[0][0] and gone in numbers:
            name = later.path or later.command or later.tool
            found.append(Again(later.tool, name, earlier.number, later.number, numbers[gone]))
    return sorted(found, key=lambda one: -one.number)
