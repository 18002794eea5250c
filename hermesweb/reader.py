"""What sockets send: the events of a session from the table, read once for all of a process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakValueDictionary

from channels.db import database_sync_to_async

from hermesweb.models import AgentSession, SessionEvent

# Whoever missed more is told to load the page anew.
MOST_MISSED = 2_000
FRAME_BYTES = 60_000


@dataclass(frozen=True, slots=True)
class Missed:
    """The frames that lead from `after` to `last`."""

    after: int
    last: int
    frames: tuple[str, ...]


class Reader:
    """The reader of one session: sockets that are equally far get the same text."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._lock = asyncio.Lock()
        self._newest = Missed(0, 0, ())

    async def missed(self, after: int, upto: int) -> Missed:
        """Everything after `after`, at least up to `upto` when that is stored."""
        async with self._lock:
            if self._newest.after != after or self._newest.last < upto:
                self._newest = await _read(self._session_id, after)
            return self._newest

    async def last(self) -> int | None:
        """The last seq of the session; None when it was deleted."""
        return await _last(self._session_id)


_readers: WeakValueDictionary[tuple[str, int], Reader] = WeakValueDictionary()


def reader_of(session_id: str) -> Reader:
    """The one that this process and loop share; lives as long as a socket holds it."""
    key = (session_id, id(asyncio.get_running_loop()))
    reader = _readers.get(key)
    if reader is None:
        reader = _readers[key] = Reader(session_id)
    return reader


def event_facts(event: SessionEvent) -> dict[str, object]:
    """The form that sockets and the API share."""
    return {
        "seq": event.seq,
        "kind": event.kind,
        "data": event.data,
        "at": event.at.isoformat(),
    }


@database_sync_to_async
def _read(session_id: str, after: int) -> Missed:
    rows = SessionEvent.objects.filter(session=session_id, seq__gt=after).order_by("seq")
    events = list(rows[: MOST_MISSED + 1])
    return Missed(after, events[-1].seq if events else after, _frames(events))


@database_sync_to_async
def _last(session_id: str) -> int | None:
    return AgentSession.objects.filter(pk=session_id).values_list("seq", flat=True).first()


def _frames(events: Sequence[SessionEvent]) -> tuple[str, ...]:
    frames: list[str] = []
    texts: list[str] = []
    size = 0
    for event in events:
        text = json.dumps(event_facts(event), ensure_ascii=False, separators=(",", ":"))
        length = len(text.encode())
        if texts and size + length > FRAME_BYTES:
            frames.append(_frame(texts, event.seq - 1))
            texts, size = [], 0
        texts.append(text)
        size += length
    if texts:
        frames.append(_frame(texts, events[-1].seq))
    return tuple(frames)


def _frame(texts: Sequence[str], last: int) -> str:
    return f'{{"events":[{",".join(texts)}],"last":{last}}}'
