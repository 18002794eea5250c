"""`diff`: what became of each message between two files that hold lists."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from agentcore import diff as lists
from agentcore.breakdown import (
    COLLAPSED_HEADER,
    EXCLUSION_HEADER,
    OMISSION_HEADER,
    SUMMARY_HEADER,
)
from agentcore.commands.told import FINE, PROBLEMS, add_json, kb, opened, tell
from agentcore.compaction.placeholders import MASKED, SNIPPED
from agentcore.compaction.plan import Fate, Origin
from agentcore.messages import Message, Role

# What a note that is new in the list says of the rows that left behind it.
_FATE_UNDER: Mapping[str, Fate] = {
    SUMMARY_HEADER: Fate.SUMMARIZED,
    COLLAPSED_HEADER: Fate.FOLDED,
    EXCLUSION_HEADER: Fate.EXCLUDED,
    OMISSION_HEADER: Fate.DROPPED,
}


def add(commands: Any) -> None:
    command = commands.add_parser(
        "diff", help="what became of each message", description=diff.__doc__
    )
    command.add_argument("before", metavar="BEFORE")
    command.add_argument("after", metavar="AFTER")
    add_json(command)
    command.set_defaults(run=diff)


def diff(chosen: argparse.Namespace) -> int:
    """Compare the lists in force at the end of two files. A message is known by its bytes, a
    result by its call; notes and placeholders say how what they stand for left."""
    recordings = opened(chosen.before), opened(chosen.after)
    before, after = (recording.context() for recording in recordings)
    found = lists.rows(_entries(before, after))
    facts = {"rows": [row.facts for row in found], **lists.totals(found)}
    tell(chosen, facts, _table(found, facts))
    return PROBLEMS if any(recording.problems for recording in recordings) else FINE


def _entries(before: Sequence[Message], after: Sequence[Message]) -> Iterator[lists.Entry]:
    """Rows before are numbered from 1, rows that are new go on from there."""
    matcher = SequenceMatcher(
        None, [_key(one) for one in before], [_key(one) for one in after], autojunk=False
    )
    place, number, fate = 0, len(before), Fate.DROPPED
    for tag, start, stop, first, last in matcher.get_opcodes():
        for message in after[first:last] if tag != "equal" else ():
            place, number = place + 1, number + 1
            size = message.sizes.bytes
            yield lists.Entry(number, place, size, before=False, origin=_origin(message))
            fate = _fate_under(message, fate)
        for row in range(start, stop):
            place += 1
            size = before[row].sizes.bytes
            heir = after[first + row - start] if tag == "equal" else None
            if heir is None:
                yield lists.Entry(row + 1, place, size, after=False, fate=fate)
            elif heir.wire == before[row].wire:
                yield lists.Entry(row + 1, place, size)
            else:
                number += 1
                yield lists.Entry(row + 1, place, size, after=False, fate=_fate_of(heir))
                size = heir.sizes.bytes
                yield lists.Entry(number, place, size, replaces=row + 1, before=False)


def _key(message: Message) -> str:
    return message.tool_call_id or "" if message.role is Role.TOOL else message.wire


def _origin(message: Message) -> Origin:
    if not message.is_summary:
        return Origin.APPENDED
    return Origin.SUMMARY if message.text.startswith(SUMMARY_HEADER) else Origin.NOTE


def _fate_under(note: Message, fate: Fate) -> Fate:
    """The fate of what stood behind a new message: that of a note, else as before."""
    text = note.text if note.is_summary else ""
    return next((one for head, one in _FATE_UNDER.items() if text.startswith(head)), fate)


def _fate_of(heir: Message) -> Fate:
    text = heir.text
    if text.startswith(SNIPPED):
        return Fate.SNIPPED
    return Fate.MASKED if text.startswith(MASKED) else Fate.CUT


def _table(found: Sequence[lists.Row], facts: Mapping[str, Any]) -> list[str]:
    before, after = facts["before"], facts["after"]
    counts = Counter(row.name for row in found)
    lines = [
        f"before {before['messages']} messages, {kb(before['bytes'])}",
        f"after  {after['messages']} messages, {kb(after['bytes'])}",
        ", ".join(f"{count} {name}" for name, count in counts.items()),
    ]
    for row in found:
        if not row.is_unchanged:
            sizes = f"{kb(row.bytes_before):>12}{kb(row.bytes_after):>12}"
            lines.append(f"message {row.number:<7}{row.name:<12}{sizes}")
    return lines
