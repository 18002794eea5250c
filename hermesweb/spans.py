"""In how many requests a message was sent: the turns that were asked while it was in the list."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Max, Min

from hermesweb.models import AgentSession


@dataclass(frozen=True, slots=True)
class Spans:
    """First and last turn asked at each revision at which any was, in order."""

    revisions: tuple[int, ...]
    first: tuple[int, ...]
    last: tuple[int, ...]

    def turns(self, born: int, begun: int, ended: int | None) -> range:
        """The turns that carried what was born in turn `born` (0: before the first) and in the
        list from revision `begun` until `ended`."""
        start = bisect_left(self.revisions, begun)
        stop = len(self.revisions) if ended is None else bisect_left(self.revisions, ended)
        if start >= stop:
            return range(0)
        return range(max(self.first[start], born + 1), self.last[stop - 1] + 1)

    def carried(self, born: int, lives: Iterable[tuple[int, int | None]]) -> int:
        """Of all lives together."""
        return sum(len(self.turns(born, begun, ended)) for begun, ended in lives)


def spans(session: AgentSession) -> Spans:
    groups = session.stored_turns.values_list("requested_revision").annotate(
        first=Min("number"), last=Max("number")
    )
    rows = list(groups.order_by("requested_revision"))
    revisions, first, last = zip(*rows, strict=True) if rows else ((), (), ())
    return Spans(revisions, first, last)
