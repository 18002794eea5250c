"""Many messages at once: those that a filter finds, and what may be done with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agentcore.compaction.edits import exclusion, new_topic_plan, protected
from agentcore.compaction.plan import apply_plan
from agentcore.errors import PlanError
from agentcore.snapshot import Snapshot, settled
from hermesweb import pins
from hermesweb.listing import ALIVE, Choice, View, source
from hermesweb.models import AgentSession
from hermesweb.outlines import outline_of

SHOWN = 20


@dataclass(frozen=True, slots=True)
class Found:
    """Numbers with the bytes of their messages."""

    bytes: Mapping[int, int] = field(default_factory=dict)

    @property
    def numbers(self) -> list[int]:
        return sorted(self.bytes)

    @property
    def size(self) -> int:
        return sum(self.bytes.values())

    @property
    def shown(self) -> list[int]:
        return self.numbers[:SHOWN]

    @property
    def more(self) -> int:
        return max(0, len(self.bytes) - SHOWN)


@dataclass(frozen=True, slots=True)
class Refused:
    """Why these stay; they and what moves with them."""

    reason: str
    found: Found


@dataclass(frozen=True, slots=True)
class Selection:
    """`found` by the filter; `leaving`: those and the rest of their groups that an exclusion would
    take out, which frees `freed` bytes of the list and leaves `notes` in their place; `refused`:
    those that may not leave. `gone`: found ones are not in the list, and may be brought back."""

    found: Found
    leaving: Found = Found()
    freed: int = 0
    notes: int = 0
    refused: Sequence[Refused] = ()
    unpinned: Found = Found()
    pinned: Found = Found()
    gone: bool = False

    @property
    def along(self) -> int:
        """How many leave that were not found: the rest of their groups."""
        return len(self.leaving.bytes.keys() - self.found.bytes.keys())


def selection(
    session: AgentSession, choice: Choice, tool: str = "", *, last: int | None = None
) -> Selection:
    """Of the list now, or of what left it by the fate that `choice` names. `last`: nothing that was
    born after that message."""
    gone = choice.fate not in ("", ALIVE)
    rows = source(session, choice.at(view=View.ALL if gone else View.MODEL, whole=False))
    if tool:
        rows = rows.filter(tool=tool)
    if last is not None:
        rows = rows.filter(number__lte=last)
    marked = list(rows.values_list("number", "bytes", "pinned"))
    found = Found({number: size for number, size, _ in marked})
    sides = Selection(
        found,
        unpinned=Found({number: size for number, size, on in marked if not on}),
        pinned=Found({number: size for number, size, on in marked if on}),
        gone=gone,
    )
    return sides if gone else _with_leaving(session, sides)


def whole_topic(session: AgentSession) -> Selection:
    """What a new topic would take out now; nothing where there is no conversation to end."""
    snapshot = settled(outline_of(session))
    try:
        plan = new_topic_plan(snapshot, pins.in_force(session))
    except PlanError:
        return Selection(Found())
    rows = [row for gone in plan.removals for row in range(gone.start, gone.stop)]
    after, _ = apply_plan(plan, snapshot)
    freed = snapshot.sizes.bytes - after.sizes.bytes
    found = _found(snapshot, rows)
    return Selection(found, leaving=found, freed=freed, notes=len(plan.births))


def tools(session: AgentSession) -> list[str]:
    """The names that a filter by tool may take."""
    named = session.messages.exclude(tool="").order_by("tool")
    return list(named.values_list("tool", flat=True).distinct())


def _with_leaving(session: AgentSession, chosen: Selection) -> Selection:
    """What an exclusion of the found ones would do; whole groups, and none that holds a message
    which has to stay."""
    snapshot, in_force = outline_of(session), pins.in_force(session)
    stays = protected(snapshot, in_force)
    leaving: set[int] = set()
    refused: dict[str, set[int]] = {}
    for row in snapshot.indexes_of(frozenset(chosen.found.bytes)):
        group = snapshot.group_at(row)
        reason = next((stays[one] for one in group if one in stays), "")
        (refused.setdefault(reason, set()) if reason else leaving).update(group)
    chosen = replace(
        chosen,
        leaving=_found(snapshot, leaving),
        refused=[Refused(reason, _found(snapshot, rows)) for reason, rows in refused.items()],
    )
    if not leaving:
        return chosen
    plan = exclusion(snapshot, sorted(leaving))
    after, _ = apply_plan(plan, snapshot)
    freed = snapshot.sizes.bytes - after.sizes.bytes
    return replace(chosen, freed=freed, notes=len(plan.births))


def _found(snapshot: Snapshot, rows: Iterable[int]) -> Found:
    messages = (snapshot.messages[row] for row in rows)
    return Found({message.number: message.sizes.bytes for message in messages})
