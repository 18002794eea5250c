"""What lies in a workspace and is no ordinary text: a result that can be read, in bounded time."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import PATIENCE

from agentcore.messages import ToolCall, ToolStatus
from agentcore.tools import Lent, Web, toolbox
from agentcore.tools.base import Outcome, Workspace
from agentcore.tools.fetcher import Fetcher
from agentcore.wire import dumps

# What makes up addresses, paths, patterns and names, so that some are nearly right.
PIECES = ["a", "/", "..", "\0", "\n", "\ud800", "\udcff", "中", "😀", "e\u0301", "*", "[", "{", "("]
PIECES += ["!", "-", "~", "http://", "xn--", "@", ":", "%", "#", ".", "[::1]", " ", "a" * 300]
ROOT = Path(__file__).resolve().parents[2]
BAD = {
    "binary": b"\x7fELF\0\0\1",
    "nul": b"text\0text",
    "latin": b"caf\xe9 au lait\n",
    "half": "中".encode()[:2],
    "surrogate": b"\xed\xa0\x80",
    "marks": "e\u0301 \u202e\x1b[31m".encode(),
}

AS_NOBODY = """
import asyncio, os, sys
from concurrent.futures.thread import ThreadPoolExecutor
from pathlib import Path
from agentcore.messages import ToolCall
from agentcore.tools import toolbox
from agentcore.tools.base import Workspace
os.getuid() or os.setuid(65534)
box = toolbox(Workspace(Path(sys.argv[1]).resolve()))
call = ToolCall("c", "read_file", '{"path": "closed"}')
print(asyncio.run(box.call(call)).text)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path.resolve()


async def call(root: Path, tool: str, **arguments: str) -> Outcome:
    return await toolbox(Workspace(root)).call(ToolCall("c", tool, dumps(arguments)))


async def every_tool(root: Path, path: str) -> list[Outcome]:
    return [
        await call(root, "read_file", path=path),
        await call(root, "grep", pattern="x", path=path),
        await call(root, "edit_file", path=path, old_text="x", new_text="y"),
        await call(root, "list_dir", path=path),
        await call(root, "glob", pattern=path),
    ]


@pytest.mark.parametrize("name", BAD)
async def test_bytes_that_are_no_text_become_a_result(root: Path, name: str) -> None:
    (root / name).write_bytes(BAD[name])
    for outcome in await every_tool(root, name):
        assert outcome.text.encode()
        assert "Traceback" not in outcome.text
    assert (root / name).read_bytes() == BAD[name]


def a_device(path: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("only root makes devices")


@pytest.mark.parametrize(("kind", "make"), [("FIFO", os.mkfifo), ("device", a_device)])
async def test_what_is_no_file_is_named_and_never_waited_for(
    root: Path, kind: str, make: object
) -> None:
    assert callable(make)
    make(root / "odd")
    begun = time.monotonic()
    read, found, edited, *_ = await every_tool(root, "odd")
    for outcome in (read, found, edited):
        assert outcome.status is ToolStatus.FAILED
        assert f"a {kind}" in outcome.text
    assert (await call(root, "grep", pattern="x")).text == "grep 'x' in .: no match"
    assert "odd (special)" in (await call(root, "list_dir")).text
    assert time.monotonic() - begun < PATIENCE


async def test_a_file_that_goes_away_is_told_or_read_whole(root: Path) -> None:
    path, kept = root / "gone", root / "kept"
    kept.write_text("line\n" * 1_000)

    async def come_and_go() -> None:
        while True:
            # Each in one step, so that there is no part of it at any moment.
            path.hardlink_to(kept)
            await asyncio.sleep(0)
            path.unlink()
            await asyncio.sleep(0)

    churn = asyncio.create_task(come_and_go())
    try:
        for _ in range(200):
            # Whichever of the two it meets, and in whatever order.
            outcome = await call(root, "read_file", path="gone")
            told = outcome.text.partition(": ")[2]
            assert told.startswith(("1000 lines", "gone: no such file"))
    finally:
        churn.cancel()
        await asyncio.gather(churn, return_exceptions=True)
    path.unlink(missing_ok=True)
    assert (await call(root, "read_file", path="gone")).status is ToolStatus.FAILED
    path.hardlink_to(kept)
    assert (await call(root, "read_file", path="gone")).status is ToolStatus.OK


def test_a_file_that_may_not_be_read_is_told() -> None:
    """In a process that is not root, since root may read everything."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "closed").write_text("secret")
        (Path(folder) / "closed").chmod(0)
        Path(folder).chmod(0o755)
        done = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, folder], cwd=ROOT, capture_output=True, text=True
        )
    assert done.stdout == "read_file: closed: permission denied\n", done.stderr


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|a)*b", r"(\w+\s?)*$", "(x{1000}){1000}", "("])
async def test_a_regular_expression_that_explodes_takes_bounded_time(
    root: Path, pattern: str
) -> None:
    (root / "a").write_text(("a" * 50_000 + "!\n") * 10)
    begun = time.monotonic()
    outcome = await call(root, "grep", pattern=pattern)
    assert outcome.text.startswith(("grep '", "grep: "))
    assert time.monotonic() - begun < PATIENCE


async def nobody(host: str, port: int) -> list[str]:
    raise OSError("no name server")


@given(st.data())
async def test_whatever_a_model_passes_a_tool_answers_with_a_result(data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        web = Web(Fetcher(resolve=nobody), search="http://search.example")
        box = toolbox(Workspace(Path(folder).resolve()), lent=Lent(web=web))
        # Commands would do as they are told.
        schemas = [one["function"] for one in box.schemas]
        schemas = [one for one in schemas if one["name"] not in ("run_command", "start_task")]
        tool = data.draw(st.sampled_from(schemas))
        texts = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
        arguments = {
            name: data.draw(texts if wanted["type"] == "string" else st.integers(-1, 9))
            for name, wanted in tool["parameters"]["properties"].items()
        }
        outcome = await box.call(ToolCall("c", tool["name"], dumps(arguments)))
    assert outcome.text.encode("utf-8", "surrogatepass")
