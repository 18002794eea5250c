from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from builders import a_lease, a_session, a_user, added, said
from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.test import Client
from processes import PATIENCE

from hermesweb import consumers, live, reader
from hermesweb.asgi import application
from hermesweb.models import AgentSession, SessionEvent
from hermesweb.recorder import record

pytestmark = pytest.mark.django_db(transaction=True)

HERE = b"http://localhost"


def cookies(user: User) -> bytes:
    client = Client()
    client.force_login(user)
    return "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items()).encode()


async def a_socket(path: str, user: User | None, origin: bytes = HERE) -> WebsocketCommunicator:
    headers = [(b"origin", origin), (b"host", b"localhost")]
    if user:
        headers.append((b"cookie", await database_sync_to_async(cookies)(user)))
    return WebsocketCommunicator(application, path, headers)


@asynccontextmanager
async def joined(session: AgentSession, after: int = 0) -> AsyncIterator[WebsocketCommunicator]:
    """A socket of the owner that has had what was there, up to its first cursor."""
    owner = await User.objects.aget(pk=session.owner_id)
    socket = await a_socket(f"/ws/sessions/{session.pk}/?after={after}", owner)
    connected, _ = await socket.connect(timeout=PATIENCE)
    assert connected
    yield socket
    await socket.disconnect(timeout=PATIENCE)


@database_sync_to_async
def made(count: int = 0, **known: Any) -> tuple[AgentSession, int]:
    """A session with `count` events, and its fencing number."""
    session = a_session(**known)
    fence = a_lease(session).fence
    if count:
        record(session.pk, fence, added(*(said(n, f"text {n}") for n in range(1, count + 1))))
    return session, fence


@database_sync_to_async
def more(session: AgentSession, fence: int, number: int) -> int:
    return record(session.pk, fence, added(said(number, f"text {number}")))


async def frames_until_cursor(socket: WebsocketCommunicator) -> list[dict[str, Any]]:
    frames = []
    while True:
        frame = json.loads(await socket.receive_from(timeout=PATIENCE))
        if "cursor" in frame:
            return frames
        frames.append(frame)


def seqs(frames: list[dict[str, Any]]) -> list[int]:
    return [event["seq"] for frame in frames for event in frame["events"]]


async def closed_with(socket: WebsocketCommunicator) -> int:
    await socket.connect(timeout=PATIENCE)
    closing = await socket.receive_output(timeout=PATIENCE)
    assert closing["type"] == "websocket.close"
    return int(closing["code"])


async def test_without_sign_in_a_socket_is_closed_with_4401() -> None:
    session, _ = await made()
    assert await closed_with(await a_socket(f"/ws/sessions/{session.pk}/", None)) == 4401
    assert await closed_with(await a_socket("/ws/overview/", None)) == 4401


async def test_a_stranger_and_a_session_that_is_not_there_get_4403() -> None:
    session, _ = await made()
    stranger = await database_sync_to_async(a_user)("eve")
    assert await closed_with(await a_socket(f"/ws/sessions/{session.pk}/", stranger)) == 4403
    assert await closed_with(await a_socket("/ws/sessions/none/", stranger)) == 4403


@pytest.mark.usefixtures("no_nul_stored")
async def test_a_session_of_a_name_with_nul_is_not_there() -> None:
    owner = await database_sync_to_async(a_user)()
    for path in ("/ws/sessions/%00/", "/ws/sessions/\0/", "/ws/sessions/a\0b/?after=1"):
        assert await closed_with(await a_socket(path, owner)) == 4403


@pytest.mark.parametrize("path", ["/", "/ws/", "/ws/overview", "/ws/sessions/a/b/", "/ws/\0é"])
async def test_a_path_that_is_no_socket_is_closed_with_4404(path: str) -> None:
    owner = await database_sync_to_async(a_user)()
    for user in (owner, None):
        assert await closed_with(await a_socket(path, user)) == 4404


async def test_a_foreign_origin_is_refused_before_anything_else() -> None:
    session, _ = await made()
    owner = await User.objects.aget(pk=session.owner_id)
    socket = await a_socket(f"/ws/sessions/{session.pk}/", owner, b"http://evil.example")
    connected, _ = await socket.connect(timeout=PATIENCE)
    assert not connected


async def test_what_was_missed_is_replayed_in_order_then_the_cursor() -> None:
    session, _ = await made(12)
    async with joined(session, after=5) as socket:
        frames = await frames_until_cursor(socket)
    assert seqs(frames) == list(range(6, 13))
    assert frames[-1]["last"] == 12
    assert frames[0]["events"][0]["kind"] == "message_added"
    assert frames[0]["events"][0]["data"]["preview"] == "text 6"


