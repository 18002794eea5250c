"""Messages and their lives as rows: what the recorder writes, and the lists read back from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from agentcore.breakdown import Breakdown, Mark, Sizes, total
from agentcore.compaction.plan import Origin
from agentcore.compaction.plan import Revision as RevisionValue
from agentcore.compaction.summarizer import sources_of
from agentcore.events import EventKind
from agentcore.kinds import PREVIEW_CHARS
from agentcore.kinds import shown as shown_start
from agentcore.messages import Message, ToolCall, ToolStatus, read
from agentcore.snapshot import PLACES_A_NUMBER, Snapshot, State
from hermesweb import bodies, facts
from hermesweb.models import INLINE_BYTES, AgentSession, Life, Revision, StoredMessage
from hermesweb.shown import shown
from hermesweb.subjects import NONE, Subject, subjects

CHUNK = 500
# What a summary made from the archive may go back to: more would not fit its input.
MOST_ORIGINALS, MOST_RUNS = 400, 100


@dataclass(frozen=True, slots=True)
class Birth:
    """A message with what the row knows beside it; `captured` is a tool's whole output; `again`:
    it is stored already, only a life begins; `at` None is now."""

    message: Message
    place: int
    revision: int
    turn: int = 0
    captured: str | None = None
    origin: Origin | None = None
    stage: str = ""
    again: bool = False
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class End:
    """How a message left the list."""

    fate: str
    stage: str


def appended(message: Message, revision: int, turn: int, captured: str | None = None) -> Birth:
    return Birth(message, message.number * PLACES_A_NUMBER, revision, turn, captured)


def store(
    session: AgentSession, births: Sequence[Birth], ran: Mapping[str, ToolCall] | None = None
) -> None:
    """The messages that are new, and one open life each. `ran`: calls by their ids, where these
    were run otherwise than the message says."""
    new = [birth for birth in births if not birth.again]
    long = [birth.message for birth in new if _is_long(birth.message)]
    captures = {birth.message.number: birth.captured for birth in new if birth.captured is not None}
    keys = bodies.keep([*(message.wire for message in long), *captures.values()])
    body_of = dict(zip((message.number for message in long), keys, strict=False))
    capture_of = dict(zip(captures, keys[len(long) :], strict=True))
    about = subjects(session, [birth.message for birth in new], ran or {})
    rows = StoredMessage.objects.bulk_create(
        [
            _row(session, birth, body_of, capture_of, about=about.get(birth.message.number, NONE))
            for birth in new
        ],
        batch_size=CHUNK,
    )
    ids = {row.number: row.pk for row in rows}
    again = [birth.message.number for birth in births if birth.again]
    ids |= dict(session.messages.filter(number__in=again).values_list("number", "pk"))
    Life.objects.bulk_create(
        [_life(session, birth, ids[birth.message.number]) for birth in births], batch_size=CHUNK
    )


def revise(
    session: AgentSession,
    revision: RevisionValue,
    *,
    cause: EventKind,
    ends: Mapping[int, End],
    births: Sequence[Birth],
) -> Sizes:
    """End and begin lives; the sizes of what was ended. `ends` maps each message number."""
    gone = _end(session, revision, ends)
    store(session, births)
    Revision.objects.create(
        session=session,
        number=revision.number,
        cause=cause,
        last_number=revision.last_number,
        ended=len(revision.ended),
        begun=len(births),
    )
    return gone


def preview_of(message: Message) -> str:
    """The beginning of the text, or of the calls where there is none, on one line."""
    text = shown_start(message.text)
    if not text.strip():
        text = "; ".join(f"{call.name} {shown_start(call.arguments)}" for call in message.calls)
    return " ".join(text.split())[:PREVIEW_CHARS]


def lives_at(session: AgentSession, state: State | None = None) -> QuerySet[Life]:
    """The lives that make up the list now or at an earlier state, in its order."""
    lives = session.lives.order_by("place", "number").select_related("message__body")
    if state is None:
        return lives.filter(to_revision=None)
    ended_later = Q(to_revision=None) | Q(to_revision__gt=state.revision)
    return lives.filter(
        ended_later, from_revision__lte=state.revision, number__lte=state.last_number
    )


def snapshot_of(session: AgentSession, state: State | None = None) -> Snapshot:
    """The list now or at an earlier state, as `agentcore` handles it."""
    lives = list(lives_at(session, state))
    messages = tuple(message_of(life.message) for life in lives)
    return Snapshot(
        messages,
        tuple(life.place for life in lives),
        total(message.sizes for message in messages),
        state or State(session.revision, session.last_number),
    )


def originals_of(session_id: str, runs: Sequence[range]) -> list[Message]:
    """Messages of the archive by their numbers, and what summaries and placeholders among them were
    made from, in order; of many the newest. One query for each generation of summaries."""
    found: dict[int, Message] = {}
    while runs and len(found) < MOST_ORIGINALS:
        read = _messages_of(session_id, runs)
        new = [message for message in read if message.number not in found]
        found |= {message.number: message for message in new}
        runs = [run for message in new for run in sources_of(message)]
    return [found[number] for number in sorted(found)[-MOST_ORIGINALS:]]


def _messages_of(session_id: str, runs: Sequence[range]) -> list[Message]:
    wanted = Q(pk__in=())
    for run in runs[-MOST_RUNS:]:
        wanted |= Q(number__range=(run.start, run.stop - 1))
    rows = StoredMessage.objects.filter(wanted, session=session_id).select_related("body")
    return [message_of(row) for row in rows.order_by("-number")[:MOST_ORIGINALS]][::-1]


def message_of(row: StoredMessage) -> Message:
    sizes = Sizes(row.bytes, row.chars, row.tokens, Breakdown(row.categories))
    known: dict[str, Any] = {
        "number": row.number,
        "turn": row.turn,
        "tool": row.tool or None,
        "status": ToolStatus(row.status) if row.status else None,
        "replaces": row.replaces,
        "stands_for": tuple(range(first, last + 1) for first, last in row.stands_for),
        "original": row.original_bytes,
        "facts": facts.unpacked(row.facts, row.number),
    }
    return read(row.text, sizes, mark=Mark(row.mark) if row.mark else None, **known)


def _end(session: AgentSession, revision: RevisionValue, ends: Mapping[int, End]) -> Sizes:
    alike: dict[End, list[int]] = {}
    for number in revision.ended:
        alike.setdefault(ends[number], []).append(number)
    gone: list[Sizes] = []
    for end, numbers in alike.items():
        for some in _chunks(numbers):
            lives = session.lives.filter(number__in=some, to_revision=None)
            gone += _sizes(session.messages.filter(number__in=some))
            lives.update(to_revision=revision.number, fate=end.fate, ended_stage=end.stage)
    return total(gone)


def _sizes(messages: QuerySet[StoredMessage]) -> Iterable[Sizes]:
    for size, chars, tokens, parts in messages.values_list(
        "bytes", "chars", "tokens", "categories"
    ):
        yield Sizes(size, chars, tokens, Breakdown(parts))


def _is_long(message: Message) -> bool:
    return message.sizes.bytes > INLINE_BYTES


def _row(
    session: AgentSession,
    birth: Birth,
    body_of: Mapping[int, str],
    capture_of: Mapping[int, str],
    *,
    about: Subject,
) -> StoredMessage:
    message = birth.message
    sizes, cut = message.sizes, message.cut
    body = body_of.get(message.number)
    return StoredMessage(
        session=session,
        number=message.number,
        role=message.role,
        wire="" if body else message.wire,
        body_id=body,
        preview=preview_of(message),
        bytes=sizes.bytes,
        chars=sizes.chars,
        tokens=sizes.tokens,
        categories={str(category): size for category, size in sizes.breakdown.items()},
        mark=message.mark or "",
        turn=birth.turn,
        tool=shown(message.tool or "")[:200],
        path=about.path,
        command=about.command,
        arguments=about.arguments,
        status=message.status or "",
        captured_id=capture_of.get(message.number),
        original_bytes=cut.original if cut else None,
        kept_bytes=cut.kept if cut else None,
        replaces=message.replaces,
        stands_for=[[run.start, run.stop - 1] for run in message.stands_for],
        facts=facts.packed(message.facts, message.number),
        at=birth.at or timezone.now(),
    )


def _life(session: AgentSession, birth: Birth, message_id: int) -> Life:
    return Life(
        session=session,
        message_id=message_id,
        number=birth.message.number,
        place=birth.place,
        from_revision=birth.revision,
        origin=birth.origin or "",
        begun_stage=birth.stage,
    )


def _chunks(numbers: Sequence[int]) -> Iterable[Sequence[int]]:
    return (numbers[start : start + CHUNK] for start in range(0, len(numbers), CHUNK))
