from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from processes import PATIENCE, alive, wait_until

from agentcore.limits import Limits
from agentcore.messages import ToolCall, ToolStatus
from agentcore.tools.base import Outcome, Toolbox, Workspace
from agentcore.tools.tasks import Tasks
from agentcore.wire import dumps

ROOT = Path(__file__).resolve().parents[2]
WORKER = """
import asyncio, sys
from pathlib import Path
from agentcore.tools.base import Workspace
from agentcore.tools.tasks import Tasks

async def work():
    tasks = Tasks()
    start = tasks.tools[0]
    result = await start.run({"command": sys.argv[2]}, Workspace(Path(sys.argv[1])))
    print(result.text, flush=True)
    await asyncio.sleep(600)

asyncio.run(work())
"""


class Desk:
    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.tasks = Tasks()
        self._box = Toolbox(self.tasks.tools, workspace)

    async def call(self, tool: str, **arguments: Any) -> Outcome:
        return await self._box.call(ToolCall("c", f"{tool}_task", dumps(arguments)))

    async def text(self, tool: str, **arguments: Any) -> str:
        return (await self.call(tool, **arguments)).text

    async def printed(self, task: str, count: int) -> None:
        """Waits until it has printed so many bytes."""
        async with asyncio.timeout(PATIENCE):
            while f" of {count}\n" not in await self.text("read", task=task):
                await asyncio.sleep(0.02)

    def file(self, name: str) -> Path:
        return self.workspace.root / name


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a command takes to begin, its end at once is seen."""
    monkeypatch.setattr("agentcore.tools.tasks.FIRST_LOOK_SECONDS", PATIENCE)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(Workspace(tmp_path.resolve()))
    yield desk
    await desk.tasks.close()


def limited(desk: Desk, **limits: int) -> Desk:
    return Desk(Workspace(desk.workspace.root, Limits(**limits)))


async def test_a_task_is_started_read_and_stopped(desk: Desk) -> None:
    command = "echo $$ > pid; echo begun; echo problem >&2; while :; do sleep 0.05; done"
    started = await desk.text("start", command=command)
    assert started.startswith("start_task task-1 (runs for ")
    assert "read_task, task=task-1" in started
    await desk.printed("task-1", 14)
    read = await desk.text("read", task="task-1")
    assert read.split("\n")[0].startswith("read_task task-1 (runs for ")
    assert sorted(read.split("\n")[2:4]) == ["begun", "problem"]
    stopped = await desk.text("stop", task="task-1")
    assert stopped.startswith("stop_task task-1 (stopped, ")
    assert stopped.endswith("it printed 14 bytes")
    assert not alive(int(desk.file("pid").read_text()))
    assert "begun" in await desk.text("read", task="task-1")


async def test_a_command_that_fails_at_once_says_so_at_once(desk: Desk, patient: None) -> None:
    outcome = await desk.call("start", command="echo no such thing >&2; exit 3")
    assert outcome.text.startswith("start_task task-1 (exit code 3, ")
    assert outcome.text.endswith("\nno such thing\n")
    assert outcome.status is ToolStatus.FAILED


async def test_reading_goes_on_where_it_ended(desk: Desk) -> None:
    small = limited(desk, result_bytes=1_000)
    await small.text("start", command="seq 1 400; sleep 60")
    await small.printed("task-1", 1_492)
    whole, offset = "", 0
    while True:
        text = await small.text("read", task="task-1", offset=offset)
        assert len(text.encode()) <= 1_000
        body = text.partition("--- bytes")[2].partition("\n")[2]
        whole += body.partition("\n… ")[0]
        if "read on with offset=" not in text:
            break
        offset = int(text.rpartition("offset=")[2])
    assert whole.split() == [str(number) for number in range(1, 401)]
    await small.tasks.close()


async def test_a_character_is_never_read_in_two_halves(desk: Desk) -> None:
    small = limited(desk, result_bytes=411)  # 11 bytes of output a read
    await small.text("start", command="printf '中文é😀中文é😀'; sleep 60")
    await small.printed("task-1", 24)
    whole, offset = "", 0
    while offset < 24:
        text = await small.text("read", task="task-1", offset=offset)
        body = text.partition("--- bytes")[2]
        offset = int(body.split()[0].partition("-")[2])
        whole += body.partition("\n")[2].partition("\n… ")[0]
    assert whole == "中文é😀" * 2
    await small.tasks.close()


async def test_output_over_the_limit_keeps_the_first_and_tells_the_rest(desk: Desk) -> None:
    small = limited(desk, background_bytes=1_000)
    await small.text("start", command="seq 1 1000; sleep 60")
    await small.printed("task-1", 3_893)
    text = await small.text("read", task="task-1")
    assert "\n1\n2\n3\n" in text
    assert text.endswith("… 2893 bytes after the first 1000 were not kept")
    assert "--- bytes 0-1000 of 3893" in text
    await small.tasks.close()


async def test_a_task_that_ends_at_once_tells_what_of_its_output_was_not_kept(
    desk: Desk, patient: None
) -> None:
    small = limited(desk, background_bytes=1_000)
    head, note, *rest = (await small.text("start", command="seq 1 1000")).split("\n")
    assert "exit code 0" in head
    assert note == "… 2893 bytes after the first 1000 were not kept"
    assert rest[:3] == ["1", "2", "3"]


async def test_a_task_that_prints_for_ever_holds_no_more_than_its_limit(desk: Desk) -> None:
    small = limited(desk, background_bytes=10_000)
    await small.text("start", command="yes")
    text = await small.text("read", task="task-1", offset=10_000, wait=PATIENCE)
    assert "--- bytes" not in text
    assert int(text.partition("… ")[2].split()[0]) > 0
    await small.tasks.close()


async def test_waiting_ends_with_more_output_or_with_the_task(desk: Desk) -> None:
    await desk.text("start", command="sleep 1; echo late; sleep 60")
    assert "\nlate\n" in await desk.text("read", task="task-1", wait=30)
    await desk.text("start", command="sleep 1; exit 4")
    text = await desk.text("read", task="task-2", wait=30)
    assert text.startswith("read_task task-2 (exit code 4, ")
    assert "(no more output; offset=0)" in text


async def test_too_many_tasks_are_refused_and_ended_ones_make_room(desk: Desk) -> None:
    small = limited(desk, background_tasks=2)
    for _ in range(2):
        await small.text("start", command="sleep 60")
    refused = await small.call("start", command="sleep 60")
    assert refused.text == "start_task: 2 tasks run, that is the limit: stop one first"
    assert refused.status is ToolStatus.FAILED
    await small.text("stop", task="task-1")
    assert "task-3 (runs" in await small.text("start", command="sleep 60")
    await small.tasks.close()


async def test_a_name_that_is_none_is_refused_with_those_there_are(desk: Desk) -> None:
    text = (
        "read_task: there is no task 'x' now (all end with an answer, a change of mode, and while "
        "the run waits for a person); there are none"
    )
    assert await desk.text("read", task="x") == text
    await desk.text("start", command="sleep 60")
    assert (await desk.text("stop", task="x")).endswith("there are task-1")


async def test_closing_ends_all_and_what_they_started(desk: Desk) -> None:
    stubborn = "trap '' TERM; echo $$ >> pids; while :; do sleep 0.05; done"
    desk.file("stubborn").write_text(stubborn)
    await desk.text("start", command="setsid sh stubborn & sh stubborn")
    await desk.text("start", command="(setsid sh stubborn &); sh stubborn")
    await asyncio.to_thread(wait_until, lambda: len(desk.file("pids").read_text().split()) == 4)
    await desk.tasks.close()
    assert not any(alive(int(process)) for process in desk.file("pids").read_text().split())


async def test_a_killed_guard_is_told(desk: Desk) -> None:
    await desk.text("start", command="sleep 1; kill -9 $PPID; sleep 60")
    text = await desk.text("read", task="task-1", wait=30)
    assert "guard ended early" in text.split("\n")[0]


def test_no_task_lives_on_after_its_worker_was_killed(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    command = "echo $$ > pid; trap '' TERM; while :; do sleep 0.05; done"
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(tmp_path), command], cwd=ROOT, stdout=subprocess.PIPE
    )
    assert worker.stdout
    try:
        assert worker.stdout.readline().startswith(b"start_task task-1 (runs")
        wait_until(lambda: pid.exists() and pid.read_text().endswith("\n"))
    finally:
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
        worker.stdout.close()
    process = int(pid.read_text())
    wait_until(lambda: not alive(process))
