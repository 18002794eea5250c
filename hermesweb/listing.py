"""A page of a session's messages: constant size, by keys, no bodies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import reduce
from operator import or_
from typing import Any
from urllib.parse import urlencode

from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from agentcore.breakdown import Category
from agentcore.compaction.plan import Fate
from hermesweb.models import AgentSession, Compaction, StoredMessage

PAGE_ROWS = 50


class View(StrEnum):
    """What the model sees, or all that was ever said."""

    MODEL = "model"
    ALL = "all"


class Order(StrEnum):
    IN_ORDER = "in_order"
    LARGEST = "largest"


@dataclass(frozen=True, slots=True)
class Choice:
    """Which rows. `before` and `after` are keys (place or bytes, number) of rows beside the page;
    without them it is the newest page, or the one with the largest. `seen`: what is born after that
    message is shown as fresh."""

    view: View = View.MODEL
    order: Order = Order.IN_ORDER
    category: str = ""
    q: str = ""
    before: tuple[int, int] | None = None
    after: tuple[int, int] | None = None
    seen: int | None = None

    @property
    def query(self) -> str:
        """Its part of an address; what is as usual is left out."""
        parts = {
            "view": self.view if self.view is not View.MODEL else "",
            "order": self.order if self.order is not Order.IN_ORDER else "",
            "category": self.category,
            "q": self.q,
            "before": _key_text(self.before),
            "after": _key_text(self.after),
            "seen": self.seen,
        }
        return urlencode({name: value for name, value in parts.items() if value})

    def at(self, **beside: Any) -> Choice:
        return replace(self, **{"before": None, "after": None, "seen": None, **beside})

    @property
    def is_filtered(self) -> bool:
        return bool(self.category or self.q)


@dataclass(frozen=True, slots=True)
class Line:
    """`bar` in percent of the largest row of the page; `share` of the list, None for what left it;
    `born` in that turn or after it, of the session's `turns`; `fate` of the last life that ended,
    empty while one is open; `cut_before` stands above it."""

    message: StoredMessage
    key: tuple[int, int]
    category: str
    bar: float
    share: float | None
    turns: int
    born: int
    fresh: bool = False
    fate: str = ""
    cut_before: Compaction | None = None

    @property
    def alive(self) -> bool:
        return not self.fate

    @property
    def age(self) -> int:
        """In turns."""
        return max(self.turns - self.born, 0)


@dataclass(frozen=True, slots=True)
class Option:
    """A way to show the list, beside the one `now` chosen."""

    label: str
    choice: Choice
    now: Choice

    @property
    def current(self) -> bool:
        return (self.choice.view, self.choice.order) == (self.now.view, self.now.order)


@dataclass(frozen=True, slots=True)
class Page:
    choice: Choice
    lines: list[Line]
    earlier: Choice | None
    later: Choice | None

    @property
    def follows(self) -> bool:
        """Whether what is born now belongs at its end."""
        return self.later is None and self.choice.order is Order.IN_ORDER

    @property
    def again(self) -> str:
        """The address of this page, when something has happened since."""
        last = max((line.message.number for line in self.lines), default=None)
        return replace(self.choice, seen=last).query

    @property
    def newest(self) -> Choice:
        return self.choice.at()

    @property
    def views(self) -> list[Option]:
        return [
            Option("What the model sees", self.choice.at(view=View.MODEL), self.choice),
            Option("Full transcript", self.choice.at(view=View.ALL), self.choice),
        ]

    @property
    def orders(self) -> list[Option]:
        return [
            Option("In order", self.choice.at(order=Order.IN_ORDER), self.choice),
            Option("Largest", self.choice.at(order=Order.LARGEST), self.choice),
        ]

    @property
    def categories(self) -> list[Category]:
        return list(Category)


def page(session: AgentSession, choice: Choice) -> Page:
    """Four queries at most, whatever the length of the session."""
    rows, more_before, more_after = _window(_source(session, choice), choice)
    lines = _lines(session, rows, choice)
    return Page(
        choice=choice,
        lines=lines,
        earlier=choice.at(before=lines[0].key) if lines and more_before else None,
        later=choice.at(after=lines[-1].key) if lines and more_after else None,
    )


def fate_of(session: AgentSession, number: int) -> str:
    """Empty while the message is in the list."""
    return _fates(session, [number]).get(number, "")


def _source(session: AgentSession, choice: Choice) -> QuerySet[StoredMessage]:
    """Rows with their `key`, in no order yet."""
    messages = _light(session.messages.all())
    if choice.view is View.MODEL:
        # Naming the session here too lets the index of lives give the rows in their order.
        messages = messages.filter(lives__session=session, lives__to_revision=None)
        messages = messages.annotate(place=F("lives__place"))
    else:
        messages = messages.annotate(place=F("number"))
    if choice.category:
        messages = messages.filter(categories__has_key=choice.category)
    if choice.q:
        named = ("preview", "tool", "path", "command")
        messages = messages.filter(
            reduce(or_, (Q(**{f"{name}__icontains": choice.q}) for name in named))
        )
    return messages


def _light(messages: QuerySet[StoredMessage]) -> QuerySet[StoredMessage]:
    """Without bodies, with the turn before those that were born outside one."""
    earlier = StoredMessage.objects.filter(
        session=OuterRef("session"), number__lt=OuterRef("number"), turn__gt=0
    )
    turn_before = earlier.order_by("-number").values("turn")[:1]
    return messages.defer("wire", "facts").annotate(turn_before=Subquery(turn_before))


def _window(
    rows: QuerySet[StoredMessage], choice: Choice
) -> tuple[list[StoredMessage], bool, bool]:
    """The rows of the page in its order, and whether there are more on either side."""
    largest_first = choice.order is Order.LARGEST
    field = "bytes" if largest_first else "place"
    # Ascending keys where the page starts after something or at the largest; else from the end.
    forward = choice.after is not None or (largest_first and choice.before is None)
    descending = largest_first == forward
    sign = "-" if descending else ""
    if key := choice.after or choice.before:
        rows = rows.filter(_beyond(field, key, "lt" if descending else "gt"))
    found = list(rows.order_by(f"{sign}{field}", f"{sign}number")[: PAGE_ROWS + 1])
    more = len(found) > PAGE_ROWS
    found = found[:PAGE_ROWS] if forward else found[:PAGE_ROWS][::-1]
    if forward:
        return found, choice.after is not None, more
    return found, more, choice.before is not None


def _beyond(field: str, key: tuple[int, int], sign: str) -> Q:
    first, number = key
    return Q(**{f"{field}__{sign}": first}) | Q(**{field: first, f"number__{sign}": number})


def _lines(session: AgentSession, rows: Sequence[Any], choice: Choice) -> list[Line]:
    largest = max((row.bytes for row in rows), default=0)
    lines = [_line(session, choice, row, largest) for row in rows]
    if choice.view is View.MODEL:
        return lines
    lines = _with_fates(session, lines)
    whole = choice.order is Order.IN_ORDER and not choice.is_filtered
    return _with_cuts(session, lines) if whole else lines


def _line(session: AgentSession, choice: Choice, message: Any, largest: int) -> Line:
    by_size = choice.order is Order.LARGEST
    return Line(
        message=message,
        key=(message.bytes if by_size else message.place, message.number),
        category=max(message.categories, key=message.categories.get, default="user"),
        bar=100.0 * message.bytes / largest if largest else 0.0,
        share=message.bytes / session.bytes if session.bytes else None,
        turns=session.turns,
        born=message.turn or message.turn_before or 0,
        fresh=choice.seen is not None and message.number > choice.seen,
    )


def _with_fates(session: AgentSession, lines: Sequence[Line]) -> list[Line]:
    fates = _fates(session, [line.message.number for line in lines])
    return [
        replace(line, fate=fate, share=None if fate else line.share)
        for line in lines
        for fate in [fates.get(line.message.number, "")]
    ]


def _fates(session: AgentSession, numbers: Sequence[int]) -> dict[int, str]:
    lives = session.lives.filter(number__in=numbers).order_by("from_revision")
    return {
        number: "" if end is None else fate or Fate.DROPPED
        for number, end, fate in lives.values_list("number", "to_revision", "fate")
    }


def _with_cuts(session: AgentSession, lines: Sequence[Line]) -> list[Line]:
    """Each compaction above the first message that it bore."""
    if not lines:
        return []
    span = (lines[0].message.number, lines[-1].message.number)
    changes = session.revisions.filter(last_number__range=span).values_list(
        "number", "last_number", "begun"
    )
    born = {number: last - begun + 1 for number, last, begun in changes}
    compactions: Iterable[Compaction] = session.stored_compactions.filter(revision__in=born)
    above = {born[cut.revision]: cut for cut in compactions if cut.revision is not None}
    return [replace(line, cut_before=above.get(line.message.number)) for line in lines]


def _key_text(key: tuple[int, int] | None) -> str:
    return f"{key[0]}.{key[1]}" if key else ""
