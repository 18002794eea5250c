"""A page of a session's messages: constant size, by keys, no bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import reduce
from operator import or_
from typing import Any
from urllib.parse import urlencode

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext as _

from agentcore.breakdown import Category
from agentcore.compaction.plan import Fate
from hermesweb.lines import Line, lines, with_cuts
from hermesweb.models import AgentSession, Life, StoredMessage

# A screen and a half: what is fetched and laid out for one look.
PAGE_ROWS = 32
ALIVE = "alive"
# Columns that a search looks at.
NAMED = ("preview", "tool", "path", "command")
# What can have become of a message that left the list.
FATES = tuple(fate for fate in Fate if fate not in (Fate.KEPT, Fate.PINNED))
SIZES = (1_000, 4_000, 16_000, 64_000)


class View(StrEnum):
    """What the model sees, or all that was ever said."""

    MODEL = "model"
    ALL = "all"


class Order(StrEnum):
    IN_ORDER = "in_order"
    LARGEST = "largest"


@dataclass(frozen=True, slots=True)
class Choice:
    """Which rows. `whole`: `q` is looked for in whole texts, with their secrets where it is `raw`.
    `fate`: only what left the list by it, or `alive`; `size`: bytes at least. `before` and `after`
    are keys (place or bytes, number) of rows beside the page; without them it is the one that
    begins with `message`, which is shown opened, else the newest page, or that of the largest.
    `seen`: what is born after that message is shown as fresh.
    """

    view: View = View.MODEL
    order: Order = Order.IN_ORDER
    category: str = ""
    q: str = ""
    whole: bool = False
    raw: bool = False
    fate: str = ""
    size: int = 0
    message: int | None = None
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
            "whole": int(self.whole),
            "raw": int(self.raw),
            "fate": self.fate,
            "size": self.size,
            "message": self.message,
            "before": _key_text(self.before),
            "after": _key_text(self.after),
            "seen": self.seen,
        }
        return urlencode({name: value for name, value in parts.items() if value})

    @property
    def filter_query(self) -> str:
        """What an address on many messages takes over of it."""
        fate = self.fate if self.fate != ALIVE else ""
        return Choice(category=self.category, q=self.q, fate=fate, size=self.size).query

    def at(self, **beside: Any) -> Choice:
        return replace(
            self, **{"before": None, "after": None, "seen": None, "message": None, **beside}
        )

    @property
    def searches(self) -> bool:
        return bool(self.whole and self.q)

    @property
    def is_filtered(self) -> bool:
        return bool(self.category or self.q or self.fate or self.size)


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
        """The page that follows what is born."""
        return self.choice.at(order=Order.IN_ORDER)

    @property
    def table(self) -> Choice:
        return replace(self.choice.at(), whole=False, raw=False)

    @property
    def views(self) -> list[Option]:
        return [
            Option(_("What the model sees"), self.choice.at(view=View.MODEL), self.choice),
            Option(_("Full transcript"), self.choice.at(view=View.ALL), self.choice),
        ]

    @property
    def orders(self) -> list[Option]:
        return [
            Option(_("In order"), self.choice.at(order=Order.IN_ORDER), self.choice),
            Option(_("Largest"), self.choice.at(order=Order.LARGEST), self.choice),
        ]

    @property
    def categories(self) -> list[Category]:
        return list(Category)

    @property
    def fates(self) -> list[str]:
        return list(FATES)

    @property
    def sizes(self) -> tuple[int, ...]:
        return SIZES


def page(session: AgentSession, choice: Choice) -> Page:
    """Eight queries at most, whatever the length of the session."""
    found = source(session, choice)
    rows, more_before, more_after = _window(session, found, _around(found, choice))
    shown = _lines(session, rows, choice)
    return Page(
        choice=choice,
        lines=shown,
        earlier=choice.at(before=shown[0].key) if shown and more_before else None,
        later=choice.at(after=shown[-1].key) if shown and more_after else None,
    )


def source(session: AgentSession, choice: Choice) -> QuerySet[StoredMessage]:
    """Rows with their `place`, in no order yet."""
    messages = session.messages.all()
    if choice.view is View.MODEL:
        messages = messages.filter(_alive(session, choice.order))
        messages = messages.annotate(place=F("lives__place"))
    else:
        messages = messages.annotate(place=F("number"))
    if choice.fate:
        messages = _of_fate(messages, choice.fate)
    if choice.size:
        messages = messages.filter(bytes__gte=choice.size)
    if choice.category:
        messages = messages.filter(categories__has_key=choice.category)
    if choice.q:
        named = (Q(**{f"{name}__icontains": choice.q}) for name in NAMED)
        messages = messages.filter(reduce(or_, named))
    return messages


def _alive(session: AgentSession, order: Order) -> Q:
    """Rows in the list, by the index that gives them in their order: that of lives has their
    places, that of messages their sizes."""
    if order is Order.LARGEST:
        return Q(lives__to_revision=None, lives__place__gte=0)
    return Q(lives__session=session, lives__to_revision=None)


def _around(rows: QuerySet[Any], choice: Choice) -> Choice:
    """With a message named and no page, the page that begins a little before it."""
    if choice.message is None or choice.before or choice.after:
        return choice
    largest_first = choice.order is Order.LARGEST
    field = "bytes" if largest_first else "place"
    key = rows.filter(number=choice.message).values_list(field, flat=True).first()
    if key is None:
        return choice
    nearer = rows.filter(_beyond(field, (key, choice.message), "gt"))[:PAGE_ROWS].count()
    if nearer < PAGE_ROWS:
        return choice
    return replace(choice, after=(key, choice.message + (1 if largest_first else -1)))


def _of_fate(messages: QuerySet[StoredMessage], fate: str) -> QuerySet[StoredMessage]:
    lives = Life.objects.filter(message=OuterRef("pk"))
    is_alive = Exists(lives.filter(to_revision=None))
    if fate == ALIVE:
        return messages.filter(is_alive)
    return messages.filter(~is_alive, Exists(lives.filter(fate=fate)))


def light(messages: QuerySet[StoredMessage]) -> QuerySet[StoredMessage]:
    """Without bodies; with the turn before those that were born outside one, and the last result
    of the same call before it."""
    earlier = StoredMessage.objects.filter(
        session=OuterRef("session"), number__lt=OuterRef("number"), turn__gt=0
    )
    turn_before = earlier.order_by("-number").values("turn")[:1]
    same = StoredMessage.objects.filter(
        session=OuterRef("session"),
        arguments=OuterRef("arguments"),
        number__lt=OuterRef("number"),
        replaces=None,
    ).exclude(arguments="")
    same_before = same.order_by("-number").values("number")[:1]
    return messages.defer("wire", "facts").annotate(
        turn_before=Subquery(turn_before), same_before=Subquery(same_before)
    )


def _placed(session: AgentSession, places: Mapping[int, int]) -> list[Any]:
    """Rows by primary key, in that order, each with its `place`."""
    rows: dict[int, Any] = light(session.messages.all()).in_bulk(list(places))
    for key, place in places.items():
        rows[key].place = place
    return [rows[key] for key in places]


def _window(
    session: AgentSession, rows: QuerySet[Any], choice: Choice
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
    # First the keys alone: what is told beside them costs a look-up a row.
    ordered = rows.order_by(f"{sign}{field}", f"{sign}number")
    places = dict(ordered.values_list("pk", "place")[: PAGE_ROWS + 1])
    found = _placed(session, places)
    more = len(found) > PAGE_ROWS
    found = found[:PAGE_ROWS] if forward else found[:PAGE_ROWS][::-1]
    if forward:
        return found, choice.after is not None, more
    return found, more, choice.before is not None


def _beyond(field: str, key: tuple[int, int], sign: str) -> Q:
    """The bound on the first part is told apart, so that an index can begin there."""
    first, number = key
    beside = Q(**{f"{field}__{sign}": first}) | Q(**{f"number__{sign}": number})
    return Q(**{f"{field}__{sign}e": first}) & beside


def _lines(session: AgentSession, rows: Sequence[Any], choice: Choice) -> list[Line]:
    by_size = choice.order is Order.LARGEST
    found = lines(session, rows, by_size=by_size, seen=choice.seen)
    whole = choice.view is View.ALL and not by_size and not choice.is_filtered
    return with_cuts(session, found) if whole else found


def _key_text(key: tuple[int, int] | None) -> str:
    return f"{key[0]}.{key[1]}" if key else ""
