"""The list at one state: a tuple of references with its totals."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from operator import sub

from agentcore.breakdown import Breakdown, Sizes, total
from agentcore.ledger.extract import with_facts
from agentcore.messages import Message, MessageLike, Role, ToolCall, as_message

PLACES_A_NUMBER = 4


@dataclass(frozen=True, slots=True)
class State:
    """REV.NUMBER: the revision in force and the last message born then."""

    revision: int
    last_number: int

    def __str__(self) -> str:
        return f"{self.revision}.{self.last_number}"


@dataclass(slots=True)
class Outline:
    """What is known of a list so that nobody reads all of it: its results by tool, and the rows
    whose number does not follow that of the row before. Grows with the list."""

    tools: Counter[str] = field(default_factory=Counter)
    breaks: list[int] = field(default_factory=list)
    _rows: int = 0
    _last: int = 0

    @classmethod
    def of(cls, messages: Iterable[Message]) -> Outline:
        outline = cls()
        for message in messages:
            outline.add(message)
        return outline

    def add(self, message: Message) -> None:
        """The message that comes next."""
        if message.number != self._last + 1:
            self.breaks.append(self._rows)
        self._rows, self._last = self._rows + 1, message.number
        if message.role is Role.TOOL:
            self.tools[message.tool or "tool"] += 1

    def copy(self) -> Outline:
        return Outline(self.tools.copy(), self.breaks.copy(), self._rows, self._last)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`places` order the messages; `sizes` are the sums over them (design: place is 4 x number
    for a message as born). `known`: where it was kept while the list grew."""

    messages: tuple[Message, ...]
    places: tuple[int, ...]
    sizes: Sizes
    state: State
    known: Outline | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, messages: Iterable[MessageLike], *, facts: bool = False) -> Snapshot:
        """Number and measure a plain list. Messages that have a number keep it, the first one
        where two have the same; the others get the next ones. Results learn their tool from the
        call. With `facts` those of each message are found now, unless it has them."""
        numbered = _numbered(_with_tools(as_message(value) for value in messages))
        if facts:
            numbered = [with_facts(message) for message in numbered]
        return cls(
            tuple(numbered),
            _places(numbered),
            total(message.sizes for message in numbered),
            State(0, max((message.number for message in numbered), default=0)),
            Outline.of(numbered),
        )

    @property
    def leading(self) -> int:
        """How many system messages stand in front, up to the first summary or note."""
        return next(
            (index for index, message in enumerate(self.messages) if not message.is_leading),
            len(self.messages),
        )

    def group_at(self, index: int) -> range:
        """The tool group that the message at `index` belongs to, else that message alone."""
        return group_at(self.messages, index)

    def tools_in(self, runs: Sequence[range]) -> Counter[str]:
        """The results in these rows, by tool; the smaller side is counted where that is enough."""
        rest = rows_between(runs, len(self.messages))
        if self.known is None or sum(map(len, rest)) > sum(map(len, runs)):
            return _tools(self.messages, runs)
        return self.known.tools - _tools(self.messages, rest)

    def numbers_in(self, runs: Iterable[range]) -> tuple[range, ...]:
        """The numbers of these rows, as runs in their order."""
        found: list[range] = []
        for rows in filter(None, runs):
            edges = [rows.start, *self._breaks_in(rows), rows.stop]
            for start, stop in pairwise(edges):
                first = self.messages[start].number
                goes_on = bool(found) and found[-1].stop == first
                first = found.pop().start if goes_on else first
                found.append(range(first, self.messages[stop - 1].number + 1))
        return tuple(found)

    def _breaks_in(self, rows: range) -> Sequence[int]:
        """Rows behind the first of these whose number does not follow on."""
        if len(rows) == 1:
            return ()
        if self.known is not None:
            breaks = self.known.breaks
            return breaks[bisect_right(breaks, rows.start) : bisect_left(breaks, rows.stop)]
        numbers = [message.number for message in self.messages[rows.start : rows.stop]]
        steps = enumerate(map(sub, numbers[1:], numbers), rows.start + 1)
        return [row for row, step in steps if step != 1]

    def indexes_of(self, numbers: frozenset[int]) -> list[int]:
        if not numbers:
            return []
        return [index for index, one in enumerate(self.messages) if one.number in numbers]


