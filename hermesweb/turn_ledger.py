"""The turns of a session as an account: what each sent, what compacting saved, what it cost."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any

from django.db.models import QuerySet

from agentcore.breakdown import Mark
from agentcore.compaction.result import CompactionState
from agentcore.messages import Role
from hermesweb import spending
from hermesweb.models import AgentSession, StoredMessage, StoredTurn

# Epochs that a page shows.
EPOCHS = 10


@dataclass(frozen=True, slots=True)
class Line:
    """`messages` counts all that was said so far, without system messages; `bytes` is the list at
    the end of the turn, before a compaction, `after` the same after it; `cumulative` sums `bytes`;
    `saved` bytes did not go with this turn because of compactions before it; an `epoch` lies
    between two of them."""

    turn: int
    messages: int
    bytes: int
    action: str | None
    after: int | None
    cumulative: int
    saved: int
    epoch: int
    request_bytes: int
    stable_prefix: int
    break_reason: str | None
    prompt: int | None
    prompt_are: str | None
    cached: int | None
    cost: str | None

    @property
    def facts(self) -> dict[str, Any]:
        values = asdict(self)
        values["break"] = values.pop("break_reason")
        return values


@dataclass(frozen=True, slots=True)
class Epoch:
    """The turns between two compactions; sizes in bytes."""

    number: int
    first: int
    last: int
    peak: int
    input: int
    saved: int


@dataclass(frozen=True, slots=True)
class Total:
    """`peak_request`: the largest list that was sent on; the lists at their peak were compacted
    first. `cached` and `uncached` are tokens of prompts, None where no provider told."""

    turns: int
    cumulative: int
    peak: int
    peak_request: int
    saved: int
    epochs: int
    cached: int | None
    uncached: int | None
    cost: str | None


@dataclass(frozen=True, slots=True)
class TurnLedger:
    lines: tuple[Line, ...]
    epochs: tuple[Epoch, ...]
    total: Total

    @property
    def newest_epochs(self) -> tuple[Epoch, ...]:
        return self.epochs[-EPOCHS:]

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "lines": [line.facts for line in self.lines],
            "epochs": [asdict(epoch) for epoch in self.epochs],
            "total": asdict(self.total),
        }


def turn_ledger(session: AgentSession, newest: int | None = None) -> TurnLedger:
    """All turns, or the `newest` ones; what is summed up is so over all of them."""
    sums = _Sums(session)
    # Of what was summed up: a turn may have ended since.
    turns = session.stored_turns.filter(number__lte=max(sums.numbers, default=0)).order_by("number")
    if newest is not None:
        turns = turns.filter(number__in=sums.numbers[-newest:])
    rows = list(turns)
    said = _said(session, [row.ended_number for row in rows])
    lines = (_line(row, count, sums) for row, count in zip(rows, said, strict=True))
    return TurnLedger(tuple(lines), tuple(sums.epochs()), _total(session, sums))


class _Sums:
    """What is known of every turn from two light queries."""

    def __init__(self, session: AgentSession) -> None:
        turns = session.stored_turns.order_by("number")
        light = list(turns.values_list("number", "bytes"))
        applied = session.stored_compactions.filter(state=CompactionState.APPLIED)
        freed: Counter[int] = Counter()
        for turn, before, after in applied.values_list("turn", "before", "after"):
            freed[turn] += (before or 0) - (after or 0)
        self.numbers = [number for number, _ in light]
        self.sizes = [size for _, size in light]
        self.cumulative = list(accumulate(self.sizes))
        self.kept = [size - freed.get(number, 0) for number, size in light]
        cuts = [freed.get(number, 0) for number in self.numbers]
        self.saved = list(accumulate([0, *cuts]))[:-1]
        self.epoch = list(accumulate([1, *(int(number in freed) for number in self.numbers)]))[:-1]

    def of(self, number: int) -> tuple[int, int, int]:
        """Cumulative bytes, bytes saved, epoch of a turn."""
        place = bisect_right(self.numbers, number) - 1
        return self.cumulative[place], self.saved[place], self.epoch[place]

    def epochs(self) -> Iterator[Epoch]:
        for number in sorted(set(self.epoch)):
            places = [place for place, epoch in enumerate(self.epoch) if epoch == number]
            sizes = [self.sizes[place] for place in places]
            yield Epoch(
                number,
                self.numbers[places[0]],
                self.numbers[places[-1]],
                max(sizes),
                sum(sizes),
                sum(self.saved[place] for place in places),
            )


def _line(row: StoredTurn, said: int, sums: _Sums) -> Line:
    cumulative, saved, epoch = sums.of(row.number)
    prompt, source = spending.prompt(row)
    return Line(
        turn=row.number,
        messages=said,
        bytes=row.bytes,
        action=row.action or None,
        after=row.after,
        cumulative=cumulative,
        saved=saved,
        epoch=epoch,
        request_bytes=row.request_bytes,
        stable_prefix=row.stable_prefix,
        break_reason=row.break_reason or None,
        prompt=prompt,
        prompt_are=source,
        cached=spending.cached(row),
        cost=spending.usd(row.cost),
    )


def _total(session: AgentSession, sums: _Sums) -> Total:
    spent = spending.spent(session) if session.spent else None
    return Total(
        turns=len(sums.numbers),
        cumulative=sum(sums.sizes),
        peak=max(sums.sizes, default=0),
        peak_request=max(sums.kept[:-1], default=0),
        saved=sum(sums.saved),
        epochs=len(set(sums.epoch)),
        cached=spent.cache_read if spent else None,
        uncached=spent.prompt - spent.cache_read if spent else None,
        cost=spending.usd(spending.cost(session)),
    )


def _said(session: AgentSession, ends: Sequence[int]) -> list[int]:
    """How many messages were said up to each of these numbers, which ascend."""
    if not ends:
        return []
    spoken = _spoken(session)
    before = spoken.filter(number__lte=ends[0]).count()
    later = spoken.filter(number__gt=ends[0], number__lte=ends[-1]).order_by("number")
    numbers = list(later.values_list("number", flat=True))
    return [before + bisect_right(numbers, end) for end in ends]


def _spoken(session: AgentSession) -> QuerySet[StoredMessage]:
    """Neither system messages nor what a change of the list bore."""
    system = (Role.SYSTEM, Role.DEVELOPER)
    rows = session.messages.exclude(role__in=system).exclude(mark=Mark.SUMMARY)
    return rows.filter(replaces=None)
