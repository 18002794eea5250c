from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import PATIENCE, alive, wait_until

from agentcore.errors import ToolError
from agentcore.limits import KIB, MIB, Limits
from agentcore.messages import ToolCall, ToolStatus
from agentcore.tools import toolbox
from agentcore.tools.base import ToolResult, Workspace
from agentcore.tools.shell import RUN_COMMAND, Capture
from agentcore.wire import dumps

ROOT = Path(__file__).resolve().parents[2]
# Leaves the group, ignores what can be ignored, and tells its number.
STUBBORN = "trap '' TERM HUP INT; echo $$ >> pids; while :; do sleep 0.05; done"
WORKER = """
import asyncio, sys
from pathlib import Path
from agentcore.tools.base import Workspace
from agentcore.tools.shell import run_command
print(asyncio.run(run_command(Workspace(Path(sys.argv[1])), sys.argv[2])).text)
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path.resolve())


async def run(workspace: Workspace, command: str, **arguments: Any) -> ToolResult:
    return await RUN_COMMAND.run({"command": command, **arguments}, workspace)


def started(workspace: Workspace, count: int) -> list[int]:
    """Process numbers that a command wrote down, as soon as there are so many."""
    path = workspace.root / "pids"
    wait_until(lambda: path.exists() and len(path.read_text().split()) >= count)
    return [int(number) for number in path.read_text().split()]


async def test_output_and_exit_code_of_a_command(workspace: Workspace) -> None:
    result = await run(workspace, "echo out; echo err >&2")
    head, _, rest = result.text.partition("\n")
    assert head.startswith("run_command (exit code 0, ")
    assert head.endswith(" s): echo out; echo err >&2")
    assert rest == "--- stdout\nout\n\n--- stderr\nerr\n"
    assert result.status is ToolStatus.OK


async def test_a_failure_tells_its_exit_code(workspace: Workspace) -> None:
    result = await run(workspace, "exit 3")
    assert result.text.startswith("run_command (exit code 3, ")
    assert result.text.endswith("\n(no output)")
    assert result.status is ToolStatus.FAILED


async def test_a_signal_tells_the_exit_code_that_a_shell_gives(workspace: Workspace) -> None:
    result = await run(workspace, "kill -SEGV $$")
    assert result.text.startswith("run_command (exit code 139, signal 11, ")
    assert result.status is ToolStatus.FAILED


async def test_a_long_command_is_named_shortly_in_the_first_line(workspace: Workspace) -> None:
    result = await run(workspace, "true " + "long " * 100 + "\ntrue")
    first = result.text.split("\n")[0]
    assert first.endswith(" s): true long long long long long long long long long …")
    assert len(first) < 120


async def test_a_command_runs_in_the_workspace_without_the_environment(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VENDOR_API_KEY", "secret-of-the-worker")
    result = await run(workspace, "pwd; env")
    assert f"\n{workspace.root}\n" in result.text
    assert f"\nHOME={workspace.root}\n" in result.text
    assert "secret-of-the-worker" not in result.text
    names = {line.split("=")[0] for line in result.text.split("\n") if "=" in line}
    assert names <= {
        *("PATH", "HOME", "LANG", "TERM", "NO_COLOR", "PAGER", "GIT_TERMINAL_PROMPT"),
        *("PWD", "OLDPWD", "SHLVL", "_"),
    }


async def test_a_command_holds_no_descriptor_of_the_worker(workspace: Workspace) -> None:
    result = await run(workspace, "ls -1 /proc/$$/fd; true")
    assert set(result.text.partition("--- stdout\n")[2].split()) <= {"0", "1", "2", "255"}


async def test_a_command_that_waits_for_input_gets_none(workspace: Workspace) -> None:
    result = await run(workspace, "read line; cat; echo end")
    assert result.text.endswith("--- stdout\nend\n")


async def test_a_command_that_cannot_be_passed_is_refused(workspace: Workspace) -> None:
    for command, told in (("echo \0", "NUL"), ("echo \ud800", "surrogates")):
        with pytest.raises(ToolError, match=told):
            await run(workspace, command)
    with pytest.raises(ToolError, match="200005 bytes are more than .* put the text into a file"):
        await run(workspace, "echo " + "x" * 200_000)


async def test_a_command_ends_at_its_time_with_what_it_printed(workspace: Workspace) -> None:
    begun = time.monotonic()
    result = await run(workspace, "echo before; sleep 60", timeout=3)
    assert result.text.startswith("run_command (killed after 3 s, no exit code, ")
    assert "--- stdout\nbefore" in result.text
    assert result.status is ToolStatus.FAILED
    assert time.monotonic() - begun < PATIENCE


async def test_the_time_limit_of_the_session_is_the_longest(workspace: Workspace) -> None:
    limited = Workspace(workspace.root, Limits(command_seconds=1))
    assert "killed after 1 s" in (await run(limited, "sleep 60", timeout=60)).text
    unlimited = Workspace(workspace.root, Limits(command_seconds=0))
    assert "killed after 1 s" in (await run(unlimited, "sleep 60", timeout=1)).text


async def test_ignored_signals_and_new_sessions_do_not_outlive_the_time(
    workspace: Workspace,
) -> None:
    (workspace.root / "stubborn").write_text(STUBBORN)
    command = "setsid sh stubborn & (setsid sh stubborn &) ; sh stubborn & sh stubborn"
    begun = time.monotonic()
    await run(workspace, command, timeout=3)
    assert time.monotonic() - begun < PATIENCE
    processes = started(workspace, 4)
    assert not any(alive(process) for process in processes)


async def test_what_a_command_leaves_running_is_ended_and_told(workspace: Workspace) -> None:
    leave = "setsid sh -c 'echo $$ >> pids; exec sleep 60' &"
    command = f"{leave} until test -s pids; do sleep 0.05; done; echo done"
    begun = time.monotonic()
    result = await run(workspace, command)
    assert "\n… it left 1 running in the background; ended\n" in result.text
    assert result.text.endswith("--- stdout\ndone\n")
    assert result.status is ToolStatus.OK
    assert time.monotonic() - begun < PATIENCE
    assert not alive(started(workspace, 1)[0])


async def test_a_stopped_process_is_ended_too(workspace: Workspace) -> None:
    await run(workspace, "sh -c 'echo $$ >> pids; kill -STOP $$' & wait", timeout=3)
    assert not alive(started(workspace, 1)[0])


async def test_endless_output_is_bounded_counted_and_ended(workspace: Workspace) -> None:
    limited = Workspace(workspace.root, Limits(stream_bytes=10_000))
    result = await run(limited, "yes; true", timeout=3)
    assert len(result.text) < 11_000
    title = result.text.split("\n")[1]
    assert title.startswith("--- stdout truncated (")
    assert int(title.split("(")[1].split()[0]) > 10_000


async def test_each_stream_has_its_own_bound_and_keeps_its_end(workspace: Workspace) -> None:
    command = "seq 1 200000; seq 1 200000 >&2; exit 1"
    text = (await run(workspace, command)).text
    out, err = text.split("--- stderr")
    for stream, part in (("stdout", out), ("stderr", err)):
        assert part.rstrip().endswith("\n199999\n200000")
        assert "\n1\n2\n3\n" in part
        assert f"bytes of {stream} not shown here" in part
        assert 256 * KIB <= len(part.encode()) < 257 * KIB


async def test_long_output_of_a_success_is_shortened_and_kept(workspace: Workspace) -> None:
    command = "seq 1 2000; echo 'Warning: old call'; seq 2001 4000"
    result = await run(workspace, command)
    text = result.text
    assert text.startswith("run_command (exit code 0, ")
    assert "--- stdout\n1\n2\n3\n" in text
    assert "lines not shown; the session keeps the whole output; 1 of 1 among them" in text
    assert "\nWarning: old call\n" in text
    assert text.endswith("3999\n4000\n")
    assert len(text) < 1_000
    assert result.captured
    assert result.captured.count("\n") == 4_003


async def test_a_warning_that_is_cut_says_so(workspace: Workspace) -> None:
    long = f"echo warning {'x' * 300}"
    text = (await run(workspace, f"seq 1 2000; {long}; seq 2001 4000")).text
    assert f"\nwarning {'x' * 232}…\n" in text


async def test_long_output_of_a_failure_is_not_shortened_but_clamped(workspace: Workspace) -> None:
    call = ToolCall("c", "run_command", dumps({"command": "seq 1 20000; exit 1"}))
    outcome = await toolbox(workspace).call(call)
    first = outcome.text.split("\n")[0]
    assert first.startswith("run_command (exit code 1, ")
    assert "bytes omitted" in first[:200]
    assert outcome.text.endswith("\n19999\n20000\n")
    assert len(outcome.text.encode()) <= 20_120
    assert "\n10000\n" in outcome.captured
    assert outcome.cut


async def test_short_output_is_its_own_capture(workspace: Workspace) -> None:
    call = ToolCall("c", "run_command", dumps({"command": "echo x"}))
    assert (await toolbox(workspace).call(call)).cut is None


async def test_too_many_processes_end_the_command(workspace: Workspace) -> None:
    limited = Workspace(workspace.root, Limits(command_processes=40))
    command = "for i in $(seq 1 120); do sleep 60 & done; wait"
    begun = time.monotonic()
    result = await run(limited, command)
    assert result.text.startswith("run_command (killed over 40 processes, no exit code, ")
    assert result.status is ToolStatus.FAILED
    assert time.monotonic() - begun < PATIENCE


async def test_processes_of_others_do_not_count(workspace: Workspace) -> None:
    limited = Workspace(workspace.root, Limits(command_processes=20))
    command = "touch begun; until test -e others; do sleep 0.05; done; sleep 1; echo done"
    task = asyncio.create_task(run(limited, command))
    await asyncio.to_thread(wait_until, (workspace.root / "begun").exists)
    others = [subprocess.Popen(["sleep", "60"]) for _ in range(40)]
    (workspace.root / "others").touch()
    try:
        assert (await task).text.endswith("done\n")
    finally:
        for other in others:
            other.kill()
            other.wait()


async def test_a_chain_that_forks_behind_its_parent_is_ended(workspace: Workspace) -> None:
    """A bounded fork bomb: each doubles, in a session of its own, and its parent is gone."""
    (workspace.root / "bomb").write_text(
        'n=$1; echo $$ >> pids; [ "$n" -gt 0 ] || exec sleep 60\n'
        "setsid sh bomb $((n-1)) & setsid sh bomb $((n-1)) &\n"
    )
    limited = Workspace(workspace.root, Limits(command_processes=40))
    await run(limited, "sh bomb 6; sleep 60", timeout=3)
    assert not any(alive(process) for process in started(workspace, 1))


async def test_memory_over_the_limit_is_refused_to_the_command(workspace: Workspace) -> None:
    limited = Workspace(workspace.root, Limits(command_memory_bytes=200 * MIB))
    command = f"{sys.executable} -S -c 'x = bytearray(400 << 20)'"
    assert "MemoryError" in (await run(limited, command)).text


async def test_a_lower_limit_of_the_machine_stays(workspace: Workspace) -> None:
    """A worker that may use little itself still runs commands."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_DATA, (2**31, 2**31))\n"
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", limit + WORKER, str(workspace.root), "ulimit -d"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.stdout.endswith(f"--- stdout\n{2**21}\n\n"), done.stderr


