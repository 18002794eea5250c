"""A network of a few names for the web tools: those of servers on the loopback, and no others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from servers import Server, said, serving

from agentcore.limits import Limits
from agentcore.messages import ToolCall
from agentcore.tools import Lent, Mode, Web, toolbox
from agentcore.tools.base import Outcome, Workspace
from agentcore.tools.fetcher import Fetcher
from agentcore.wire import dumps

HTML = "Content-Type: text/html; charset=utf-8"
PLAIN = "Content-Type: text/plain"


class Net:
    """A fetcher that knows some names; those of `servers` may be reached on the loopback."""

    def __init__(self, names: dict[str, list[str]] | None = None, **servers: Server) -> None:
        self.asked: list[str] = []
        self._names = {f"{name}.example": ["127.0.0.1"] for name in servers} | (names or {})
        trusted = {(f"{name}.example", server.port) for name, server in servers.items()}
        self.fetcher = Fetcher(trusted=frozenset(trusted), resolve=self._resolve)

    async def _resolve(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        if host not in self._names and not host[0].isdigit() and ":" not in host:
            raise OSError("no such name")
        return self._names.get(host, [host])

    async def fetch(self, url: str, **limits: int) -> Outcome:
        return await call(Web(self.fetcher), "web_fetch", Limits(**limits), url=url)


async def call(web: Web, tool: str, limits: Limits, **arguments: Any) -> Outcome:
    box = toolbox(Workspace(Path("/"), limits), Mode.DEBUG, Lent(web=web))
    return await box.call(ToolCall("c", tool, dumps(arguments)))


async def fetched(*answer: Any, **limits: int) -> Outcome:
    async with serving(said(*answer)) as server:
        return await Net(web=server).fetch(f"http://web.example:{server.port}/page", **limits)
