"""Stage 1: the oldest tool results shrink to a line (spec-compaction 4)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from agentcore.compaction.placeholders import snipped
from agentcore.compaction.plan import CompactionPlan, Fate, runs_of
from agentcore.compaction.replacing import Replacements
from agentcore.compaction.strategy import Situation, is_reached
from agentcore.errors import WireError
from agentcore.messages import Message, Role, ToolCall
from agentcore.snapshot import Snapshot, group_at, newest_group
from agentcore.wire import loads

NAME = "snip"


class Snip:
    priority = 20

    def should_trigger(self, situation: Situation) -> bool:
        return is_reached(situation)

    def compact(self, situation: Situation) -> CompactionPlan:
        """The newest `keep` results stay, pins and the newest group whatever its size."""
        found = Replacements(situation, NAME, Fate.SNIPPED)
        found.offer_needed(_oldest_first(situation, found), partial(snipped, now=situation.now))
        return found.plan()


def _oldest_first(situation: Situation, found: Replacements) -> Iterator[int]:
    """Rows of results, group by group; in the group where the target comes within reach, the stale
    ones first."""
    snapshot = situation.snapshot
    rows = result_rows(snapshot, situation.stage.keep)
    if not found.within_reach(rows):
        yield from rows
        return
    for run in runs_of(rows):
        if len(run) > 1 and found.within_reach(run):
            yield from sorted(run, key=lambda row: not _is_stale(snapshot, row))
        else:
            yield from run


def result_rows(snapshot: Snapshot, keep: int) -> list[int]:
    """Rows of the results but for the newest `keep`, and for those of the newest group."""
    tool = Role.TOOL
    rows = [row for row, one in enumerate(snapshot.messages) if one.role is tool]
    newest = newest_group(snapshot.messages)
    stop = bisect_left(rows, newest.start) if newest else len(rows)
    return rows[: max(0, min(stop, len(rows) - keep))]


def _is_stale(snapshot: Snapshot, row: int) -> bool:
    """Whether a later call names the same path: it was read again, or written to."""
    messages = snapshot.messages
    group = group_at(messages, row)
    path = _path(_call_of(messages, group, row))
    if path is None:
        return False
    later = (call for one in messages[group.stop :] for call in one.calls)
    return any(_path(call) == path for call in later)


def _call_of(messages: Sequence[Message], group: range, row: int) -> ToolCall | None:
    wanted = messages[row].tool_call_id
    return next((call for call in messages[group.start].calls if call.id == wanted), None)


def _path(call: ToolCall | None) -> str | None:
    if call is None or "path" not in call.arguments:
        return None
    try:
        arguments = loads(call.arguments)
    except WireError:
        return None
    path = arguments.get("path") if isinstance(arguments, Mapping) else None
    return path if isinstance(path, str) else None
