from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import alive, wait_until

from agentcore.limits import MIB, Limits
from agentcore.tools import process
from agentcore.tools.base import Workspace
from agentcore.tools.process import run_reader

ROOT = Path(__file__).resolve().parents[2]
SURROUNDINGS = "pwd; ulimit -c; ulimit -d; env; ls /proc/self/fd"
WAITS = "echo $$ >> pid; exec sleep 600"
WORKER = """
import asyncio, os, sys
from pathlib import Path
from agentcore.tools.base import Workspace
from agentcore.tools.process import run_reader
folder = os.open(sys.argv[1], os.O_RDONLY)
waits = ["/bin/sh", "-c", sys.argv[2]]
reading = run_reader(
    waits, Workspace(Path(sys.argv[1])), folder=folder, stdout=print, stderr=print
)
asyncio.run(reading)
"""


async def said(workspace: Workspace, *command: str) -> str:
    pieces: list[bytes] = []
    folder = os.open(workspace.root, os.O_RDONLY)
    try:
        await run_reader(
            command, workspace, folder=folder, stdout=pieces.append, stderr=pieces.append
        )
    finally:
        os.close(folder)
    return b"".join(pieces).decode()


def its_number(folder: Path) -> int:
    path = folder / "pid"
    wait_until(lambda: path.exists() and path.read_text().endswith("\n"))
    return int(path.read_text())


@pytest.fixture(params=["begun by itself", "under the guard"])
def workspace(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Workspace:
    if request.param == "under the guard":
        monkeypatch.setattr(process, "_setpriv", lambda: None)
    return Workspace(tmp_path.resolve(), Limits(command_memory_bytes=512 * MIB))


async def test_a_reader_runs_in_its_folder_with_limits_and_no_environment(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VENDOR_API_KEY", "secret of the worker")
    text = await said(
        workspace, "/bin/sh", "-c", "pwd; ulimit -c; ulimit -d; env; ls /proc/self/fd"
    )
    assert text.splitlines()[:3] == [str(workspace.root), "0", str(512 * 1_024)]
    assert "secret" not in text
    assert text.splitlines()[-4:] == ["0", "1", "2", "3"]


async def test_a_reader_that_is_cancelled_ends(workspace: Workspace) -> None:
    reading = asyncio.create_task(said(workspace, "/bin/sh", "-c", WAITS))
    number = await asyncio.to_thread(its_number, workspace.root)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert not alive(number)


async def test_a_reader_that_cannot_start_says_so(workspace: Workspace) -> None:
    assert "absent" in await said(workspace, "/absent")


def test_a_reader_ends_with_its_worker(tmp_path: Path) -> None:
    worker = subprocess.Popen([sys.executable, "-c", WORKER, str(tmp_path), WAITS], cwd=ROOT)
    try:
        number = its_number(tmp_path)
        worker.send_signal(signal.SIGKILL)
        wait_until(lambda: not alive(number))
    finally:
        worker.kill()
        worker.wait()


@pytest.mark.skipif(not process._setpriv(), reason="this system has no setpriv")
async def test_nothing_is_begun_for_a_worker_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 1)
    assert await said(Workspace(tmp_path), "/bin/sh", "-c", "echo begun") == ""
