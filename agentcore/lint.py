"""What is wrong with a list of messages or a recorded session, each thing by its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from agentcore.compaction.plan import Revision
from agentcore.messages import Message, Role
from agentcore.sections import HEADINGS, Part
from agentcore.snapshot import Snapshot

# Where common tools cut their output, in bytes or characters.
KNOWN_LIMITS: frozenset[int] = frozenset(
    {
        *(2_000, 4_000, 4_096, 8_000, 8_192, 10_000, 16_000, 16_384, 20_000, 25_000, 30_000),
        *(32_000, 32_768, 40_000, 50_000, 64_000, 65_536, 100_000, 131_072, 262_144),
    }
)
# Bytes that a cut at a character border leaves unused.
BORDER_BYTES = 3
# Arguments beyond this go whole into a summary's input that does not clip them.
FAT_ARGUMENT_BYTES = 20_000
BUDGET_BYTES = 120_000
# Compactions in a row, at most so many turns apart, that make a thrash.
THRASH_RUNS, THRASH_TURNS = 3, 1
# The kept tail may differ by this factor before it counts as kept by turns.
TAIL_FACTOR = 2

_NOTICE = re.compile(r"truncat|omitt|elided|shortened|not shown|clipped|cut off|截断|省略|…|\.\.\.")
_BROKEN = re.compile("[\ufffd\ud800-\udfff]")
_MEMORY = re.compile(rf"{re.escape(HEADINGS[Part.MEMORY])}|<memory[> ]", re.IGNORECASE)


class LintKind(StrEnum):
    ORPHAN_RESULT = "orphan_result"
    UNANSWERED_CALL = "unanswered_call"
    DUPLICATE_RESULT = "duplicate_result"
    EMPTY_MESSAGE = "empty_message"
    SILENT_CUT = "silent_cut"
    BROKEN_CHARACTER = "broken_character"
    KEPT_BY_TURNS = "kept_by_turns"
    FAT_SUMMARY_INPUT = "fat_summary_input"
    MEMORY_PILES_UP = "memory_piles_up"
    NEVER_COMPACTED = "never_compacted"
    SUMMARY_LARGER = "summary_larger"
    THRASH = "thrash"


@dataclass(frozen=True, slots=True)
class Finding:
    """`number` of the message, `index` in the list in force; None where no single message is
    meant, or it is not in the list any more."""

    kind: LintKind
    number: int | None
    index: int | None
    detail: str


class RecordedChange(Protocol):
    """A change of a recorded list, after the given turn."""

    @property
    def revision(self) -> Revision: ...
    @property
    def turn(self) -> int: ...


class RecordedShrink(Protocol):
    """A recorded compaction: bytes of the list before and after, and the revision it is."""

    @property
    def turn(self) -> int: ...
    @property
    def before(self) -> int: ...
    @property
    def after(self) -> int: ...
    @property
    def revision(self) -> int | None: ...


class Recorded(Protocol):
    """What a recording must have to be looked at."""

    @property
    def messages(self) -> tuple[Message, ...]: ...
    @property
    def revisions(self) -> Sequence[RecordedChange]: ...
    @property
    def compactions(self) -> Sequence[RecordedShrink]: ...
    def snapshot(self) -> Snapshot: ...


def lint(messages: Sequence[Message], budget: int = BUDGET_BYTES) -> list[Finding]:
    """Of one list, in its order; `budget` in bytes."""
    found = [*_pairing(messages), *_memory(messages), *_never_compacted(messages, budget)]
    for index, message in enumerate(messages):
        found += _of_message(message, index)
    return sorted(found, key=lambda one: -1 if one.index is None else one.index)


def lint_recording(recording: Recorded, budget: int = BUDGET_BYTES) -> list[Finding]:
    """Of the list in force at the end, of what left it before, and of how it was compacted."""
    listed = recording.snapshot().messages
    numbers = {message.number for message in listed}
    found = lint(listed, budget)
    for message in recording.messages:
        if message.number not in numbers:
            found += _of_message(message, None)
    found += _summary_larger(recording)
    found += _thrash(recording.compactions)
    found += _kept_by_turns(recording)
    return found


def _pairing(messages: Sequence[Message]) -> Iterator[Finding]:
    """Calls and results, each result looked for among those right behind its call."""
    waiting: dict[str, int] = {}
    answered: set[str] = set()
    for index, message in enumerate(messages):
        if message.role is Role.TOOL:
            call = message.tool_call_id or ""
            if call in waiting:
                del waiting[call]
                answered.add(call)
                continue
            kind = LintKind.DUPLICATE_RESULT if call in answered else LintKind.ORPHAN_RESULT
            yield Finding(kind, message.number, index, f"answers {call!r}, which waits for none")
            continue
        yield from _unanswered(messages, waiting)
        waiting = {call.id: index for call in message.calls}
        answered = answered - waiting.keys() if message.calls else answered
    yield from _unanswered(messages, waiting)


def _unanswered(messages: Sequence[Message], waiting: dict[str, int]) -> Iterator[Finding]:
    for call, index in waiting.items():
        number = messages[index].number
        yield Finding(LintKind.UNANSWERED_CALL, number, index, f"call {call!r} has no result")


def _of_message(message: Message, index: int | None) -> Iterator[Finding]:
    """What shows in one message alone."""
    for call in message.calls:
        size = len(call.arguments.encode("utf-8", "surrogatepass"))
        if size > FAT_ARGUMENT_BYTES:
            detail = f"{call.name} has {size:,} bytes of arguments"
            yield Finding(LintKind.FAT_SUMMARY_INPUT, message.number, index, detail)
    text = message.text
    if not text.strip() and not message.calls and not _has_parts(message):
        detail = f"{message.role} without text and calls"
        yield Finding(LintKind.EMPTY_MESSAGE, message.number, index, detail)
    if broken := _BROKEN.findall(text):
        detail = f"{len(broken)} broken, the first at character {_first(text)}"
        yield Finding(LintKind.BROKEN_CHARACTER, message.number, index, detail)
    if message.role is Role.TOOL and (limit := _silent_limit(text)):
        detail = f"ends at {limit:,} without a notice"
        yield Finding(LintKind.SILENT_CUT, message.number, index, detail)


def _has_parts(message: Message) -> bool:
    """Whether the content is a list that holds something, such as a picture."""
    content = message.value().get("content")
    return isinstance(content, list) and bool(content)


def _first(text: str) -> int:
    found = _BROKEN.search(text)
    return found.start() if found else 0


def _silent_limit(text: str) -> int | None:
    """The known limit that the text is as long as, in characters or bytes, when nothing at its
    beginning or end says that it was cut."""
    if len(text) > max(KNOWN_LIMITS) or len(text) * 4 < min(KNOWN_LIMITS):
        return None
    size = len(text.encode("utf-8", "surrogatepass"))
    slack = 0 if size == len(text) else BORDER_BYTES
    lengths: tuple[int, ...] = (len(text), *range(size, size + slack + 1))
    limits = [length for length in lengths if length in KNOWN_LIMITS]
    if not limits or _NOTICE.search(text[:200]) or _NOTICE.search(text[-300:]):
        return None
    return limits[0]


def _memory(messages: Sequence[Message]) -> Iterator[Finding]:
    """More than one memory block in the system messages; ours replaces the old one."""
    blocks = 0
    for index, message in enumerate(messages):
        if message.role not in (Role.SYSTEM, Role.DEVELOPER):
            continue
        blocks += len(_MEMORY.findall(message.text))
        if blocks > 1:
            detail = f"{blocks} memory blocks"
            yield Finding(LintKind.MEMORY_PILES_UP, message.number, index, detail)
            return


def _never_compacted(messages: Sequence[Message], budget: int) -> Iterator[Finding]:
    """A talk without tools over its budget: what compacts only after results never compacts it."""
    size = sum(message.sizes.bytes for message in messages)
    uses_tools = any(message.role is Role.TOOL or message.calls for message in messages)
    if size <= budget or uses_tools or any(message.is_summary for message in messages):
        return
    detail = f"{size:,} bytes without tools, over {budget:,}"
    yield Finding(LintKind.NEVER_COMPACTED, None, None, detail)


def _summary_larger(recording: Recorded) -> Iterator[Finding]:
    for compaction in recording.compactions:
        if compaction.revision is None or compaction.after < compaction.before:
            continue
        begun = recording.revisions[compaction.revision - 1].revision.begun
        number = begun[0][0].number if begun else None
        detail = f"{compaction.before:,} bytes became {compaction.after:,}"
        yield Finding(LintKind.SUMMARY_LARGER, number, None, detail)


def _thrash(compactions: Sequence[RecordedShrink]) -> Iterator[Finding]:
    """Compactions in every turn: what stays is too large for the budget."""
    run: list[int] = []
    for compaction in compactions:
        if run and compaction.turn - run[-1] > THRASH_TURNS:
            yield from _thrashed(run)
            run = []
        run.append(compaction.turn)
    yield from _thrashed(run)


def _thrashed(turns: Sequence[int]) -> Iterator[Finding]:
    if len(turns) >= THRASH_RUNS:
        detail = f"{len(turns)} compactions from turn {turns[0]} to {turns[-1]}"
        yield Finding(LintKind.THRASH, None, None, detail)


def _kept_by_turns(recording: Recorded) -> Iterator[Finding]:
    """Tails of equally many turns and of very different lengths: with more calls a turn the list
    after a compaction grows."""
    tails = list(_tails(recording))
    counts = [messages for _, messages in tails]
    turns = {count for count, _ in tails}
    if len(tails) > 1 and len(turns) == 1 and max(counts) >= TAIL_FACTOR * min(counts):
        detail = f"{turns.pop()} turns kept each time, {min(counts)} to {max(counts)} messages"
        yield Finding(LintKind.KEPT_BY_TURNS, None, None, detail)


def _tails(recording: Recorded) -> Iterator[tuple[int, int]]:
    """Replies and messages that each compaction kept behind system and summary."""
    shrunk = {compaction.revision for compaction in recording.compactions}
    alive: set[int] = set()
    born = 0
    for at, change in enumerate(recording.revisions, 1):
        revision = change.revision
        begun = {message.number for message, _ in revision.begun}
        alive |= set(range(born + 1, revision.last_number + 1)) - begun
        alive -= set(revision.ended)
        kept = [recording.messages[number - 1] for number in alive]
        kept = [one for one in kept if not one.is_leading and not one.is_summary]
        if at in shrunk and kept:
            yield sum(one.role is Role.ASSISTANT for one in kept), len(kept)
        alive |= begun
        born = revision.last_number
