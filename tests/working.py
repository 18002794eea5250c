"""Sessions at work in tests: what a scripted model says, what is asked of it, what it came to."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from asgiref.sync import async_to_sync
from builders import a_session, a_user
from channels.db import database_sync_to_async
from django.contrib.auth.models import User
from django.db import connections

from agentcore.invariants import legal
from hermesweb import acts, lives, runner
from hermesweb.models import AgentSession

# A command that leaves a trace each time it runs.
ECHO_RAN = '{"command": "echo ran >> runs"}'


def says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def calls(name: str, arguments: str, call_id: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


@database_sync_to_async
def asked(workspace: Path, *texts: str, **known: Any) -> tuple[User, AgentSession]:
    """A session in the workspace with these instructions in its queue."""
    owner = User.objects.filter(username="ada").first() or a_user()
    session = a_session(owner, workspace=str(workspace), **known)
    for text in texts:
        acts.send(owner, session, text)
    return owner, session


@database_sync_to_async
def kinds(session: AgentSession) -> list[str]:
    events = list(session.events.order_by("seq").values_list("seq", "kind"))
    assert [seq for seq, _ in events] == list(range(1, len(events) + 1))
    return [kind for _, kind in events]


@database_sync_to_async
def texts(session: AgentSession) -> list[str]:
    """What the list says now, in order; it is legal."""
    session.refresh_from_db()
    snapshot = lives.snapshot_of(session)
    assert not legal(snapshot.messages)
    assert snapshot.sizes.bytes == session.bytes
    return [message.text for message in snapshot.messages]


def in_a_thread(work: Callable[[], Any]) -> None:
    """Database work from inside a running event loop."""

    def work_then_close() -> None:
        work()
        connections.close_all()

    thread = threading.Thread(target=work_then_close)
    thread.start()
    thread.join()


def worked(session: AgentSession) -> AgentSession:
    """What a worker does of it; its events are gapless and its sizes true."""
    async_to_sync(runner.run)(session.pk)
    session.refresh_from_db()
    events = list(session.events.order_by("seq").values_list("seq", flat=True))
    assert events == list(range(1, session.seq + 1))
    assert lives.snapshot_of(session).sizes.bytes == session.bytes
    return session


def said_in(session: AgentSession) -> list[str]:
    """What the list says; it is legal."""
    messages = lives.snapshot_of(session).messages
    assert legal(messages) == []
    return [message.text for message in messages]


def kinds_of(session: AgentSession) -> list[str]:
    return list(session.events.order_by("seq").values_list("kind", flat=True))


def calls_of(*wanted: tuple[str, str]) -> dict[str, Any]:
    """A reply that calls these tools with these arguments, by the ids c0, c1 ..."""
    value = calls("", "", "")
    value["tool_calls"] = [
        {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for n, (name, arguments) in enumerate(wanted)
    ]
    return value


def times_ran(session: AgentSession) -> int:
    """How often the command of `ECHO_RAN` did."""
    found = Path(session.workspace) / "runs"
    return found.read_text().count("ran") if found.exists() else 0