def group_at(messages: Sequence[Message], index: int) -> range:
    """An assistant message with calls and the results that follow it, or a single message."""
    start = index
    while start > 0 and messages[start].role is Role.TOOL:
        start -= 1
    if not messages[start].calls:
        return range(index, index + 1)
    stop = start + 1
    while stop < len(messages) and messages[stop].role is Role.TOOL:
        stop += 1
    return range(start, stop)


def rows_between(runs: Sequence[range], count: int) -> list[range]:
    """What the runs, in their order, leave of the rows of a list."""
    edges = [0, *(edge for run in runs for edge in (run.start, run.stop)), count]
    return [range(*rows) for rows in zip(edges[::2], edges[1::2], strict=True) if rows[0] < rows[1]]


def _tools(messages: Sequence[Message], runs: Sequence[range]) -> Counter[str]:
    tool = Role.TOOL
    gone = chain.from_iterable(messages[run.start : run.stop] for run in runs)
    return Counter([one.tool or "tool" for one in gone if one.role is tool])


def newest_group(messages: Sequence[Message]) -> range:
    """Rows of the newest tool group, seen or not; none without calls."""
    for row in range(len(messages) - 1, -1, -1):
        if messages[row].calls:
            return group_at(messages, row)
    return range(0)


def open_calls(messages: Sequence[Message]) -> dict[int, ToolCall]:
    """The calls of the newest reply without a result, by their place in it."""
    rows = newest_group(messages)
    if not rows or rows.stop < len(messages):
        return {}
    answered = {messages[row].tool_call_id for row in rows[1:]}
    calls = enumerate(messages[rows.start].calls)
    return {place: call for place, call in calls if call.id not in answered}


def settled(snapshot: Snapshot) -> Snapshot:
    """The list without a newest reply whose calls have no result yet: what a plan can be made on
    while a tool runs, or waits for a person."""
    messages = snapshot.messages
    if not open_calls(messages):
        return snapshot
    stop = newest_group(messages).start
    return Snapshot(
        messages[:stop],
        snapshot.places[:stop],
        total(message.sizes for message in messages[:stop]),
        State(snapshot.state.revision, messages[stop].number - 1),
    )


def fresh_rows(messages: Sequence[Message]) -> range:
    """Rows of the newest tool group while no assistant message follows it; else none."""
    row = len(messages) - 1
    while row >= 0 and messages[row].role is not Role.ASSISTANT:
        row -= 1
    return group_at(messages, row) if row >= 0 and messages[row].calls else range(0)


def instruction_rows(messages: Sequence[Message]) -> list[int]:
    """Rows of the user messages after the last final answer; at least of the last one."""
    rows: list[int] = []
    answered = False
    tool, assistant = Role.TOOL, Role.ASSISTANT  # looked up once: this may read a whole history
    for row in range(len(messages) - 1, -1, -1):
        message = messages[row]
        if message.role is tool or message.calls:
            continue
        if message.role is assistant:
            if rows:
                break
            answered = True
        elif message.is_instruction:
            rows.append(row)
            if answered:
                break
    return rows[::-1]


def measure(messages: Iterable[MessageLike]) -> Breakdown:
    """Bytes per category of a list of dicts or Messages."""
    return total(as_message(message).sizes for message in messages).breakdown


def _with_tools(messages: Iterable[Message]) -> Iterator[Message]:
    tools: dict[str, str] = {}
    for message in messages:
        for call in message.calls:
            tools[call.id] = call.name
        if message.role is Role.TOOL and message.tool is None:
            message = replace(message, tool=tools.get(message.tool_call_id or ""))
        yield message


def _numbered(messages: Iterable[Message]) -> list[Message]:
    listed = list(messages)
    last = max((message.number for message in listed), default=0)
    taken = {0}
    for row, message in enumerate(listed):
        if message.number in taken:
            last += 1
            listed[row] = message.numbered(last)
        taken.add(listed[row].number)
    return listed


def _places(messages: Sequence[Message]) -> tuple[int, ...]:
    """As born, but for one that stands before a lower number, as a note does: just before it."""
    places: list[int] = []
    following = None
    for message in reversed(messages):
        place = message.number * PLACES_A_NUMBER
        if following is not None:
            place = min(place, places[-1] - (message.number > following.number))
        places.append(place)
        following = message
    return tuple(reversed(places))