async def test_a_cancelled_call_ends_its_command(workspace: Workspace) -> None:
    (workspace.root / "stubborn").write_text(STUBBORN)
    task = asyncio.create_task(run(workspace, "setsid sh stubborn & sh stubborn"))
    processes = await asyncio.to_thread(started, workspace, 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not any(alive(process) for process in processes)


async def test_a_killed_guard_is_told_and_takes_the_shell_with_it(workspace: Workspace) -> None:
    with pytest.raises(ToolError, match="guard ended early"):
        await run(workspace, "echo $$ >> pids; kill -9 $PPID; sleep 60")
    wait_until(lambda: not alive(started(workspace, 1)[0]))


async def test_a_guard_that_is_asked_to_terminate_goes_on(workspace: Workspace) -> None:
    result = await run(workspace, "kill $PPID; kill -HUP $PPID; sleep 0.2; echo still here")
    assert result.text.endswith("still here\n")


async def test_commands_run_side_by_side(workspace: Workspace) -> None:
    all_begun = 'until test "$(ls begun* | wc -l)" = 6; do sleep 0.05; done'
    commands = [f"touch begun{n}; {all_begun}; echo {n}" for n in range(6)]
    results = await asyncio.gather(*(run(workspace, one, timeout=PATIENCE) for one in commands))
    assert [result.text.split()[-1] for result in results] == [str(n) for n in range(6)]


async def test_no_descriptor_stays_open(workspace: Workspace) -> None:
    await run(workspace, "true")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        await run(workspace, "echo x; sleep 60 & exit 1")
    await asyncio.sleep(0)
    assert len(os.listdir("/proc/self/fd")) <= before


@pytest.mark.parametrize(
    "command",
    [
        "sh stubborn",
        "sh stubborn & setsid sh stubborn & (setsid sh stubborn &) ; wait",
        "echo $$ >> pids; yes",
        "echo $$ >> pids; exec sleep 600",
    ],
)
def test_nothing_of_a_command_lives_on_after_its_worker_was_killed(
    workspace: Workspace, command: str
) -> None:
    (workspace.root / "stubborn").write_text(STUBBORN)
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(workspace.root), command], cwd=ROOT
    )
    try:
        processes = started(workspace, command.count("stubborn") or 1)
        processes += _children(worker.pid)
        assert all(alive(process) for process in processes)
        worker.send_signal(signal.SIGKILL)
        wait_until(lambda: not any(alive(process) for process in processes))
    finally:
        worker.kill()
        worker.wait()


