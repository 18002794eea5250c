"""Pages and worker in one process, for machines where no broker can be started."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import uvicorn
from celery.worker import WorkController
from channels.layers import InMemoryChannelLayer

from hermesweb.celery import app


class OneLoopLayer(InMemoryChannelLayer):
    """Its queues belong to the loop that the sockets live in; the worker's threads hand over."""

    _home: asyncio.AbstractEventLoop | None = None

    async def receive(self, channel: str) -> Any:
        self._home = asyncio.get_running_loop()
        return await super().receive(channel)

    async def send(self, channel: str, message: dict[str, Any]) -> None:
        await self._at_home(super().send, channel, message)

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        await self._at_home(super().group_send, group, message)

    async def _at_home(
        self, sender: Callable[..., Coroutine[Any, Any, None]], name: str, message: dict[str, Any]
    ) -> None:
        home = self._home
        if home is None or home is asyncio.get_running_loop():
            await sender(name, message)
            return
        future = asyncio.run_coroutine_threadsafe(sender(name, message), home)
        await asyncio.wrap_future(future)


def main(fd: int) -> None:
    server = uvicorn.Server(
        uvicorn.Config(
            "hermesweb.asgi:application",
            fd=fd,
            lifespan="off",
            access_log=False,
            timeout_graceful_shutdown=3,
        )
    )
    worker = WorkController(app=app, loglevel="INFO", without_gossip=True, without_mingle=True)
    thread = threading.Thread(target=worker.start, daemon=True)
    thread.start()
    server.run()
    worker.stop()
    thread.join(5)


if __name__ == "__main__":
    main(int(sys.argv[1]))
