"""The rules that every list and every compaction keeps (spec-compaction 1), one function a rule.

Each check returns what breaks the rule; an empty list means that it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from agentcore.breakdown import byte_length
from agentcore.compaction.plan import CompactionPlan, Fate
from agentcore.messages import Message, Role
from agentcore.snapshot import Snapshot, fresh_rows, instruction_rows


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
    plan: CompactionPlan, before: Snapshot, after: Snapshot, pins: frozenset[int]
) -> list[Violation]:
    """All rules that a plan could break, on the list that it led to."""
    return [
        *legal(after.messages),
        *system(before, after),
        *pinned(before, after, pins),
        *trace(plan),
        *archive(plan, before, after),
        *sizes(after, before),
        *shrink(before, after),
        *fresh(plan, before),
        *prompt(before, after),
    ]


def legal(messages: Sequence[Message]) -> list[Violation]:
    """I1: calls and results are paired, and nothing stands between them."""
    found: list[Violation] = []
    open_calls: list[str] = []
    tool = Role.TOOL  # looked up once: this reads the whole list
    for index, message in enumerate(messages):
        if message.role is tool:
            if message.tool_call_id in open_calls:
                open_calls.remove(message.tool_call_id)
            else:
                text = f"the result {message.tool_call_id!r} answers no open call"
                found.append(Violation(Rule.LEGAL, index, text))
            continue
        if open_calls:
            found += _unanswered(open_calls, index)
        open_calls = [call.id for call in message.calls] if message.calls else []
    return found + _unanswered(open_calls, len(messages))


def system(before: Snapshot, after: Snapshot) -> list[Violation]:
    """I2: the leading messages are the current ones."""
    count = before.leading
    if _wires(after.messages[:count]) == _wires(before.messages[:count]):
        return []
    return [Violation(Rule.SYSTEM, 0, "the leading messages changed")]


def pinned(before: Snapshot, after: Snapshot, pins: frozenset[int]) -> list[Violation]:
    """I3: every pin is there, byte for byte, in its old order among what is kept."""
    kept_before = _survivors(before, after)
    kept_after = _survivors(after, before)
    present = {message.number: message.wire for message in after.messages}
    found = [
        Violation(Rule.PINS, index, f"the pinned message {before.messages[index].number} is gone")
        for index in before.indexes_of(pins)
        if present.get(before.messages[index].number) != before.messages[index].wire
    ]
    if kept_before != kept_after:
        found.append(Violation(Rule.PINS, None, "kept messages changed their order"))
    return found


def trace(plan: CompactionPlan) -> list[Violation]:
    """I4: each row that left is named by a message that was born for it."""
    told = {birth.at for birth in plan.births if birth.origin is None}
    told.update(row for birth in plan.births for run in birth.covers for row in run)
    return [
        Violation(Rule.TRACE, row, f"row {row} leaves as {cut.fate} and nothing says so")
        for cut in plan.removals
        if cut.fate not in (Fate.REPAIRED, Fate.REBUILT)
        for row in range(cut.start, cut.stop)
        if row not in told
    ]


def archive(plan: CompactionPlan, before: Snapshot, after: Snapshot) -> list[Violation]:
    """I5: what is kept and what the plan names make up the list before, and places and numbers
    keep the order of the list after, by which it is read back."""
    named = {
        before.messages[row].number for cut in plan.removals for row in range(cut.start, cut.stop)
    }
    kept = {message.number for message in after.messages}
    unnamed = [
        Violation(Rule.ARCHIVE, index, f"message {message.number} is neither kept nor named")
        for index, message in enumerate(before.messages)
        if (message.number in named) == (message.number in kept)
    ]
    return unnamed + _misplaced(after)


def sizes(after: Snapshot, before: Snapshot | None = None) -> list[Violation]:
    """I6: the breakdown sums to the size, to the byte, list and wire texts alike. Messages of
    `before` are taken as measured: they never change."""
    known = {id(message) for message in before.messages} if before else set()
    wire = sum(
        one.sizes.bytes if id(one) in known else byte_length(one.wire) for one in after.messages
    )
    if wire == after.sizes.bytes == after.sizes.breakdown.total:
        return []
    text = f"wire {wire}, size {after.sizes.bytes}, breakdown {after.sizes.breakdown.total}"
    return [Violation(Rule.SIZES, None, text)]


def shrink(before: Snapshot, after: Snapshot) -> list[Violation]:
    """I7: smaller than before."""
    if after.sizes.bytes < before.sizes.bytes:
        return []
    text = f"{before.sizes.bytes} bytes became {after.sizes.bytes}"
    return [Violation(Rule.SHRINK, None, text)]


def fresh(plan: CompactionPlan, before: Snapshot) -> list[Violation]:
    """I8: results that no reply has seen yet stay, or are cut to their share."""
    rows = set(fresh_rows(before.messages))
    return [
        Violation(Rule.FRESH, row, f"message {before.messages[row].number} is {cut.fate}")
        for cut in plan.removals
        for row in range(cut.start, cut.stop)
        if row in rows and cut.fate is not Fate.CUT
    ]


def prompt(before: Snapshot, after: Snapshot) -> list[Violation]:
    """I10: what the user said since the last final answer is alive."""
    return _missing(Rule.PROMPT, instruction_rows(before.messages), before, after)


def _misplaced(after: Snapshot) -> list[Violation]:
    order = [(place, one.number) for place, one in zip(after.places, after.messages, strict=True)]
    return [
        Violation(Rule.ARCHIVE, index, f"message {second[1]} would be read back before its row")
        for index, (first, second) in enumerate(pairwise(order), 1)
        if first >= second
    ]


def _unanswered(open_calls: Sequence[str], index: int) -> list[Violation]:
    text = "the call {!r} has no result before this row"
    return [Violation(Rule.LEGAL, index, text.format(call)) for call in open_calls]


def _missing(rule: Rule, rows: Sequence[int], before: Snapshot, after: Snapshot) -> list[Violation]:
    alive = {message.number for message in after.messages}
    return [
        Violation(rule, row, f"message {before.messages[row].number} is gone")
        for row in rows
        if before.messages[row].number not in alive
    ]


def _survivors(one: Snapshot, other: Snapshot) -> list[int]:
    numbers = {message.number for message in other.messages}
    return [message.number for message in one.messages if message.number in numbers]


def _wires(messages: Sequence[Message]) -> list[str]:
    return [message.wire for message in messages]
