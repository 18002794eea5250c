"""The only sender to the channel layer. It says that there is news; the table has the events."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from asgiref.sync import async_to_sync
from channels.exceptions import ChannelFull
from channels.layers import get_channel_layer
from django.db import transaction
from redis.exceptions import RedisError

from agentcore.redact import settled

logger = logging.getLogger(__name__)

STAFF = "overview.staff"
# Announcements of one session are at least this far apart; what comes between is told by the last.
PAUSE_SECONDS = 0.03


def session_group(session_id: str) -> str:
    return f"session.{session_id}"


def overview_group(user_id: int) -> str:
    return f"overview.{user_id}"


async def announce(session_id: str, owner_id: int, seq: int) -> None:
    """Tell whoever looks at the session or at an overview. May be lost: the cursor finds it."""
    news = {"type": "news", "session": session_id, "seq": seq}
    for group in (session_group(session_id), overview_group(owner_id), STAFF):
        await _send(group, news)


def announce_on_commit(session_id: str, owner_id: int, seq: int) -> None:
    """For sync code: once the transaction is through."""
    transaction.on_commit(lambda: async_to_sync(announce)(session_id, owner_id, seq))


class Announcer:
    """Announces for one worker at work on one session, never faster than the pause."""

    def __init__(self, session_id: str, owner_id: int) -> None:
        self._session_id = session_id
        self._owner_id = owner_id
        self._seq = self._told = 0
        self._text: list[str] = []
        self._unsettled = ""
        self._sending: asyncio.Task[None] | None = None

    def tell(self, seq: int) -> None:
        """What was stored takes the place of the text that was streamed."""
        self._seq = max(self._seq, seq)
        self._text, self._unsettled = [], ""
        self._start()

    async def text(self, delta: str) -> None:
        """A courtesy, by whole lines with their secrets masked: the stored message is the truth."""
        lines, self._unsettled = settled(self._unsettled + delta)
        if lines:
            self._text.append(lines)
            self._start()

    async def close(self) -> None:
        if self._sending:
            await self._sending

    def _start(self) -> None:
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send_all())

    async def _send_all(self) -> None:
        while self._text or self._told < self._seq:
            if self._text:
                delta, self._text = {"text": "".join(self._text)}, []
                await _send(session_group(self._session_id), {"type": "delta", "delta": delta})
            if self._told < self._seq:
                self._told = self._seq
                await announce(self._session_id, self._owner_id, self._told)
            await asyncio.sleep(PAUSE_SECONDS)


async def _send(group: str, message: Mapping[str, Any]) -> None:
    layer = get_channel_layer()
    try:
        await layer.group_send(group, message)
    except (RedisError, OSError, ChannelFull) as error:
        logger.warning("news for %s is lost, the cursor will find it: %s", group, error)
