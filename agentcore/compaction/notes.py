"""What stands in the list where messages were taken out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from agentcore.breakdown import OMISSION_HEADER, SUMMARY_HEADER
from agentcore.deferred import Deferred
from agentcore.facts import Fact
from agentcore.ledger.book import Ledger
from agentcore.messages import Message, Role, born
from agentcore.snapshot import Snapshot

TOOLS_NAMED = 8
# Facts of one kind that a note carries on for those it stands for.
FACTS_CARRIED = 1_000


def omission_of(snapshot: Snapshot, runs: Sequence[range]) -> Message:
    """The note that stands in for rows of a list without a summary of them, none of which is read
    before somebody asks for their facts."""
    count = _counted(sum(map(len, runs)), snapshot.tools_in(runs))
    gone = rows_of(snapshot.messages, runs)
    return note(_omitted(count), Deferred(lambda: carried(gone)))


def rows_of(messages: Sequence[Message], runs: Sequence[range]) -> Deferred[Message]:
    return Deferred(lambda: chain.from_iterable(messages[run.start : run.stop] for run in runs))


def summary_note(summary: str, gone: Sequence[Message] = ()) -> Message:
    """The summary of those messages, with the facts that hold of them: a text may leave some out,
    and a later ledger must know them."""
    return note(f"{SUMMARY_HEADER}\n{summary}", _newest(Ledger.of(gone)))


def ledger_note(gone: Sequence[Message], chars: int) -> Message:
    """A summary without a model: the facts that were found when the messages were born."""
    ledger = Ledger.of(gone)
    return note(f"{SUMMARY_HEADER}\n{ledger.text(chars) or _count(gone)}", _newest(ledger))


def omission_with_ledger(gone: Sequence[Message], chars: int) -> Message:
    """The omission note with the facts of what left under it."""
    ledger = Ledger.of(gone)
    return note(f"{_omitted(_count(gone))}\n{ledger.text(chars)}".rstrip(), _newest(ledger))


def note(text: str, facts: Sequence[Fact] | None = None) -> Message:
    """`facts`: of the messages it stands for, so that a later ledger still knows them."""
    return born({"role": Role.SYSTEM.value, "content": text}, facts=facts)


def carried(gone: Sequence[Message]) -> tuple[Fact, ...]:
    """The facts that were found when the messages were born."""
    return tuple(chain.from_iterable([message.facts for message in gone if message.facts]))


def without_header(text: str) -> str:
    """The text of a note or summary without its first line."""
    header, _, rest = text.partition("\n")
    return rest if header in (SUMMARY_HEADER, OMISSION_HEADER) else text


def _newest(ledger: Ledger) -> tuple[Fact, ...] | None:
    """None where there is none: then the text itself is looked at."""
    kinds = ledger.by_kind().values()
    return tuple(fact for facts in kinds for fact in facts[-FACTS_CARRIED:]) or None


def _count(gone: Sequence[Message]) -> str:
    result = Role.TOOL
    return _counted(len(gone), Counter([one.tool or "tool" for one in gone if one.role is result]))


def _omitted(count: str) -> str:
    return f"{OMISSION_HEADER}\n{count} left the context here; the archive keeps them."


def _counted(messages: int, tools: Counter[str]) -> str:
    named = ", ".join(f"{name} x{count}" for name, count in tools.most_common(TOOLS_NAMED))
    others = f", {len(tools) - TOOLS_NAMED} more tools" if len(tools) > TOOLS_NAMED else ""
    count = f"{messages} message{'s' if messages != 1 else ''}"
    return f"{count} ({named}{others})" if tools else count
