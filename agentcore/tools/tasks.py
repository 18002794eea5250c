"""Commands that run on in the background, and the tools to start, read and stop them."""

from __future__ import annotations

import asyncio
import time

from agentcore.errors import ToolError
from agentcore.limits import Limits, whole_characters
from agentcore.messages import ToolStatus
from agentcore.options import Effect
from agentcore.tools.arguments import FunctionTool, count, schema, text
from agentcore.tools.base import Tool, ToolResult, Workspace
from agentcore.tools.guard import Reason
from agentcore.tools.paths import opened
from agentcore.tools.process import Ended, guarded
from agentcore.tools.shell import SHELL, how_it_ended, subject_of

# So long is waited after a start: a command that fails at once says so at once.
FIRST_LOOK_SECONDS = 0.5
LOOK_SECONDS = 0.05
# Room for what stands round the output in one result.
FRAME_BYTES = 400

TASK = text("The task's name, as start_task told it")


class BackgroundTask:
    """One command that runs on, and the first of what it printed to both streams."""

    def __init__(self, name: str, command: str, workspace: Workspace) -> None:
        self.name = name
        self.subject = subject_of(command)
        self.kept = bytearray()
        self.size = 0
        self._limits = workspace.limits
        self._started = time.monotonic()
        self._work = asyncio.create_task(self._run(command, workspace))
        self._work.add_done_callback(self._note_end)

    @property
    def has_ended(self) -> bool:
        return self._work.done()

    @property
    def succeeded(self) -> bool:
        work = self._work
        clean = work.done() and not work.cancelled() and not work.exception()
        return clean and work.result().reason is Reason.EXIT and not work.result().code

    @property
    def state(self) -> str:
        """How it stands, in a few words."""
        if not self.has_ended:
            return f"runs for {time.monotonic() - self._started:.0f} s"
        return f"{self._end()}, {self._seconds:.0f} s"

    @property
    def dropped(self) -> list[str]:
        """What was printed and not kept, as a note; none where all was."""
        more = self.size - len(self.kept)
        return [f"… {more} bytes after the first {len(self.kept)} were not kept"] if more else []

    async def look(self, seconds: float, beyond: int | None = None) -> None:
        """Wait for its end or, with `beyond`, until it has printed more bytes than that."""
        until = time.monotonic() + seconds
        while not self.has_ended and time.monotonic() < until:
            if beyond is not None and self.size > beyond:
                return
            await asyncio.sleep(LOOK_SECONDS)

    async def end(self) -> None:
        """End it and all that it started."""
        self._work.cancel()
        await asyncio.wait([self._work])

    async def _run(self, command: str, workspace: Workspace) -> Ended:
        with opened(workspace, ".") as folder:
            program = guarded(
                [SHELL, "-c", command],
                workspace,
                folder=folder,
                stdout=self._feed,
                stderr=self._feed,
            )
            async with program as running:
                return await running.wait()

    def _feed(self, data: bytes) -> None:
        self.size += len(data)
        most = self._limits.background_bytes
        self.kept += data[: most - len(self.kept)] if most else data

    def _note_end(self, work: asyncio.Task[Ended]) -> None:
        self._seconds = time.monotonic() - self._started

    def _end(self) -> str:
        if self._work.cancelled():
            return "stopped"
        if error := self._work.exception():
            return f"failed: {error}"
        return how_it_ended(self._work.result(), self._limits)


class Tasks:
    """The background tasks of one session's work. Close it: tasks end with the work, or with the
    worker when that is killed."""

    def __init__(self) -> None:
        self._tasks: dict[str, BackgroundTask] = {}
        self._started = 0
        self.tools: tuple[Tool, ...] = (
            FunctionTool(
                "start_task",
                "Start a command that runs on in the background, such as a server or a watcher. "
                "It ends when you stop it, and at the end of your answer.",
                schema({"command": text("The command line")}),
                self._start,
                Effect.COMMAND,
            ),
            FunctionTool(
                "read_task",
                "Read what a background task printed, from the beginning or from a byte on, and "
                "whether it still runs.",
                schema(
                    {"task": TASK},
                    {
                        "offset": {**count("Byte to read from, as told before"), "minimum": 0},
                        "wait": count("Seconds to wait for its end or for more output"),
                    },
                ),
                self._read,
            ),
            FunctionTool(
                "stop_task",
                "End a background task and all that it started.",
                schema({"task": TASK}),
                self._stop,
            ),
        )

    async def close(self) -> None:
        await asyncio.gather(*(task.end() for task in self._tasks.values()))

    async def _start(self, workspace: Workspace, command: str) -> ToolResult:
        self._make_room(workspace.limits.background_tasks)
        self._started += 1
        task = BackgroundTask(f"task-{self._started}", command, workspace)
        self._tasks[task.name] = task
        await task.look(FIRST_LOOK_SECONDS)
        head = f"start_task {task.name} ({task.state}): {task.subject}"
        if task.has_ended:
            status = ToolStatus.OK if task.succeeded else ToolStatus.FAILED
            output = task.kept.decode(errors="replace")
            return ToolResult("\n".join([head, *task.dropped, output]), status)
        return ToolResult(f"{head}\nread its output with read_task, task={task.name}")

    def _make_room(self, most: int) -> None:
        """Refuses one more than may run; forgets the oldest of those that have ended."""
        ended = [name for name, task in self._tasks.items() if task.has_ended]
        running = len(self._tasks) - len(ended)
        if 0 < most <= running:
            raise ToolError(f"{running} tasks run, that is the limit: stop one first")
        for name in ended[: max(0, len(ended) - most + 1)]:
            del self._tasks[name]

    async def _read(
        self, workspace: Workspace, task: str, *, offset: int = 0, wait: int = 0
    ) -> ToolResult:
        one = self._named(task)
        longest = workspace.limits.command_seconds
        await one.look(min(wait, longest) if longest else wait, beyond=offset)
        head = f"read_task {one.name} ({one.state}): {one.subject}"
        shown, end = _from(one.kept, offset, workspace.limits)
        notes = []
        if end < len(one.kept):
            notes.append(f"… {len(one.kept) - end} more bytes; read on with offset={end}")
        else:
            notes += one.dropped
        if not shown:
            return ToolResult("\n".join([f"{head}\n(no more output; offset={offset})", *notes]))
        title = f"--- bytes {offset}-{end} of {one.size}"
        return ToolResult("\n".join([head, title, shown, *notes]))

    async def _stop(self, workspace: Workspace, task: str) -> ToolResult:
        one = self._named(task)
        await one.end()
        return ToolResult(
            f"stop_task {one.name} ({one.state}): {one.subject}\nit printed {one.size} bytes"
        )

    def _named(self, name: str) -> BackgroundTask:
        if name not in self._tasks:
            known = ", ".join(self._tasks) or "none"
            ends = "all end with an answer, a change of mode, and while the run waits for a person"
            raise ToolError(f"there is no task {name!r:.80} now ({ends}); there are {known}")
        return self._tasks[name]


def _from(kept: bytearray, offset: int, limits: Limits) -> tuple[str, int]:
    """As much as one result holds, and the byte at which it ends. What is only the beginning of
    a character waits for the rest of it."""
    room = max(4, limits.result_bytes - FRAME_BYTES) if limits.result_bytes else len(kept)
    piece = whole_characters(bytes(kept[offset : offset + room]))
    return piece.decode(errors="replace"), offset + len(piece)
