"""`compact`: compact the list of a file once, without a model."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentcore import diff
from agentcore.commands.told import (
    FINE,
    PROBLEMS,
    add_json,
    add_profile,
    kb,
    note,
    opened,
    printable,
    profile,
    section,
    tell,
)
from agentcore.compaction.compact import compact as compact_list
from agentcore.compaction.compact import pressure_of
from agentcore.compaction.plan import apply_plan
from agentcore.compaction.repair import repair
from agentcore.compaction.result import CompactionResult
from agentcore.errors import InputError
from agentcore.ledger.survival import as_json
from agentcore.messages import Message
from agentcore.presets import PRESETS
from agentcore.snapshot import Snapshot
from agentcore.transcripts import Recording
from agentcore.transcripts.base import ProblemKind
from agentcore.verify import Verification, verify


def add(commands: Any) -> None:
    command = commands.add_parser(
        "compact", help="compact a list once", description=compact.__doc__
    )
    command.add_argument("file", metavar="FILE")
    command.add_argument("--preset", choices=[*PRESETS], required=True)
    add_profile(command)
    command.add_argument("--force", action="store_true", help="also where nothing is due")
    command.add_argument(
        "--pin", type=int, nargs="+", default=[], metavar="INDEX", help="keep these, from 0"
    )
    command.add_argument("--out", metavar="FILE", help="write the list after, as a JSON array")
    add_json(command)
    command.set_defaults(run=compact)


def compact(chosen: argparse.Namespace) -> int:
    """Compact the list in force at the end of a recording. No model is asked: summaries are made
    from the ledger of facts."""
    came = _whole(chosen.file, opened(chosen.file)).snapshot()
    wanted = profile(chosen.preset, chosen)
    plan, repairs = repair(came)
    before = came if plan.is_empty else apply_plan(plan, came)[0]
    for number, reason in repairs:
        note(f"repaired: message {number}: {reason}")
    pins = _pins(chosen.pin, came, before)
    rows = frozenset(before.indexes_of(pins))
    result = compact_list(before, wanted, rows, force=chosen.force)
    checked = verify(before, result.new, result.plan, pressure_of(wanted)(result.new))
    changes = diff.entries(came, result.new, [(plan, came), (result.plan, before)], pins=pins)
    facts = _facts(result, checked, diff.rows(changes))
    if chosen.out:
        _write(chosen.out, result.new.messages)
        if not chosen.json:
            note(f"{chosen.out}: {len(result.new.messages)} messages written")
    tell(chosen, facts, _table(facts))
    return FINE if checked.ok and not repairs else PROBLEMS


def _whole(file: str, recording: Recording) -> Recording:
    """Refuse a list of which a part could not be read: what came out would not be the same list
    with less in it."""
    for problem in recording.problems:
        if problem.kind is ProblemKind.BAD_MESSAGE:
            where = f"line {problem.line}: " if problem.line else ""
            raise InputError(f"{file}: {where}{problem.detail}: such a list is not compacted")
    return recording


def _pins(indexes: Sequence[int], came: Snapshot, before: Snapshot) -> frozenset[int]:
    """Numbers of the messages at these indexes of the list as it came."""
    count = len(came.messages)
    left = {message.number for message in before.messages}
    for index in indexes:
        if not 0 <= index < count:
            raise InputError(f"--pin {index}: the list has the indexes 0 to {count - 1}")
        if came.messages[index].number not in left:
            raise InputError(f"--pin {index}: this message is repaired and not kept as it is")
    return frozenset(came.messages[index].number for index in indexes)


def _facts(
    result: CompactionResult, checked: Verification, rows: Sequence[diff.Row]
) -> dict[str, Any]:
    born = {message.number: message for message in result.new.messages}
    return {
        "changed": result.changed,
        "reason": result.reason,
        "before": _size(result.old),
        "after": _size(result.new),
        "stages": [{"stage": one.stage, "freed": one.freed} for one in result.stages],
        "checks": [
            {"check": one.check, "ok": one.ok, "detail": one.detail} for one in checked.checks
        ],
        "survival": as_json(checked.survival),
        "fates": [_fate(row) for row in rows if row.fate and not row.is_unchanged],
        "added": [_added(row, born[row.number]) for row in rows if row.fate is None],
    }


def _size(snapshot: Snapshot) -> dict[str, Any]:
    sizes = snapshot.sizes
    breakdown = {str(category): size for category, size in sizes.breakdown.items()}
    return {"size": sizes.bytes, "breakdown": breakdown}


def _fate(row: diff.Row) -> dict[str, Any]:
    return {
        "number": row.number,
        "index": row.index_before,
        "fate": row.fate,
        "stage": row.stage or None,
        "bytes_before": row.bytes_before,
        "bytes_after": row.bytes_after,
    }


def _added(row: diff.Row, message: Message) -> dict[str, Any]:
    """`stands_for`: first and last number of each run of messages."""
    return {
        "number": row.number,
        "origin": row.origin,
        "bytes": row.bytes_after,
        "stands_for": [[run.start, run.stop - 1] for run in message.stands_for],
    }


def _write(path: str, messages: Sequence[Message]) -> None:
    """As one JSON array, each message byte for byte its wire form."""
    try:
        Path(path).write_text(f"[{','.join(message.wire for message in messages)}]\n", "utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be written: {error}") from error


def _table(facts: dict[str, Any]) -> list[str]:
    before, after = facts["before"]["size"], facts["after"]["size"]
    head = f"{kb(before)} to {kb(after)}" if facts["changed"] else f"unchanged: {facts['reason']}"
    fates = Counter(str(row["fate"]) for row in facts["fates"])
    origins = Counter(str(row["origin"]) for row in facts["added"])
    survival = facts["survival"].items()
    lines = [head]
    lines += section(
        "stages", [f"{one['stage']:<16}{kb(one['freed']):>12}" for one in facts["stages"]]
    )
    lines += section("not kept", [f"{name:<16}{count:>12}" for name, count in fates.items()])
    lines += section("added", [f"{name:<16}{count:>12}" for name, count in origins.items()])
    lines += section("checks", [_check_line(one) for one in facts["checks"]])
    lines += section("facts", [_kept_line(kind, told) for kind, told in survival])
    return lines


def _check_line(one: dict[str, Any]) -> str:
    return printable(f"{'ok  ' if one['ok'] else 'FAIL'} {one['check']:<18}{one['detail']}")


def _kept_line(kind: str, told: dict[str, Any]) -> str:
    total = told["kept"] + len(told["lost"])
    lost = "; ".join(f"{fact['text'][:60]} (message {fact['number']})" for fact in told["lost"][:3])
    return printable(f"{kind:<16}{told['kept']} of {total}{', lost: ' if lost else ''}{lost}")
