"""Stage 3: runs of tool groups become one note that counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import islice

from agentcore.breakdown import COLLAPSED_HEADER, Category
from agentcore.compaction.notes import carried, note
from agentcore.compaction.plan import Birth, CompactionPlan, Fate, Origin, Removal
from agentcore.compaction.strategy import Situation, gaps, is_reached, kept_rows
from agentcore.facts import Fact, FactKind
from agentcore.ledger import facts_of
from agentcore.ledger.wording import lines_of
from agentcore.messages import Message, Role, ToolStatus
from agentcore.snapshot import newest_group

NAME = "collapse"
TOOLS_NAMED = 8
SAID_CHARS, SAID_LINES = 120, 12
FAILURE_CHARS, FAILURE_LINES = 160, 12
CHANGED_CHARS = 2_000
# About what a note takes of what was freed.
NOTE_BYTES = 400
_ASSISTANT = Category.ASSISTANT
# What a reply weighs without a text; most calls come so.
_SILENT = len('{"role":"assistant","content":null}')


class Collapse:
    priority = 40

    def should_trigger(self, situation: Situation) -> bool:
        return is_reached(situation)

    def compact(self, situation: Situation) -> CompactionPlan:
        """Oldest run first; what people said, the newest group and pinned groups stay."""
        snapshot, freed = situation.snapshot, 0
        removals: list[Removal] = []
        births: list[Birth] = []
        for run in _runs(situation):
            if freed >= situation.need:
                break
            cut, weight = _enough(snapshot.messages, run, situation.need - freed)
            gone = snapshot.messages[cut.start : cut.stop]
            made = note(_told(gone), carried(gone) or None)
            gain = weight - made.sizes.bytes
            if gain > 0:
                freed += gain
                removals.append(Removal(cut.start, cut.stop, Fate.FOLDED, NAME))
                births.append(Birth(cut.start, made, Origin.NOTE, NAME, (cut,)))
        return CompactionPlan(snapshot.state, tuple(removals), tuple(births))


def _runs(situation: Situation) -> list[range]:
    """Runs of consecutive tool groups that may leave."""
    messages, tool = situation.snapshot.messages, Role.TOOL
    said = [row for row, one in enumerate(messages) if one.role is not tool and not one.calls]
    spared = {*said, *kept_rows(situation), *newest_group(messages)}
    return gaps(0, len(messages), spared)


def _enough(messages: Sequence[Message], run: range, need: int) -> tuple[range, int]:
    """The first groups of a run that free what is needed, or all of it, and their bytes."""
    weight = sum([message.sizes.bytes for message in messages[run.start : run.stop]])
    if weight < need + NOTE_BYTES:
        return run, weight
    weight = 0
    for row in run:
        message = messages[row]
        if weight >= need + NOTE_BYTES and message.calls:
            return range(run.start, row), weight
        weight += message.sizes.bytes
    return run, weight


def _told(gone: Sequence[Message]) -> str:
    """Calls by tool and how they ended; then what was said, and how failures began."""
    tool = Role.TOOL
    statuses = [message.status for message in gone if message.role is tool]
    callers = [message for message in gone if message.calls]
    counted = Counter([call.name for message in callers for call in message.calls])
    tools = ", ".join(f"{name} x{count}" for name, count in counted.most_common(TOOLS_NAMED))
    if len(counted) > TOOLS_NAMED:
        tools += f", {len(counted) - TOOLS_NAMED} more tools"
    calls = f"{len(statuses)} tool call{'s' if len(statuses) != 1 else ''}"
    lines = [f"{COLLAPSED_HEADER} {calls} ({tools}) - {_ended(statuses)}]"]
    # From the end, since few of many are shown.
    told = (
        _line(message, SAID_CHARS)
        for message in reversed(callers)
        if message.sizes.breakdown[_ASSISTANT] > _SILENT
    )
    said = list(islice(filter(None, told), SAID_LINES))
    lines += [f"- {line}" for line in reversed(said)]
    failure = ToolStatus.FAILED
    failed = [message for message in gone if message.status is failure]
    for message in failed[-FAILURE_LINES:]:
        lines.append(f"- failed: {_line(message, FAILURE_CHARS)}")
    if changed := _changed(callers, {message.tool_call_id for message in failed}):
        lines += lines_of({FactKind.CHANGED_PATH: changed}, CHANGED_CHARS)
    return "\n".join(lines)


def _changed(callers: Sequence[Message], failed: Collection[str | None]) -> list[Fact]:
    """The paths that calls changed, each once; what a failed call names it did not change."""
    kind = FactKind.CHANGED_PATH
    changed = {
        fact.key: fact
        for message in callers
        for fact in message.facts or facts_of(message)
        if fact.kind is kind and fact.call not in failed
    }
    return list(changed.values())


def _ended(statuses: Sequence[ToolStatus | None]) -> str:
    if statuses.count(ToolStatus.OK) == len(statuses):
        return "all successful"
    counts = Counter(statuses)
    parts = (
        (counts[ToolStatus.OK], "ok"),
        (counts[ToolStatus.FAILED], "failed"),
        (counts[ToolStatus.UNKNOWN] + counts[None], "unknown"),
    )
    return ", ".join(f"{count} {name}" for count, name in parts if count)


def _line(message: Message, chars: int) -> str:
    line = message.text.strip().split("\n")[0]
    return line if len(line) <= chars else f"{line[:chars]}…"
