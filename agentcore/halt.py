"""Stopping what is being waited for, at once and cleanly."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Halted(Exception):
    """The run was told to stop while it waited."""


class Waits(Exception):
    """The run waits for a person; all of it is stored, and no worker is needed meanwhile."""


class Halt:
    """A switch that is thrown once. Throw it in the event loop that waits."""

    def __init__(self) -> None:
        self._thrown = asyncio.Event()

    @property
    def is_thrown(self) -> bool:
        return self._thrown.is_set()

    def throw(self) -> None:
        self._thrown.set()

    async def race(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of the work, or Halted after the work was cancelled and has ended."""
        task = asyncio.ensure_future(work)
        switch = asyncio.ensure_future(self._thrown.wait())
        try:
            await asyncio.wait({task, switch}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise Halted
            return task.result()
        finally:
            switch.cancel()
            task.cancel()
            await asyncio.gather(task, switch, return_exceptions=True)
