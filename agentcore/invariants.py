"""The rules that every list and every compaction keeps (spec-compaction 1), one function a rule.

Each check returns what breaks the rule; an empty list means that it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import compress, islice
from operator import lt

from agentcore.breakdown import byte_length
from agentcore.compaction.plan import CompactionPlan, Fate
from agentcore.messages import Message, Role
from agentcore.said import Said
from agentcore.snapshot import Snapshot, fresh_rows, instruction_rows

# These say themselves why a row left.
_UNTOLD = frozenset({Fate.REPAIRED, Fate.REBUILT})
_MARK = b"\x01"
# Turns the rows that are named into those that are not.
_OTHERS = bytes.maketrans(b"\x00\x01", b"\x01\x00")


class Rule(StrEnum):
    LEGAL = "I1"
    SYSTEM = "I2"
    PINS = "I3"
    TRACE = "I4"
    ARCHIVE = "I5"
    SIZES = "I6"
    SHRINK = "I7"
    FRESH = "I8"
    PROMPT = "I10"


@dataclass(frozen=True, slots=True)
class Violation:
    """`index` is the row of the list that was looked at, or None."""

    rule: Rule
    index: int | None
    detail: str


def check(
    plan: CompactionPlan,
    before: Snapshot,
    after: Snapshot,
    pins: frozenset[int],
    *,
    was_legal: bool = False,
) -> list[Violation]:
    """All rules that a plan could break, on the list that it led to. `was_legal`: I1 was proven of
    the list before, so that it need not be looked at where no pairing changed."""
    named = _named(plan, len(before.messages))
    unnamed, born = _apart(plan, before, after, named)
    return [
        *([] if was_legal and _pairs_alike(plan, before) else legal(after.messages)),
        *system(before, after),
        *_leaving(Rule.PINS, before.indexes_of(pins), before, named),
        *trace(plan),
        *unnamed,
        *_misplaced(after),
        *sizes(after, born),
        *shrink(before, after),
        *fresh(plan, before),
        *_leaving(Rule.PROMPT, instruction_rows(before.messages), before, named),
    ]


def legal(messages: Sequence[Message]) -> list[Violation]:
    """I1: calls and results are paired, and nothing stands between them."""
    found: list[Violation] = []
    open_calls: list[str | None] = []
    tool = Role.TOOL  # looked up once: this reads the whole list
    for index, message in enumerate(messages):
        if message.role is tool:
            try:
                open_calls.remove(message.tool_call_id)
            except ValueError:
                call = repr(message.tool_call_id)
                said = Said("the result {call} answers no open call", call=call)
                found.append(Violation(Rule.LEGAL, index, said))
            continue
        if open_calls:
            found += _unanswered(open_calls, index)
            open_calls = []
        if calls := message.calls:
            open_calls = [call.id for call in calls]
    return found + _unanswered(open_calls, len(messages))


def system(before: Snapshot, after: Snapshot) -> list[Violation]:
    """I2: the leading messages are the current ones."""
    count = before.leading
    if _wires(after.messages[:count]) == _wires(before.messages[:count]):
        return []
    return [Violation(Rule.SYSTEM, 0, Said("the leading messages changed"))]


def trace(plan: CompactionPlan) -> list[Violation]:
    """I4: each row that left is named by a message that was born for it."""
    edges = [cut.stop for cut in plan.removals]
    edges += [run.stop for birth in plan.births for run in birth.covers]
    told = bytearray(max(edges, default=0))
    for birth in plan.births:
        for run in birth.covers if birth.origin else (range(birth.at, birth.at + 1),):
            told[run.start : run.stop] = _MARK * len(run)
    return [
        Violation(
            Rule.TRACE,
            row,
            Said("row {row} leaves as {fate} and nothing says so", row=row, fate=Said(cut.fate)),
        )
        for cut in plan.removals
        if cut.fate not in _UNTOLD and told.find(0, cut.start, cut.stop) >= 0
        for row in range(cut.start, cut.stop)
        if not told[row]
    ]


def archive(plan: CompactionPlan, before: Snapshot, after: Snapshot) -> list[Violation]:
    """I5: what is kept, in its old order, and what the plan names make up the list before, and
    places and numbers keep the order of the list after, by which it is read back."""
    unnamed, _ = _apart(plan, before, after, _named(plan, len(before.messages)))
    return unnamed + _misplaced(after)


def sizes(after: Snapshot, born: Sequence[Message] | None = None) -> list[Violation]:
    """I6: the breakdown sums to the size, to the byte, list and wire texts alike. With `born` only
    those are measured anew: the others never change."""
    wire = sum([one.sizes.bytes for one in after.messages])
    anew = after.messages if born is None else born
    wire += sum([byte_length(one.wire) - one.sizes.bytes for one in anew])
    if wire == after.sizes.bytes == after.sizes.breakdown.total:
        return []
    said = Said(
        "wire {wire}, size {size}, breakdown {breakdown}",
        wire=wire,
        size=after.sizes.bytes,
        breakdown=after.sizes.breakdown.total,
    )
    return [Violation(Rule.SIZES, None, said)]


def shrink(before: Snapshot, after: Snapshot) -> list[Violation]:
    """I7: smaller than before."""
    if after.sizes.bytes < before.sizes.bytes:
        return []
    said = Said("{old} bytes became {new}", old=before.sizes.bytes, new=after.sizes.bytes)
    return [Violation(Rule.SHRINK, None, said)]


def fresh(plan: CompactionPlan, before: Snapshot) -> list[Violation]:
    """I8: results that no reply has seen yet stay, or are cut to their share."""
    rows = fresh_rows(before.messages)
    cuts = [(max(cut.start, rows.start), min(cut.stop, rows.stop), cut) for cut in plan.removals]
    fates = [(row, cut.fate) for start, stop, cut in cuts for row in range(start, stop)]
    fates += [(row, some.fate) for some in plan.replaced for row in rows if row in some.messages]
    return [
        Violation(
            Rule.FRESH,
            row,
            Said("message {number} is {fate}", number=before.messages[row].number, fate=Said(fate)),
        )
        for row, fate in fates
        if fate is not Fate.CUT
    ]


def _pairs_alike(plan: CompactionPlan, before: Snapshot) -> bool:
    """Whether rows were replaced and nothing else, each by one with the same role, calls and id."""
    if plan.removals or plan.births:
        return False
    messages = before.messages
    for some in plan.replaced:
        for row, new in some.messages.items():
            old = messages[row]
            if old.role is not new.role or old.tool_call_id != new.tool_call_id:
                return False
            if old.calls != new.calls:
                return False
    return True


def _named(plan: CompactionPlan, count: int) -> bytearray:
    """One byte a row of the list before: whether the plan names it."""
    named = bytearray(count)
    for cut in plan.removals:
        named[cut.start : cut.stop] = _MARK * (cut.stop - cut.start)
    for some in plan.replaced:
        for row in some.messages:
            named[row] = 1
    return named


def _apart(
    plan: CompactionPlan, before: Snapshot, after: Snapshot, named: bytearray
) -> tuple[list[Violation], list[Message]]:
    """I3 and I5: what the plan does not name is there, the very same and in its old order; all
    else was born by the plan. And what was born."""
    kept = [*compress(before.messages, named.translate(_OTHERS)), None]
    place, found = 0, []
    born: list[Message] = []
    for message in after.messages:
        if message is kept[place]:
            place += 1
        else:
            born.append(message)
    if missing := kept[place]:
        row = [row for row, gone in enumerate(named) if not gone][place]
        said = Said("message {number} is neither kept nor named", number=missing.number)
        found.append(Violation(Rule.ARCHIVE, row, said))
    count = len(plan.births) + sum(len(some.messages) for some in plan.replaced)
    if len(born) != count:
        said = Said(
            "{born} messages were not in the list before, the plan bears {count}",
            born=len(born),
            count=count,
        )
        found.append(Violation(Rule.ARCHIVE, None, said))
    return found, born


def _misplaced(after: Snapshot) -> list[Violation]:
    places, messages = after.places, after.messages
    if all(map(lt, places, islice(places, 1, None))):
        return []
    return [
        Violation(
            Rule.ARCHIVE,
            row,
            Said("message {number} would be read back before", number=messages[row].number),
        )
        for row in range(1, len(messages))
        if not _reads_back(places[row - 1 : row + 1], messages[row - 1], messages[row])
    ]


def _reads_back(places: tuple[int, ...], first: Message, second: Message) -> bool:
    """Whether the second comes second by (place, number); what has none yet gets a higher one."""
    if places[0] != places[1]:
        return places[0] < places[1]
    return not second.number or 0 < first.number < second.number


def _leaving(
    rule: Rule, rows: Sequence[int], before: Snapshot, named: bytearray
) -> list[Violation]:
    """I3 and I10: these rows stay."""
    return [
        Violation(rule, row, Said("message {number} is gone", number=before.messages[row].number))
        for row in rows
        if named[row]
    ]


def _unanswered(open_calls: Sequence[str | None], index: int) -> list[Violation]:
    return [
        Violation(
            Rule.LEGAL,
            index,
            Said("the call {call} has no result before this row", call=repr(call)),
        )
        for call in open_calls
    ]


def _wires(messages: Sequence[Message]) -> list[str]:
    return [message.wire for message in messages]
