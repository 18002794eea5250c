"""The diff of a compaction as rows and bands: lives that its revision ended and began."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import ClassVar, TypeAlias

from django.db.models import Q

from agentcore import diff
from agentcore.compaction.plan import Fate, Origin
from agentcore.events import EventKind
from agentcore.snapshot import State
from hermesweb.models import AgentSession, Compaction, Life, Revision, StoredMessage

# Of a run of rows alike the first and the last are shown, the rest folded.
FOLD_OVER = 5
FOLD_HEAD = 3
BANDS = 60
OPEN_ROWS = 100


@dataclass(frozen=True, slots=True)
class Cell:
    message: StoredMessage
    bytes: int
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
    """Neighbours with one fate or origin, beside what is there now. `heir` is the number of the
    summary or note that they went into where it stands in another band."""

    name: str
    before: list[Cell | Fold]
    after: list[Cell | Fold]
    heir: int | None = None


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
    rows: list[Placed] = field(default_factory=list)
    added: list[Placed] = field(default_factory=list)

    def add(self, place: int, row: diff.Row) -> None:
        (self.rows if row.fate else self.added).append((place, row))


def rows_of(session: AgentSession, compaction: Compaction) -> list[diff.Row]:
    """Two light queries over the lives of both lists; empty where nothing was changed."""
    if compaction.revision is None:
        return []
    change = session.revisions.filter(number=compaction.revision).first()
    return diff.rows(_entries(session, change)) if change else []


def between(session: AgentSession, start: State, end: State) -> list[diff.Row]:
    """What the way from one state to a later one did to each row; over several revisions the last
    fate holds."""
    held = Q(to_revision=None) | Q(to_revision__gt=start.revision)
    lives = session.lives.filter(held, from_revision__lte=end.revision).select_related("message")
    found: dict[int, diff.Entry] = {}
    for life in lives.defer("message__wire", "message__facts").order_by("from_revision"):
        before, after = _holds(life, start), _holds(life, end)
        known = found.get(life.number)
        if before or after or known:
            found[life.number] = _over(known, life, before, after)
    return diff.rows(entry for entry in found.values() if entry.before or entry.after)


def counts(rows: Iterable[diff.Row]) -> Counter[str]:
    """Rows a fate or origin, in the order of the closed lists."""
    found = Counter(row.name for row in rows)
    return Counter({name: found[name] for name in (*Fate, *Origin) if found[name]})


def shown(
    session: AgentSession,
    rows: Sequence[diff.Row],
    *,
    fate: str = "",
    note: int | None = None,
    start: int = 0,
    unfolded: bool = False,
) -> Shown:
    """A page of constant size; messages are loaded for what it shows alone."""
    heirs = _heirs(session, rows)
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
    return Shown(_bands(session, page, unfolded), next(following, None))


def _entries(session: AgentSession, change: Revision) -> list[diff.Entry]:
    lives = session.lives.filter(
        Q(to_revision=None) | Q(to_revision__gte=change.number),
        from_revision__lte=change.number,
        number__lte=change.last_number,
    )
    pins = _pins_then(session, change)
    return [
        diff.Entry(
            number=number,
            place=place,
            bytes=size,
            pinned=pins.get(number, pinned),
            replaces=replaces,
            before=begun < change.number,
            after=ended is None or ended > change.number,
            fate=Fate(fate) if ended == change.number and fate else None,
            ended_stage=ended_stage if ended == change.number else "",
            origin=Origin(origin) if begun == change.number and origin else None,
            begun_stage=begun_stage if begun == change.number else "",
        )
        for (
            number, place, size, pinned, replaces, begun, ended, fate, ended_stage, origin,
            begun_stage,
        ) in lives.values_list(
            "number", "place", "message__bytes", "message__pinned", "message__replaces",
            "from_revision", "to_revision", "fate", "ended_stage", "origin", "begun_stage",
        )
    ]  # fmt: skip


def _holds(life: Life, state: State) -> bool:
    return (
        life.from_revision <= state.revision
        and life.number <= state.last_number
        and (life.to_revision is None or life.to_revision > state.revision)
    )


def _over(known: diff.Entry | None, life: Life, before: bool, after: bool) -> diff.Entry:
    """The entry of a message after one more of its lives."""
    return diff.Entry(
        number=life.number,
        place=life.place,
        bytes=life.message.bytes,
        pinned=life.message.pinned,
        replaces=life.message.replaces,
        before=before or bool(known and known.before),
        after=after,
        fate=Fate(life.fate) if life.fate and not after else None,
        ended_stage=life.ended_stage,
        origin=Origin(life.origin) if life.origin else None,
        begun_stage=life.begun_stage,
    )


def _pins_then(session: AgentSession, change: Revision) -> dict[int, bool]:
    """What pins set or taken away since the change were at the change."""
    kinds = (EventKind.PINNED, EventKind.UNPINNED)
    later = session.events.filter(kind__in=kinds, at__gt=change.at).order_by("-seq")
    pins: dict[int, bool] = {}
    for kind, facts in later.values_list("kind", "data"):
        pins |= dict.fromkeys(facts["numbers"], kind == EventKind.UNPINNED)
    return pins


def _heirs(session: AgentSession, rows: Sequence[diff.Row]) -> dict[int, int]:
    """By the number of a row that went: the summary or note that stands for it."""
    added = [row.number for row in rows if row.fate is None]
    there = {row.number for row in rows if row.fate and not row.is_unchanged}
    stored = session.messages.filter(number__in=added).values_list("number", "stands_for")
    return {
        number: heir
        for heir, ranges in stored
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
            runs.append(Run(following[1].name, row.number, added=[(place, row)]))
        elif row.fate is None and last.heir == row.number:
            last.added.append((place, row))
        elif (last.name, last.heir) == (row.name, heirs.get(row.number)):
            last.add(place, row)
        else:
            runs.append(Run(row.name, heirs.get(row.number)))
            runs[-1].add(place, row)
    return runs


def _bands(session: AgentSession, runs: Sequence[Run], unfolded: bool) -> list[Band]:
    kept = [_folded(run.rows, unfolded) for run in runs]
    messages = _messages(session, runs, kept)
    return [
        Band(
            run.name,
            before=[_cell(part, messages, after=False) for part in parts],
            after=[
                *(_cell(part, messages, after=True) for part in run.added),
                *(_cell(part, messages, after=True) for part in parts if _stands(part)),
            ],
            heir=run.heir if not run.added else None,
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
    return Cell(messages[(after and row.replaced_by) or row.number], sizes[0])
