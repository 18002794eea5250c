"""Cases that need rows, a worker or a socket: areas race and live."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from builders import a_lease, a_session, a_user, added, answered, called, said
from calls import Caller, problem
from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from processes import PATIENCE
from scenes import a_talk_of, compacted

from agentcore.breakdown import SUMMARY_HEADER
from agentcore.compaction.summarizer import HEADINGS
from agentcore.events import ToolEnded, ToolStarted
from agentcore.llm.base import Reply
from agentcore.llm.scripted import ScriptedModel
from agentcore.messages import Message, ToolStatus
from agentcore.sections import MEMORY_END
from hermesweb import consumers, endpoints, lease, lives, runner, wake
from hermesweb.asgi import application
from hermesweb.listing import PAGE_ROWS
from hermesweb.models import AgentSession, MemoryEntry
from hermesweb.recorder import record

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _nobody_is_woken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wake, "_send", lambda session_id: None)


async def test_two_compactions_at_once(
    case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    signal, waiting = asyncio.Event(), asyncio.Event()

    class Slow(ScriptedModel):
        async def reply(self, *request: Any, **options: Any) -> Reply:
            waiting.set()
            await signal.wait()
            return await super().reply(*request, **options)

    model = Slow([{"role": "assistant", "content": "\n".join(HEADINGS)}])
    monkeypatch.setattr(endpoints, "chat_model", lambda session: model)
    long = [{**one, "content": one["content"] * 800} for one in case["messages"][1:]]
    owner, session = await _recorded([case["messages"][0], *long * 3])
    first = await _post(owner, f"sessions/{session.pk}/compactions")
    running = asyncio.create_task(runner.run(session.pk))
    await asyncio.wait_for(waiting.wait(), PATIENCE)
    second = await _post(owner, f"sessions/{session.pk}/compactions")
    signal.set()
    await running
    await session.arefresh_from_db()
    assert len(model.requests) == 1
    assert first.status_code == 202
    assert problem(second) == (409, "running", None)
    assert await session.stored_compactions.acount() == 1
    texts = await database_sync_to_async(_texts)(session)
    assert sum(text.startswith(SUMMARY_HEADER) for text in texts) == 1


def saying(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


LONG_TALK = [saying("user", "x" * 9_000), saying("assistant", "y" * 9_000)] * 6


class Dead(BaseException):
    """Stands for SIGKILL: nothing more is reported."""


async def test_cancelled_compaction_leaves_state_busy(
    case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert case["events"][:2] == ["compaction starts", "user cancels"]
    monkeypatch.setattr(runner, "WATCH_SECONDS", 0.02)
    for killed in (False, True):
        model = Summarizing()
        monkeypatch.setattr(endpoints, "chat_model", lambda session, model=model: model)
        owner, session = await _recorded([saying("system", "be careful"), *LONG_TALK])
        await _post(owner, f"sessions/{session.pk}/compactions")
        running = asyncio.create_task(runner.run(session.pk))
        await asyncio.wait_for(model.asked.wait(), PATIENCE)
        assert (await _now(session)).status == "compacting"
        if killed:
            await _killed(session, model, running, monkeypatch)
            await runner.run(session.pk)
        else:
            await _post(owner, f"sessions/{session.pk}/stop")
            await asyncio.wait_for(running, PATIENCE)
            rows = session.stored_compactions.values_list("state", "failure")
            assert [row async for row in rows] == [("failed", "cancelled")]
        assert (await _now(session)).status == "idle"
        await _post(owner, f"sessions/{session.pk}/instructions", {"text": "hello"})
        await runner.run(session.pk)
        assert model.requests[-1].messages[-1].text == "hello"
        assert (await _now(session)).status == "idle"


class Summarizing(ScriptedModel):
    """Its first summary takes until it is `over`; the later ones and its answers come at once."""

    def __init__(self) -> None:
        super().__init__([saying("assistant", "\n".join(HEADINGS))] * 9)
        self.asked, self.over = asyncio.Event(), asyncio.Event()

    async def reply(self, *request: Any, **options: Any) -> Reply:
        if not self.asked.is_set():
            self.asked.set()
            await self.over.wait()
            raise Dead
        return await super().reply(*request, **options)


async def _killed(
    session: AgentSession,
    model: Summarizing,
    running: asyncio.Task[None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The worker is gone without a word; the sweep finds its session when the lease has ended."""
    left = await _now(session)
    assert left.lease_ends is not None
    assert left.lease_ends <= timezone.now() + timedelta(seconds=lease.SECONDS)
    with monkeypatch.context() as dead:
        dead.setattr(runner, "record", _dies)
        model.over.set()
        with pytest.raises(Dead):
            await running
    as_left = {"holder": left.holder, "status": left.status, "asked_at": None}
    row = AgentSession.objects.filter(pk=session.pk)
    await row.aupdate(lease_ends=left.lease_ends, **as_left)
    assert await database_sync_to_async(lease.lost)() == []
    await row.aupdate(lease_ends=timezone.now() - timedelta(milliseconds=1))
    assert await database_sync_to_async(lease.lost)() == [session.pk]


