"""A list on its way through the stages: each works on what the one before left, and all of it
comes out as one plan on the list that they began with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import TypeAlias

from agentcore.breakdown import total
from agentcore.compaction.plan import (
    Birth,
    CompactionPlan,
    Fate,
    Removal,
    Replaced,
    Revision,
    apply_plan,
    check_rows,
    places_of,
    runs_of,
    sizes_after,
    spliced,
)
from agentcore.messages import Message
from agentcore.snapshot import Snapshot, State

# Where a row comes from: a row of the first list, or a birth whose rows are those of that list.
Source: TypeAlias = int | Birth
Told: TypeAlias = tuple[Fate, str]
_KEPT: Told = (Fate.KEPT, "")


class Draft:
    """Never changes; `advance` makes the next one, so that a stage can be rolled back. What a stage
    bears has no number yet: the next one may take it out again."""

    def __init__(
        self,
        base: Snapshot,
        snapshot: Snapshot | None = None,
        sources: Sequence[Source] = (),
        told: Sequence[Told] = (),
    ) -> None:
        self._base = base
        self.snapshot = snapshot or base
        # A range while every row is still where it was.
        self._sources = sources if snapshot else range(len(base.messages))
        # The fate of each row of the first list, and the stage that it has it from.
        self._told = told or [_KEPT] * len(base.messages)

    def advance(self, plan: CompactionPlan) -> Draft:
        """The list after a plan that was made on `snapshot`. The last fate of a row holds. Raises
        PlanError for rows that are not there."""
        check_rows(plan, self.snapshot)
        if plan.removals or plan.births:
            return self._with_moves(plan.spelled_out())
        return self._replaced(plan)

    def outcome(self) -> tuple[CompactionPlan, Snapshot, Revision]:
        """Everything so far as one plan on the first list, and what that leads to."""
        plan = self._plan()
        return plan.spelled_out(), *apply_plan(plan, self._base, self.snapshot.sizes)

    def _replaced(self, plan: CompactionPlan) -> Draft:
        """Row for row, so that nothing moves."""
        before = self.snapshot
        messages, told, sizes = list(before.messages), list(self._told), before.sizes
        sources = self._sources
        for some in plan.replaced:
            sizes = sizes - total([messages[row].sizes for row in some.messages])
            sizes = sizes + total([message.sizes for message in some.messages.values()])
            said = some.fate, some.stage
            is_first = isinstance(sources, range)
            for row, message in some.messages.items():
                messages[row] = message
                if is_first:
                    told[row] = said
            if not is_first:
                sources = _tell_each(told, sources, some, said)
        after = Snapshot(tuple(messages), before.places, sizes, _next(before.state))
        return Draft(self._base, after, sources, told)

    def _with_moves(self, plan: CompactionPlan) -> Draft:
        before, told = self.snapshot, list(self._told)
        for cut in plan.removals:
            _tell(told, self._rows([range(cut.start, cut.stop)]), (cut.fate, cut.stage))
        place_of = places_of(plan, before)
        born = [self._born(birth) for birth in plan.births]
        messages = spliced(plan, before.messages, [message for message, _ in born])
        after = Snapshot(
            tuple(messages),
            tuple(spliced(plan, before.places, list(map(place_of, plan.births)))),
            sizes_after(before, plan, messages),
            _next(before.state),
        )
        sources = spliced(plan, self._sources, [source for _, source in born])
        return Draft(self._base, after, sources, told)

    def _born(self, birth: Birth) -> tuple[Message, Source]:
        """The message as the next stage sees it, without its number. What replaces a row comes from
        where that row did; all else with its rows said as those of the first list."""
        message, base = birth.message, self._base
        is_last = birth.at == len(self._sources)
        source = len(base.messages) if is_last else self._sources[birth.at]
        at = source if isinstance(source, int) else source.at
        if birth.origin is None:
            old = self.snapshot.messages[birth.at]
            replaces = old.number or old.replaces
            message = message.born_as(message.number, replaces, message.stands_for)
            if isinstance(source, int):
                return message, source
            return message, replace(source, message=message)
        covers = self._rows(birth.covers)
        stands_for = base.numbers_in(covers) if covers else message.stands_for
        message = message.born_as(message.number, message.replaces, stands_for)
        return message, replace(birth, at=at, covers=covers, message=message)

    def _rows(self, runs: Iterable[range]) -> tuple[range, ...]:
        """Rows of the first list that these rows are or stand for."""
        if isinstance(self._sources, range):
            return tuple(runs)
        found: list[int] = []
        for run in runs:
            for source in self._sources[run.start : run.stop]:
                if isinstance(source, int):
                    found.append(source)
                else:
                    found += chain.from_iterable(source.covers)
        return runs_of(found)

    def _plan(self) -> CompactionPlan:
        base, gone = self._base.messages, list(self._told)
        births: list[Birth] = []
        replaced: dict[Told, dict[int, Message]] = {}
        for source, message in zip(self._sources, self.snapshot.messages, strict=True):
            if not isinstance(source, int):
                births.append(source)
            elif message is not base[source]:
                replaced.setdefault(gone[source], {})[source] = message
                gone[source] = _KEPT
        some = [Replaced(*told, messages) for told, messages in replaced.items()]
        removals = tuple(_removals(gone))
        return CompactionPlan(self._base.state, removals, tuple(births), replaced=tuple(some))


def _removals(gone: Sequence[Told]) -> Iterator[Removal]:
    row = 0
    for told, run in groupby(gone):
        stop = row + len(list(run))
        if told is not _KEPT:
            yield Removal(row, stop, *told)
        row = stop


def _tell_each(
    told: list[Told], sources: Sequence[Source], some: Replaced, said: Told
) -> list[Source]:
    """The sources, where a note among them got another message."""
    found = list(sources)
    for row, message in some.messages.items():
        source = found[row]
        if isinstance(source, int):
            told[source] = said
        else:
            found[row] = replace(source, message=message)
            _tell(told, source.covers, said)
    return found


def _tell(told: list[Told], runs: Iterable[range], said: Told) -> None:
    for run in runs:
        told[run.start : run.stop] = [said] * len(run)


def _next(state: State) -> State:
    return State(state.revision + 1, state.last_number)
