from __future__ import annotations

import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from builders import a_user
from channels.db import database_sync_to_async
from django.contrib.auth.models import User
from django.test import Client
from servers import redirect, said, serving

from agentcore.messages import ToolCall, ToolStatus
from agentcore.tools import Lent, Web, toolbox
from agentcore.tools.base import Outcome, Toolbox, Workspace
from agentcore.tools.fetcher import Fetcher
from agentcore.tools.files import READ_FILE
from agentcore.tools.search import GLOB, GREP
from agentcore.tools.writing import EDIT_FILE
from hermesweb.models import AgentSession

SECRET = "the key of the neighbour"


@pytest.mark.django_db(transaction=True)
async def test_path_leaves_the_workspace(case: dict[str, Any], tmp_path: Path) -> None:
    root = _workspace(tmp_path)
    toolbox = Toolbox((READ_FILE, EDIT_FILE, GREP, GLOB), Workspace(root))
    served = []
    for path in (path.replace(case["workspace"], str(root)) for path in case["paths"]):
        edit = {"path": path, "old_text": "key", "new_text": "lock"}
        outcomes = [
            await _call(toolbox, "read_file", {"path": path}),
            await _call(toolbox, "grep", {"pattern": "key", "path": path}),
            await _call(toolbox, "edit_file", edit),
        ]
        assert all(SECRET not in outcome.text for outcome in outcomes)
        served += [path for one in outcomes[:1] if one.status is ToolStatus.OK]
    assert served == ["ok.txt", "sub/../ok.txt"]
    assert (tmp_path / "agent-victim" / "key").read_text() == SECRET
    found = await _call(toolbox, "grep", {"pattern": "neighbour"})
    files = await _call(toolbox, "glob", {"pattern": "**/*"})
    assert SECRET not in found.text
    assert "victim" not in files.text
    outside = [
        await _call(toolbox, "read_file", {"path": f"../agent-victim/{name}"})
        for name in ("key", "absent")
    ]
    assert all("out of the workspace" in outcome.text for outcome in outside)
    assert outside[0].text.replace("key", "absent") == outside[1].text
    before = set(tmp_path.rglob("*"))
    for path in case["paths"]:
        assert await _title_of_an_upload(path) == path.rsplit("/")[-1]
    assert set(tmp_path.rglob("*")) == before


@database_sync_to_async
def _title_of_an_upload(name: str) -> str:
    """What it calls itself is a title, never a place."""
    browser = Client()
    browser.force_login(User.objects.filter(username="ada").first() or a_user())
    head = f'--b\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    body = head + '[{"role": "assistant", "content": "go"}]\r\n--b--\r\n'
    kind = "multipart/form-data; boundary=b"
    done = browser.generic("POST", "/imports/new/", body, content_type=kind)
    assert done.status_code == 302, done.content
    return AgentSession.objects.latest("created_at").title


def _workspace(folder: Path) -> Path:
    root, victim = folder / "agent", folder / "agent-victim"
    for one in (root / "sub", victim):
        one.mkdir(parents=True)
    (victim / "key").write_text(SECRET)
    (root / "ok.txt").write_text("a key of its own")
    (root / "link_to_outside").symlink_to(victim / "key")
    (root / "sub" / "link_dir").symlink_to(victim)
    return root


async def _call(toolbox: Toolbox, tool: str, arguments: dict[str, Any]) -> Outcome:
    return await toolbox.call(ToolCall("c", tool, json.dumps(arguments)))


async def test_fetch_reaches_the_inside(case: dict[str, Any]) -> None:
    inside = {"localhost": "127.0.0.1", "name-that-resolves-to-10.example": "10.0.0.5"}
    async with AsyncExitStack() as servers:
        inner = await servers.enter_async_context(serving(said("the inside")))
        public = await servers.enter_async_context(serving(redirect("http://127.0.0.1/")))
        fine = await servers.enter_async_context(serving(said("fine", "Content-Type: text/plain")))

        async def resolve(host: str, port: int) -> list[str]:
            return [inside.get(host, "127.0.0.1" if host.endswith(".example") else host)]

        # The public server of the case stands on the loopback, and every port may be used, so
        # that only the address decides.
        trusted = frozenset({("public.example", public.port), ("fine.example", fine.port)})
        ports = frozenset({80, 8_000, inner.port})
        box = toolbox(Workspace(Path("/")), lent=Lent(web=Web(Fetcher(ports, trusted, resolve))))
        for url in case["urls"]:
            there = url.replace("public.example/", f"public.example:{public.port}/")
            there = there.replace("127.0.0.1:8000", f"127.0.0.1:{inner.port}")
            outcome = await _call(box, "web_fetch", {"url": there})
            assert outcome.status is ToolStatus.FAILED, there
            assert outcome.text.startswith("web_fetch: ")
        assert inner.requests == []
        assert len(public.requests) == 1
        outcome = await _call(box, "web_fetch", {"url": f"http://fine.example:{fine.port}/"})
        assert outcome.status is ToolStatus.OK
        assert outcome.text.endswith("\nfine")
