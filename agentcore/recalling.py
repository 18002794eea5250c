"""What left the context returns for a new instruction: the best pieces of the archive, in time
order with their turns, so that an abandoned plan is not taken for the present one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agentcore.breakdown import RECALL_HEADER
from agentcore.compaction.plan import CompactionPlan, Fate, Removal
from agentcore.context import Context
from agentcore.events import Event, MemoryInjected
from agentcore.messages import Message, Role, born
from agentcore.profile import Profile
from agentcore.snapshot import Snapshot
from agentcore.tools.recall import Archive, Found

BLOCK_CHARS = 4_000
PIECE_CHARS = 600
SEARCHED = 12


class Recall:
    """Looks into the archive for each new instruction. `archive` None: there is none."""

    def __init__(self, context: Context, archive: Archive | None) -> None:
        self._context = context
        self._archive = archive

    def forget(self, profile: Profile, run: int) -> list[Event]:
        """Take the block of the last instruction out; blocks never pile up."""
        gone = without_blocks(self._context.snapshot())
        if gone.is_empty or not profile.recall:
            return []
        return [MemoryInjected(run, (), self._context.apply(gone))]

    async def block(self, text: str, profile: Profile) -> Message | None:
        """What the archive holds of an instruction, numbered as the next message."""
        if self._archive is None or not profile.recall:
            return None
        found = await self._archive.search(text, SEARCHED)
        block = recall_block(found, numbers_of(self._context.messages))
        return self._context.draft(block) if block else None


def recall_block(found: Iterable[Found], alive: frozenset[int]) -> Message | None:
    """One system message of at most 4,000 characters, of what is no longer in the list; None when
    there is nothing. The best hits are taken, then put into the order of time."""
    lines: list[tuple[int, str]] = []
    room = BLOCK_CHARS - len(RECALL_HEADER)
    for one in found:
        if one.number in alive:
            continue
        line = _line(one)
        room -= len(line) + 1
        if room < 0:
            break
        lines.append((one.number, line))
    if not lines:
        return None
    text = "\n".join([RECALL_HEADER, *(line for _, line in sorted(lines))])
    return born({"role": "system", "content": text})


def without_blocks(snapshot: Snapshot) -> CompactionPlan:
    """Take out the blocks of earlier instructions: they never pile up."""
    removals = tuple(
        Removal(row, row + 1, Fate.REBUILT, "recall")
        for row, message in enumerate(snapshot.messages)
        if is_recall_block(message)
    )
    return CompactionPlan(snapshot.state, removals, ())


def is_recall_block(message: Message) -> bool:
    return message.role is Role.SYSTEM and message.is_recalled


def numbers_of(messages: Sequence[Message]) -> frozenset[int]:
    """What the list holds, in itself or as a placeholder."""
    return frozenset(
        number for one in messages for number in (one.number, one.replaces) if number is not None
    )


def _line(found: Found) -> str:
    turn = f"turn {found.turn}" if found.turn else "before turn 1"
    text = " ".join(found.text.split())
    if len(text) > PIECE_CHARS:
        text = f"{text[:PIECE_CHARS]}…"
    return f"- {turn}, message {found.number} ({found.who}): {text}"