def _dies(*arguments: Any) -> int:
    raise Dead


async def _now(session: AgentSession) -> AgentSession:
    return await AgentSession.objects.aget(pk=session.pk)


async def test_events_lost_while_offline(
    case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert case["events"].startswith("seq 1 to 12, one compaction at 7")
    owner, session = await database_sync_to_async(_twelve_events)()
    events = [event for frame in await _missed(owner, session, 5) for event in frame["events"]]
    assert [event["seq"] for event in events] == list(range(6, 13))
    by_seq = {event["seq"]: event for event in events}
    assert by_seq[7]["data"]["after"] < by_seq[7]["data"]["before"]
    assert [by_seq[seq]["kind"] for seq in (8, 9)] == ["tool_started", "tool_ended"]
    assert by_seq[8]["data"]["call"] == by_seq[9]["data"]["call"]
    monkeypatch.setattr(consumers, "MOST_MISSED", 5)
    assert (await _missed(owner, session, 5))[0].get("reload")


def test_page_of_a_very_long_session(case: dict[str, Any]) -> None:
    assert case["session"].startswith("6000 messages, 40 results of 300000 characters")
    owner = a_user()
    session = _stored(owner, _long_talk(6_000, 40))
    short = _stored(owner, _long_talk(200, 2))
    compacted(session, start=3_000, stop=3_002)
    browser = Client()
    browser.force_login(owner)
    page, queries = _asked(browser, f"/sessions/{session.pk}/")
    _, few = _asked(browser, f"/sessions/{short.pk}/")
    assert len(page) <= 1_000_000
    assert 0 < len(re.findall(r'id="message-\d+"', page)) <= PAGE_ROWS
    assert len(queries) <= len(few) + 2
    caller = Caller(owner)
    listed = caller.get(f"sessions/{session.pk}/messages", cursor="11800.2950.2949").json()
    sizes = {one["number"]: one["bytes"] for one in listed["items"]}
    assert set(sizes) >= {2951, 2999}
    assert all(len(one["preview"]) <= 160 for one in listed["items"])
    for search, hits in (("?q=xxxx&whole=1", True), ("?q=nowhere&whole=1", False)):
        page, queries = _asked(browser, f"/sessions/{session.pk}/{search}")
        _, few = _asked(browser, f"/sessions/{short.pk}/{search}")
        assert len(page) <= 1_000_000 and len(queries) <= len(few) + 2
        assert ("<mark>xxxx</mark>" in page) is hits
    largest = session.messages.order_by("-bytes").defer("wire")[0]
    assert largest.bytes > 300_000
    whole = caller.get(f"sessions/{session.pk}/messages/{largest.number}").json()
    assert len(whole["wire"].encode()) == largest.bytes


async def test_stale_system_message_on_resume(
    case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel([{"role": "assistant", "content": "Gladly."}])
    monkeypatch.setattr(endpoints, "chat_model", lambda session: model)
    owner, session = await _recorded(case["stored"])
    stored = [row.text async for row in session.messages.order_by("number")]
    await MemoryEntry.objects.acreate(
        owner=owner, workspace=session.workspace, kind="fact", text="go slowly", edited=True
    )
    await _post(owner, f"sessions/{session.pk}/instructions", {"text": "go on"})
    await runner.run(session.pk)
    sent = model.requests[0].messages
    rules = "You are a careful software agent."
    assert sent[0].text.startswith(rules) and "MEMORY-BLOCK" not in sent[0].text
    assert sent[0].text.endswith(f"- [fact] go slowly\n{MEMORY_END}")
    assert [message.wire for message in sent[1:-1]] == stored[1:]
    got = await _get(owner, f"sessions/{session.pk}/diff?from=0&to=1")
    rebuilt = next(row for row in got["rows"] if row.get("fate") == "rebuilt")
    old, new = [await _wire(owner, session, rebuilt[name]) for name in ("number", "replaced_by")]
    assert "old rules" in old and rules in new
    _, untouched = await _recorded(case["stored"], kind="imported")
    assert "old rules" in await _wire(owner, untouched, 1)


@database_sync_to_async
def _recorded(messages: list[dict[str, Any]], kind: str = "run") -> tuple[User, AgentSession]:
    owner = User.objects.filter(username="ada").first() or a_user()
    said_before = [said(at, one["content"], one["role"]) for at, one in enumerate(messages, 1)]
    session = a_talk_of(owner, *said_before, kind=kind)
    AgentSession.objects.filter(pk=session.pk).update(status="idle")
    return owner, session


@database_sync_to_async
def _post(user: User, path: str, body: Any = None) -> Any:
    return Caller(user).post(path, body)


async def _wire(user: User, session: AgentSession, number: int) -> str:
    got = await _get(user, f"sessions/{session.pk}/messages/{number}")
    return str(got["wire"])


@database_sync_to_async
def _get(user: User, path: str) -> Any:
    return Caller(user).get(path).json()


def _texts(session: AgentSession) -> list[str]:
    return [message.text for message in lives.snapshot_of(session).messages]


def _stored(owner: User, messages: list[Message]) -> AgentSession:
    session = a_session(owner)
    held = a_lease(session)
    record(session.pk, held.fence, added(*messages))
    lease.release(held)
    session.refresh_from_db()
    return session


def _twelve_events() -> tuple[User, AgentSession]:
    owner = a_user()
    session = a_session(owner)
    fence = a_lease(session).fence
    first = [said(number, f"text {number} " * 50) for number in range(1, 7)]
    record(session.pk, fence, added(*first))
    AgentSession.objects.update(holder="")
    session.refresh_from_db()
    compacted(session, start=2, stop=5)
    held = a_lease(session)
    call = called(8, "read_file")
    record(
        session.pk,
        held.fence,
        [
            ToolStarted(call.calls[0], 1),
            ToolEnded(call.calls[0], 1, ToolStatus.OK, 0.1),
            *added(call, answered(9, call.calls[0].id, "ok"), said(10, "done", "assistant")),
        ],
    )
    return owner, session


async def _missed(owner: User, session: AgentSession, after: int) -> list[dict[str, Any]]:
    """The frames that a socket gets before its first cursor."""
    client = Client()
    await database_sync_to_async(client.force_login)(owner)
    cookie = "; ".join(f"{name}={one.value}" for name, one in client.cookies.items())
    headers = [(b"origin", b"http://localhost"), (b"host", b"localhost")]
    path = f"/ws/sessions/{session.pk}/?after={after}"
    socket = WebsocketCommunicator(application, path, [*headers, (b"cookie", cookie.encode())])
    await socket.connect(timeout=PATIENCE)
    frames = [json.loads(await socket.receive_from(timeout=PATIENCE))]
    while "cursor" not in frames[-1] and "reload" not in frames[-1]:
        frames.append(json.loads(await socket.receive_from(timeout=PATIENCE)))
    await socket.disconnect(timeout=PATIENCE)
    return [frame for frame in frames if "cursor" not in frame]


def _long_talk(count: int, large: int) -> list[Message]:
    """`large` of the results have 300,000 characters."""
    messages = [said(1, "Be careful.", "system"), said(2, "Read it all.")]
    every = count // large
    while len(messages) < count:
        number = len(messages) + 1
        size = 300_000 if (number // 2) % (every // 2) == 0 else 40
        messages.append(called(number, "read_file"))
        messages.append(answered(number + 1, f"call_{number}_0", "x" * size, tool="read_file"))
    return messages


def _asked(browser: Client, path: str) -> tuple[str, list[str]]:
    with CaptureQueriesContext(connection) as asked:
        page = browser.get(path).content.decode()
    return page, [query["sql"] for query in asked.captured_queries]
