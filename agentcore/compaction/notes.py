"""What stands in the list where messages were taken out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agentcore.breakdown import OMISSION_HEADER, SUMMARY_HEADER
from agentcore.ledger.book import Ledger
from agentcore.messages import Message, Role, born

TOOLS_NAMED = 8


def omission_note(gone: Sequence[Message]) -> Message:
    """The note that stands in for messages without a summary of them."""
    return note(f"{OMISSION_HEADER}\n{_count(gone)} left the context here; the archive keeps them.")


def summary_note(summary: str) -> Message:
    return note(f"{SUMMARY_HEADER}\n{summary}")


def ledger_note(gone: Sequence[Message], chars: int) -> Message:
    """A summary without a model: the facts that were found when the messages were born."""
    return summary_note(Ledger.of(gone).text(chars) or _count(gone))


def omission_with_ledger(gone: Sequence[Message], chars: int) -> Message:
    """The omission note with the facts of what left under it."""
    return note(f"{omission_note(gone).text}\n{Ledger.of(gone).text(chars)}".rstrip())


def note(text: str) -> Message:
    return born({"role": Role.SYSTEM.value, "content": text})


def without_header(text: str) -> str:
    """The text of a note or summary without its first line."""
    header, _, rest = text.partition("\n")
    return rest if header in (SUMMARY_HEADER, OMISSION_HEADER) else text


def _count(gone: Sequence[Message]) -> str:
    result = Role.TOOL
    tools = Counter([one.tool or "tool" for one in gone if one.role is result])
    named = ", ".join(f"{name} x{count}" for name, count in tools.most_common(TOOLS_NAMED))
    others = f", {len(tools) - TOOLS_NAMED} more tools" if len(tools) > TOOLS_NAMED else ""
    messages = f"{len(gone)} message{'s' if len(gone) != 1 else ''}"
    return f"{messages} ({named}{others})" if tools else messages
