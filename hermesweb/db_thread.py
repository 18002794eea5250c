from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import connections

P = ParamSpec("P")
T = TypeVar("T")


class DatabaseThread:
    """Sync database work of one coroutine: one thread, one connection, in order. A connection that
    breaks stays broken: who comes after has a thread of its own."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="database")

    async def run(self, work: Callable[P, T], *args: P.args, **known: P.kwargs) -> T:
        call = partial(work, *args, **known)
        return await asyncio.get_running_loop().run_in_executor(self._executor, call)

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._executor, connections.close_all)
        self._executor.shutdown()
