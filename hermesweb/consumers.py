"""The sockets of pages: one of a session, one of the overview."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from typing import Any
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer

from hermesweb import access, live
from hermesweb.reader import MOST_MISSED, reader_of

NOT_SIGNED_IN, NOT_YOURS, NOT_THERE, TOO_SLOW = 4401, 4403, 4404, 4408
CURSOR_SECONDS = 15.0
# A socket that takes nothing for so long is closed; the page comes back with its own cursor.
SEND_SECONDS = 10.0
DELTAS = 100
MOST_DIGITS = 18


class TooSlow(Exception):
    """The other side does not take what it is sent."""


class LiveConsumer(AsyncWebsocketConsumer):
    """Joins one group and has one task that sends. What arrives from the group only changes what
    there is to send, so that a slow socket holds a mark and not a growing pile."""

    _sending: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        await self.accept()
        if refusal := await self.refusal():
            await self.close(refusal)
            return
        self.news_came = asyncio.Event()
        # Joined before anything is read: what is stored between the two is not lost.
        await self.channel_layer.group_add(self.group, self.channel_name)
        self._sending = asyncio.create_task(self._send_all())

    async def disconnect(self, code: int) -> None:
        if self._sending is None:
            return
        self._sending.cancel()
        await asyncio.gather(self._sending, return_exceptions=True)
        await self.channel_layer.group_discard(self.group, self.channel_name)

    @property
    def group(self) -> str:
        raise NotImplementedError

    async def refusal(self) -> int | None:
        """A close code for whoever may not listen."""
        return None if self.scope["user"].is_authenticated else NOT_SIGNED_IN

    async def send_news(self, came: bool) -> None:
        """Send what there is; not `came`: at the beginning, and when it was quiet for a while."""
        raise NotImplementedError

    async def write(self, text: str) -> None:
        try:
            async with asyncio.timeout(SEND_SECONDS):
                await self.send(text_data=text)
        except TimeoutError:
            raise TooSlow from None

    async def _send_all(self) -> None:
        came = False
        try:
            while True:
                self.news_came.clear()
                await self.send_news(came)
                came = await _within(CURSOR_SECONDS, self.news_came)
        except TooSlow:
            await self.close(TOO_SLOW)


class NowhereConsumer(AsyncWebsocketConsumer):
    """Any other path: closed with a code, where a router without it fails in the handshake."""

    async def connect(self) -> None:
        await self.accept()
        await self.close(NOT_THERE)


class SessionConsumer(LiveConsumer):
    """Replays what the page missed, then sends what comes."""

    async def connect(self) -> None:
        self._session_id: str = self.scope["url_route"]["kwargs"]["session_id"]
        self._reader = reader_of(self._session_id)
        self._deltas: deque[Any] = deque(maxlen=DELTAS)
        self._after = self._known = _number(self.scope["query_string"])
        await super().connect()

    @property
    def group(self) -> str:
        return live.session_group(self._session_id)

    async def refusal(self) -> int | None:
        if refusal := await super().refusal():
            return refusal
        allowed = await database_sync_to_async(access.may_see)(self.scope["user"], self._session_id)
        return None if allowed else NOT_YOURS

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """`{"after": N}`: send again from there. Anything else is passed over."""
        try:
            frame = json.loads(text_data or "")
        except (ValueError, RecursionError):
            return
        after = frame.get("after") if isinstance(frame, dict) else None
        if isinstance(after, int) and after >= 0 and self._sending:
            self._after = after
            self.news_came.set()

    async def news(self, message: dict[str, Any]) -> None:
        self._known = max(self._known, message["seq"])
        self.news_came.set()

    async def delta(self, message: dict[str, Any]) -> None:
        self._deltas.append(message["delta"])
        self.news_came.set()

    async def send_news(self, came: bool) -> None:
        while self._deltas:
            delta = {"delta": self._deltas.popleft()}
            await self.write(json.dumps(delta, ensure_ascii=False))
        if not came:
            await self._look()
        await self._catch_up()
        if not came:
            await self.write(json.dumps({"cursor": self._known}))

    async def _look(self) -> None:
        """Read how far the table is. A page ahead of it shows what is no longer there."""
        last = await self._reader.last() or 0
        if self._after > last:
            self._after = self._known = last
            await self.write('{"reload":true}')
        self._known = max(self._known, last)

    async def _catch_up(self) -> None:
        while self._after < self._known:
            if self._known - self._after > MOST_MISSED:
                self._after = self._known
                await self.write('{"reload":true}')
                return
            after = self._after
            missed = await self._reader.missed(after, self._known)
            for frame in missed.frames:
                await self.write(frame)
            if missed.last == after:
                return
            # The page may have asked for another place meanwhile.
            if self._after == after:
                self._after = missed.last


class OverviewConsumer(LiveConsumer):
    """Hints that a session has news; the rows come by HTTP."""

    async def connect(self) -> None:
        self._hints: dict[str, int] = {}
        await super().connect()

    @property
    def group(self) -> str:
        user = self.scope["user"]
        return live.STAFF if user.is_staff else live.overview_group(user.pk)

    async def news(self, message: dict[str, Any]) -> None:
        self._hints[message["session"]] = message["seq"]
        self.news_came.set()

    async def send_news(self, came: bool) -> None:
        """An empty frame tells a quiet page that the line still stands."""
        if not self._hints:
            await self.write("{}")
        hints, self._hints = self._hints, {}
        for session, seq in hints.items():
            await self.write(json.dumps({"session": session, "seq": seq}))


def _number(query: bytes) -> int:
    """`after` of the query string; everything from the first event when there is none."""
    text = parse_qs(query.decode("utf-8", "replace")).get("after", ["0"])[0]
    known = text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS
    return int(text) if known else 0


async def _within(seconds: float, came: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(seconds):
            return await came.wait()
    except TimeoutError:
        return False
