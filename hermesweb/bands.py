"""A diff as bands: rows alike beside what is there now, folded and paged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, ClassVar, TypeAlias

from agentcore import diff
from hermesweb import diffs
from hermesweb.models import AgentSession, StoredMessage

# Of a run of rows alike the first and the last are shown, the rest folded.
FOLD_OVER = 5
FOLD_HEAD = 3
BANDS = 60
OPEN_ROWS = 100
NONE: Mapping[int, StoredMessage] = {}


@dataclass(frozen=True, slots=True)
class Cell:
    """`rewrites`: the number of the message that it stands for, word by word to be compared."""

    message: StoredMessage
    bytes: int
    rewrites: int | None = None
    is_fold: ClassVar[bool] = False

    @property
    def category(self) -> str:
        parts = self.message.categories
        return max(parts, key=parts.get, default="user")

    @property
    def stands_for(self) -> int:
        """How many messages it was made from."""
        return sum(last - first + 1 for first, last in self.message.stands_for)


@dataclass(frozen=True, slots=True)
class Fold:
    """`rows` left out, from message `first` to `last`; `start` is where to open them."""

    rows: int
    first: int
    last: int
    bytes: int
    start: int
    is_fold: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Band:
    """Neighbours with one fate or origin by one stage, beside what is there now. `heir` is the
    number of the summary or note that they went into where it stands in another band."""

    name: str
    before: list[Cell | Fold]
    after: list[Cell | Fold]
    heir: int | None = None
    stage: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """A page of the diff; `next_start` is the first row of the next one."""

    bands: list[Band]
    next_start: int | None


# A row with its place in the whole diff.
Placed: TypeAlias = tuple[int, diff.Row]


@dataclass(slots=True)
class Run:
    """Rows alike; `added` are the rows that stand for them, `heir` the number of such a row."""

    name: str
    heir: int | None
    stage: str = ""
    rows: list[Placed] = field(default_factory=list)
    added: list[Placed] = field(default_factory=list)

    def add(self, place: int, row: diff.Row) -> None:
        (self.rows if row.fate else self.added).append((place, row))


def shown(
    session: AgentSession,
    rows: Sequence[diff.Row],
    *,
    fate: str = "",
    note: int | None = None,
    start: int = 0,
    unfolded: bool = False,
    unborn: Mapping[int, StoredMessage] = NONE,
) -> Shown:
    """A page of constant size; messages are loaded for what it shows alone. `unborn`: by number,
    those that a plan would bear."""
    heirs = _heirs(session, rows, unborn)
    placed = [
        (place, row)
        for place, row in enumerate(rows)
        if place >= start
        and (not fate or row.name == fate)
        and (not note or note in (row.number, heirs.get(row.number)))
    ]
    limit = OPEN_ROWS if unfolded else len(placed)
    runs = _runs(placed[:limit], heirs)
    page = runs[:BANDS]
    last = max((place for run in page for place, _ in (*run.rows, *run.added)), default=-1)
    following = (place for place, _ in placed if place > last)
    return Shown(_bands(session, page, unfolded, unborn), next(following, None))


def context(
    session: AgentSession,
    rows: Sequence[diff.Row],
    chosen: Mapping[str, Any],
    unborn: Mapping[int, StoredMessage] = NONE,
) -> dict[str, Any]:
    """What the template of a diff takes besides its addresses; `chosen`: the checked values of a
    DiffChoice, or none of them."""
    fate, note, start = chosen.get("fate", ""), chosen.get("note"), chosen.get("start") or 0
    unfolded = chosen.get("open", False)
    return {
        "fate": fate,
        "note_number": note,
        "start": start,
        "totals": diff.totals(rows),
        "counts": list(diffs.counts(rows).items()),
        "shown": shown(
            session, rows, fate=fate, note=note, start=start, unfolded=unfolded, unborn=unborn
        ),
    }


def _heirs(
    session: AgentSession, rows: Sequence[diff.Row], unborn: Mapping[int, StoredMessage]
) -> dict[int, int]:
    """By the number of a row that went: the summary or note that stands for it."""
    added = [row.number for row in rows if row.fate is None]
    there = {row.number for row in rows if row.fate and not row.is_unchanged}
    stored = session.messages.filter(number__in=added).values_list("number", "stands_for")
    coming = ((number, message.stands_for) for number, message in unborn.items())
    return {
        number: heir
        for heir, ranges in (*stored, *coming)
        for first, last in ranges
        for number in range(first, last + 1)
        if number in there
    }


def _runs(placed: Sequence[Placed], heirs: Mapping[int, int]) -> list[Run]:
    """What stands for its neighbours is put beside them; else it is a run of its own."""
    runs: list[Run] = []
    for (place, row), following in zip_longest(placed, placed[1:]):
        last = runs[-1] if runs else Run("", None)
        if row.fate is None and following and heirs.get(following[1].number) == row.number:
            name, stage = following[1].name, following[1].stage
            runs.append(Run(name, row.number, stage, added=[(place, row)]))
        elif row.fate is None and last.heir == row.number:
            last.added.append((place, row))
        elif (last.name, last.heir, last.stage) == (row.name, heirs.get(row.number), row.stage):
            last.add(place, row)
        else:
            runs.append(Run(row.name, heirs.get(row.number), row.stage))
            runs[-1].add(place, row)
    return runs


def _bands(
    session: AgentSession,
    runs: Sequence[Run],
    unfolded: bool,
    unborn: Mapping[int, StoredMessage],
) -> list[Band]:
    kept = [_folded(run.rows, unfolded) for run in runs]
    messages = {**_messages(session, runs, kept), **unborn}
    return [
        Band(
            run.name,
            before=[_cell(part, messages, after=False) for part in parts],
            after=[
                *(_cell(part, messages, after=True) for part in run.added),
                *(_cell(part, messages, after=True) for part in parts if _stands(part)),
            ],
            heir=run.heir if not run.added else None,
            stage=run.stage,
        )
        for run, parts in zip(runs, kept, strict=True)
    ]


# A row, or the rows that are left out.
Part: TypeAlias = "Placed | list[Placed]"


def _folded(rows: list[Placed], unfolded: bool) -> list[Part]:
    if unfolded or len(rows) <= FOLD_OVER:
        return list(rows)
    return [*rows[:FOLD_HEAD], rows[FOLD_HEAD:-1], rows[-1]]


def _placed(part: Part) -> Iterator[Placed]:
    yield from part if isinstance(part, list) else [part]


def _stands(part: Part) -> bool:
    """Whether something stands in its place in the list after."""
    return all(row.index_after is not None for _, row in _placed(part))


def _messages(
    session: AgentSession, runs: Sequence[Run], kept: Sequence[Sequence[Part]]
) -> dict[int, StoredMessage]:
    rows = [part[1] for parts in kept for part in parts if not isinstance(part, list)]
    rows += [row for run in runs for _, row in run.added]
    numbers = {row.number for row in rows} | {row.replaced_by for row in rows if row.replaced_by}
    found = session.messages.defer("wire", "facts").filter(number__in=numbers)
    return {message.number: message for message in found}


def _cell(part: Part, messages: Mapping[int, StoredMessage], *, after: bool) -> Cell | Fold:
    sizes = [(row.bytes_after if after else row.bytes_before) or 0 for _, row in _placed(part)]
    if isinstance(part, list):
        numbers = [row.number for _, row in part]
        return Fold(len(part), min(numbers), max(numbers), sum(sizes), part[0][0])
    row = part[1]
    if after and row.replaced_by:
        return Cell(messages[row.replaced_by], sizes[0], rewrites=row.number)
    return Cell(messages[row.number], sizes[0])