async def test_news_reaches_all_sockets_of_a_session_from_one_reading(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read, places = reader._read, []

    async def counted(session_id: str, after: int) -> reader.Missed:
        places.append(after)
        return await read(session_id, after)

    session, fence = await made(1)
    async with joined(session) as one, joined(session) as two:
        for socket in (one, two):
            assert seqs(await frames_until_cursor(socket)) == [1]
        monkeypatch.setattr(reader, "_read", counted)
        await live.announce(session.pk, session.owner_id, await more(session, fence, 2))
        first, second = (
            await one.receive_from(timeout=PATIENCE),
            await two.receive_from(timeout=PATIENCE),
        )
    assert first == second
    assert seqs([json.loads(first)]) == [2]
    assert places == [1]


async def test_news_that_was_lost_is_found_with_the_next_one() -> None:
    session, fence = await made(1)
    async with joined(session) as socket:
        await frames_until_cursor(socket)
        await more(session, fence, 2)
        await live.announce(session.pk, session.owner_id, await more(session, fence, 3))
        assert seqs([json.loads(await socket.receive_from(timeout=PATIENCE))]) == [2, 3]


async def test_a_quiet_socket_finds_lost_news_with_its_cursor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(consumers, "CURSOR_SECONDS", 0.2)
    session, fence = await made(1)
    async with joined(session) as socket:
        await frames_until_cursor(socket)
        await more(session, fence, 2)
        found: list[dict[str, Any]] = []
        # Cursors of before it was stored come without news.
        while not found:
            found = await frames_until_cursor(socket)
        assert seqs(found) == [2]


async def test_a_page_may_ask_again_from_where_it_is() -> None:
    session, _ = await made(4)
    async with joined(session) as socket:
        await frames_until_cursor(socket)
        await socket.send_to(text_data='{"after": 2}')
        assert seqs([json.loads(await socket.receive_from(timeout=PATIENCE))]) == [3, 4]
        for nonsense in ("[", "[" * 9_000, "[]", '{"after": -1}', '{"after": "x"}', "\x00"):
            await socket.send_to(text_data=nonsense)
        assert await socket.receive_nothing(timeout=0.2)


async def test_a_place_that_is_no_number_of_an_event_is_the_beginning() -> None:
    session, _ = await made(2)
    owner = await User.objects.aget(pk=session.owner_id)
    socket = await a_socket(f"/ws/sessions/{session.pk}/?after={'9' * 5_000}", owner)
    assert (await socket.connect(timeout=PATIENCE))[0]
    assert seqs(await frames_until_cursor(socket)) == [1, 2]
    await socket.disconnect(timeout=PATIENCE)


async def test_who_missed_too_much_is_told_to_reload(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "MOST_MISSED", 10)
    session, fence = await made(11)
    async with joined(session) as socket:
        assert await frames_until_cursor(socket) == [{"reload": True}]
        await live.announce(session.pk, session.owner_id, await more(session, fence, 12))
        assert seqs([json.loads(await socket.receive_from(timeout=PATIENCE))]) == [12]


async def test_no_frame_is_larger_than_64_kib() -> None:
    session, _ = await made()

    @database_sync_to_async
    def fill() -> None:
        SessionEvent.objects.bulk_create(
            SessionEvent(session=session, seq=n, kind="renamed", data={"title": "語" * 600})
            for n in range(1, 101)
        )
        AgentSession.objects.filter(pk=session.pk).update(seq=100)

    await fill()
    async with joined(session) as socket:
        sizes, last = [], 0
        while last < 100:
            text = await socket.receive_from(timeout=PATIENCE)
            sizes.append(len(text.encode()))
            frame = json.loads(text)
            assert frame["events"][0]["seq"] == last + 1
            last = frame["last"]
    assert len(sizes) > 2
    assert max(sizes) < 65_536


async def test_a_socket_that_takes_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "SEND_SECONDS", 0.05)
    session, _ = await made(1)

    async def never(*args: Any, **known: Any) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(consumers.SessionConsumer, "send", never)
    async with joined(session) as socket:
        closing = await socket.receive_output(timeout=PATIENCE)
    assert (closing["type"], closing["code"]) == ("websocket.close", consumers.TOO_SLOW)


async def test_streaming_text_comes_without_a_seq() -> None:
    session, _ = await made()
    async with joined(session) as socket:
        await frames_until_cursor(socket)
        announcer = live.Announcer(session.pk, session.owner_id)
        for text in ("Hel", "lo\n"):
            await announcer.text(text)
        frame = json.loads(await socket.receive_from(timeout=PATIENCE))
        await announcer.close()
    assert frame == {"delta": {"text": "Hello\n"}}


async def test_the_overview_hears_of_ones_own_sessions_and_staff_of_all() -> None:
    session, _ = await made()
    owner = await User.objects.aget(pk=session.owner_id)
    other = await database_sync_to_async(a_user)("eve")
    staff = await database_sync_to_async(a_user)("root", is_staff=True)
    sockets = [await a_socket("/ws/overview/", user) for user in (owner, other, staff)]
    for socket in sockets:
        await socket.connect(timeout=PATIENCE)
        assert await socket.receive_from(timeout=PATIENCE) == "{}"
    await live.announce(session.pk, session.owner_id, 7)
    hint = {"session": session.pk, "seq": 7}
    assert json.loads(await sockets[0].receive_from(timeout=PATIENCE)) == hint
    assert json.loads(await sockets[2].receive_from(timeout=PATIENCE)) == hint
    assert await sockets[1].receive_nothing(timeout=0.2)
    for socket in sockets:
        await socket.disconnect(timeout=PATIENCE)


async def test_a_page_ahead_of_the_table_is_told_to_reload() -> None:
    session, fence = await made(2)
    async with joined(session, after=50) as socket:
        assert json.loads(await socket.receive_from(timeout=PATIENCE)) == {"reload": True}
        assert json.loads(await socket.receive_from(timeout=PATIENCE)) == {"cursor": 2}
