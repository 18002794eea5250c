"""Sessions at work in tests: what a scripted model says, what is asked of it, what it came to."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from builders import a_session, a_user
from channels.db import database_sync_to_async
from django.contrib.auth.models import User
from django.db import connections

from agentcore.invariants import legal
from hermesweb import acts, lives
from hermesweb.models import AgentSession


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
