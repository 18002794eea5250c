"""A session that anything may happen to, as a hypothesis rule machine. Where it is stored is the
caller's: in memory, or by the real recorder. After every step all rules hold, and every list that
there ever was can be rebuilt byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol

from histories import WORDS, Value, answer, group, system, user, with_picture
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from agentcore import PRESETS, Profile, Snapshot
from agentcore.breakdown import NOTHING
from agentcore.compaction.compact import Summarize, drive, pressure_of
from agentcore.compaction.edits import exclude_plan, new_topic_plan, restore_plan, undo_plan
from agentcore.compaction.pipeline import run_pipeline
from agentcore.compaction.plan import CompactionPlan, Revision
from agentcore.compaction.repair import repair
from agentcore.compaction.result import CompactionResult, Trigger
from agentcore.compaction.strategies import STRATEGIES
from agentcore.context import Context
from agentcore.errors import ModelError, PlanError
from agentcore.events import EventKind
from agentcore.invariants import check, legal, sizes
from agentcore.messages import Message, Role, read
from agentcore.options import Stage, SummaryFailure
from agentcore.snapshot import PLACES_A_NUMBER, State

# Of the lists that there were, how many are rebuilt after each step.
REBUILT = 4
# A change of the list that is no compaction.
Edit = tuple[EventKind, Snapshot, CompactionPlan, Revision]


class Store(Protocol):
    """Where a session lies. `at` gives the list at any state that there was."""

    def added(self, messages: Sequence[Message]) -> None: ...
    def compacted(self, result: CompactionResult, profile: Profile) -> None: ...
    def edited(self, edit: Edit) -> None: ...
    def pinned(self, number: int, pin: bool) -> None: ...
    def pins(self) -> frozenset[int]: ...
    def now(self) -> Snapshot: ...
    def at(self, state: State) -> Snapshot: ...


class Memory:
    """Messages as wire texts, and their lives: (number, place, from, to)."""

    def __init__(self) -> None:
        self._wires: dict[int, tuple[str, dict[str, Any]]] = {}
        self._lives: list[list[int | None]] = []
        self._pins: set[int] = set()
        self._state = State(0, 0)

    def added(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._begin(message, message.number * PLACES_A_NUMBER, self._state.revision)
            self._state = State(self._state.revision, message.number)

    def compacted(self, result: CompactionResult, profile: Profile) -> None:
        assert result.revision is not None
        self._revise(result.revision)

    def edited(self, edit: Edit) -> None:
        self._revise(edit[3])

    def pinned(self, number: int, pin: bool) -> None:
        (self._pins.add if pin else self._pins.discard)(number)

    def pins(self) -> frozenset[int]:
        return frozenset(self._pins)

    def now(self) -> Snapshot:
        return self.at(self._state)

    def at(self, state: State) -> Snapshot:
        alive = sorted(
            (place, number)
            for number, place, begun, ended in self._lives
            if begun <= state.revision  # type: ignore[operator]
            and (ended is None or ended > state.revision)
            and number <= state.last_number  # type: ignore[operator]
        )
        messages = tuple(self._message(number) for _, number in alive)  # type: ignore[arg-type]
        whole = Snapshot.of(messages)
        return Snapshot(messages, tuple(place for place, _ in alive), whole.sizes, state)  # type: ignore[arg-type]

    def _revise(self, revision: Revision) -> None:
        for life in self._lives:
            if life[3] is None and life[0] in revision.ended:
                life[3] = revision.number
        for message, place in revision.begun:
            self._begin(message, place, revision.number)
        self._state = State(revision.number, revision.last_number)

    def _begin(self, message: Message, place: int, revision: int) -> None:
        names = ("mark", "tool", "status", "original", "turn", "replaces", "stands_for")
        known = {name: getattr(message, name) for name in names}
        self._wires.setdefault(message.number, (message.wire, known))
        self._lives.append([message.number, place, revision, None])

    def _message(self, number: int) -> Message:
        wire, known = self._wires[number]
        return read(wire, number=number, **known)


def say_so(text: str, *, max_words: int) -> str:
    return "so far"


def fail(text: str, *, max_words: int) -> str:
    raise ModelError("the model is down")


def essay(text: str, *, max_words: int) -> str:
    return "word " * 2_000


class SessionMachine(RuleBasedStateMachine):
    """Subclasses say where it is stored."""

    make_store: ClassVar[Callable[[], Store]] = Memory
    steps: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        self.store: Store = type(self).make_store()
        self.context = Context()
        self.groups = 0
        self.was: list[tuple[State, list[tuple[int, int, str]]]] = []
        self.last: tuple[Snapshot, Revision] | None = None
        self.known: dict[int, tuple[Message, int]] = {}

    @initialize(texts=st.lists(WORDS, max_size=2), first=WORDS)
    def begin(self, texts: list[str], first: str) -> None:
        self._add(*(system(text) for text in texts), user(first))

    @rule(text=WORDS, times=st.sampled_from([1, 1, 30]))
    def say(self, text: str, times: int) -> None:
        self._add(user(text * times))

    @rule(text=WORDS, times=st.sampled_from([1, 30]))
    def reply(self, text: str, times: int) -> None:
        self._add(answer(text * times))

    @rule(
        texts=st.lists(WORDS, min_size=1, max_size=4),
        times=st.sampled_from([1, 40, 400]),
        said=st.none() | WORDS,
        shown=st.booleans(),
    )
    def use_tools(self, texts: list[str], times: int, said: str | None, shown: bool) -> None:
        self.groups += 1
        *rest, last = group(self.groups, [text * times for text in texts], said)
        self._add(*rest, with_picture(last) if shown else last)

    @rule(data=st.data())
    def pin(self, data: st.DataObject) -> None:
        self.store.pinned(data.draw(st.sampled_from(self._numbers())), True)

    @precondition(lambda self: self.store.pins())
    @rule(data=st.data())
    def unpin(self, data: st.DataObject) -> None:
        self.store.pinned(data.draw(st.sampled_from(sorted(self.store.pins()))), False)

    @rule(
        name=st.sampled_from([*sorted(PRESETS), *sorted(STRATEGIES)]),
        keep=st.integers(0, 6),
        share=st.sampled_from([0.05, 0.3, 0.8]),
        trigger=st.sampled_from([Trigger.THRESHOLD, Trigger.MANUAL]),
        summarize=st.sampled_from([None, say_so, fail, essay]),
        on_failure=st.sampled_from(SummaryFailure),
    )
    def compact(
        self,
        name: str,
        keep: int,
        share: float,
        trigger: Trigger,
        summarize: Summarize | None,
        on_failure: SummaryFailure,
    ) -> None:
        budget = max(50, int(self.context.sizes.bytes * share))
        profile = _profile(name, keep, budget, on_failure)
        pins = self.store.pins()
        result = self._run(profile, trigger, pins, summarize)
        if not result.changed:
            assert result.reason is not None and result.new is result.old
            return
        assert check(result.plan, result.old, result.new, pins) == []
        self._change(result.old, self.context.apply(result.plan))
        self.store.compacted(result, profile)
        if trigger is Trigger.THRESHOLD:
            assert not self._run(profile, trigger, pins, summarize).changed

    @precondition(lambda self: self.last is not None)
    @rule()
    def undo(self) -> None:
        assert self.last is not None
        before, revision = self.last
        placed = zip(before.messages, before.places, strict=True)
        ended = [one for one in placed if one[0].number in revision.ended]
        begun = frozenset(message.number for message, _ in revision.begun)
        if begun & self.store.pins():
            return  # what a person pinned since is not taken out by going back
        if not self._edit(EventKind.UNDONE, lambda now: undo_plan(now, ended, begun)):
            return
        old, new = rows_of(before), rows_of(self.context.snapshot())
        numbers = {number for number, _, _ in old}
        assert [row for row in new if row[0] in numbers] == old

    @rule(data=st.data())
    def exclude(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(self._numbers()))
        pins = self.store.pins()
        self._edit(EventKind.EXCLUDED, lambda now: exclude_plan(now, [number], pins))

    @precondition(lambda self: self.known.keys() > set(self._numbers()))
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        """What left comes back with its group; what stands in for it goes."""
        number = data.draw(st.sampled_from(sorted(self.known.keys() - set(self._numbers()))))
        group = self._group_of(number)
        stand_ins = self._stand_ins(group)
        if stand_ins & self.store.pins():
            return  # a pinned placeholder stays until a person unpins it
        back, pins = [self.known[one] for one in group], self.store.pins()
        if self._edit(EventKind.RESTORED, lambda now: restore_plan(now, back, stand_ins, pins)):
            assert set(group) <= set(self._numbers())
            assert stand_ins.isdisjoint(self._numbers())

    @rule()
    def new_topic(self) -> None:
        pins = self.store.pins()
        self._edit(EventKind.TOPIC_STARTED, lambda now: new_topic_plan(now, pins))

    @rule()
    def crash_and_resume(self) -> None:
        """What is stored is the whole of it, and nothing of it needs a repair."""
        here, stored = self.context.snapshot(), self.store.now()
        assert rows_of(stored) == rows_of(here)
        assert (stored.sizes, stored.state) == (here.sizes, here.state)
        assert repair(stored)[0].is_empty
        self.context = Context(stored)

    @invariant()
    def every_rule_holds(self) -> None:
        type(self).steps += 1
        now = self.context.snapshot()
        assert legal(now.messages) == [] and sizes(now) == []
        assert self.context.sizes == (Snapshot.of(now.messages).sizes if now.messages else NOTHING)
        assert self.store.pins() <= {message.number for message in now.messages}
        for state, rows in self.was[-REBUILT:]:
            assert rows_of(self.store.at(state)) == rows

    def teardown(self) -> None:
        for state, rows in self.was:
            assert rows_of(self.store.at(state)) == rows

    def _add(self, *values: Value) -> None:
        added = [self.context.append(value) for value in values]
        self.known |= {one.number: (one, one.number * PLACES_A_NUMBER) for one in added}
        self.store.added(added)

    def _numbers(self) -> list[int]:
        return [message.number for message in self.context.messages]

    def _group_of(self, number: int) -> list[int]:
        """A call with its results, as they were born; else the message alone."""
        born = {key: one for key, (one, _) in sorted(self.known.items()) if one.replaces is None}
        first = number
        while first in born and born[first].role is Role.TOOL:
            first -= 1
        if number not in born or first not in born or not born[first].calls:
            return [number]
        return [first, *range(first + 1, first + 1 + len(born[first].calls))]

    def _stand_ins(self, numbers: Sequence[int]) -> frozenset[int]:
        """What replaced them, through however many replacements."""
        found, heirs = frozenset[int](), frozenset(numbers)
        while heirs:
            heirs = frozenset(key for key, (one, _) in self.known.items() if one.replaces in heirs)
            found |= heirs
        return found

    def _run(
        self,
        profile: Profile,
        trigger: Trigger,
        pins: frozenset[int],
        summarize: Summarize | None,
    ) -> CompactionResult:
        snapshot = self.context.snapshot()
        run = run_pipeline(
            snapshot, profile, pressure_of=pressure_of(profile), trigger=trigger, pins=pins
        )
        return drive(run, summarize)

    def _edit(self, kind: EventKind, plan_of: Callable[[Snapshot], CompactionPlan]) -> bool:
        """False where the list refuses the change; it is as it was then."""
        before = self.context.snapshot()
        try:
            plan = plan_of(before)
        except PlanError:
            return False
        revision = self.context.apply(plan, kind)
        self.store.edited((kind, before, plan, revision))
        self._change(before, revision)
        return True

    def _change(self, before: Snapshot, revision: Revision) -> None:
        self.was.append((before.state, rows_of(before)))
        self.last = before, revision
        self.known |= {message.number: (message, place) for message, place in revision.begun}


def rows_of(snapshot: Snapshot) -> list[tuple[int, int, str]]:
    """Number, place and wire text of each message, in order."""
    placed = zip(snapshot.messages, snapshot.places, strict=True)
    return [(message.number, place, message.wire) for message, place in placed]


def _profile(name: str, keep: int, budget: int, on_failure: SummaryFailure) -> Profile:
    if name in PRESETS:
        profile = PRESETS[name].replace(budget=budget, unit="bytes", min_gain=0.0)
    else:
        profile = PRESETS["balanced"].replace(
            stages=(Stage(name, at=0.5, keep=keep),),
            budget=budget,
            unit="bytes",
            target=0.3,
            min_gain=0.0,
        )
    return Profile.of({**profile.values(), "summary": {"on_failure": on_failure}})