def _children(parent: int) -> list[int]:
    threads = Path(f"/proc/{parent}/task").glob("*/children")
    found = [int(number) for file in threads for number in file.read_text().split()]
    assert found, "the worker has no guard"
    return found


@given(
    pieces=st.lists(st.binary(max_size=40), max_size=30),
    limit=st.integers(0, 200),
)
def test_a_capture_keeps_front_and_end_and_counts_the_rest(pieces: list[bytes], limit: int) -> None:
    capture = Capture("stdout", limit)
    for piece in pieces:
        capture.feed(piece)
    whole = b"".join(pieces)
    text = capture.section(shorten=False)
    if not whole:
        assert text == ""
    elif not limit or len(whole) <= limit:
        assert text == "--- stdout\n" + whole.decode(errors="replace")
    else:
        dropped = int(text.partition("truncated (")[2].split()[0])
        assert 0 < len(whole) - limit <= dropped <= len(whole) - limit + 6


@given(st.text("a中😀é", min_size=60, max_size=200), st.integers(8, 100))
def test_a_capture_never_splits_a_character(whole: str, limit: int) -> None:
    capture = Capture("stdout", limit)
    for at in range(len(whole.encode())):
        capture.feed(whole.encode()[at : at + 1])
    text = capture.section(shorten=False)
    assert "\ufffd" not in text
    if "truncated" in text:
        head, _, rest = text.partition("\n")[2].partition("\n… ")
        tail = rest.partition("\n")[2]
        dropped = int(rest.split()[0])
        assert whole.startswith(head)
        assert whole.endswith(tail)
        assert len(head.encode()) + len(tail.encode()) + dropped == len(whole.encode())
