"""Workers that are killed, and tasks that get lost: the session goes on by itself."""

from __future__ import annotations

import json
import resource
import sqlite3
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from house import House, command_of, manage, up, wait_for
from stub_model import stub_model

pytestmark = pytest.mark.faults

# A promise to those who wait: a lease of 12 s, and the sweep that finds it run out.
RECOVERY_SECONDS = 20

CREATE = """
from hermesweb import acts, sign_in, wake
from hermesweb.models import ModelEndpoint
ModelEndpoint.objects.get_or_create(name="stub", defaults=dict(model="stub", base_url={url!r}))
if not {hint!r}:
    wake._send = lambda session_id: None
print(acts.create(sign_in.local_owner(), workspace={workspace!r}, model="stub", profile={profile!r},
                  instruction={instruction!r}).pk)
"""
# Less than the database has when it is made, more than the logs have.
ROOM_BYTES = 100_000
COMMANDS = {
    "work": "echo $$ >> runs; sleep 60; echo ended >> ended",
    "once allowed": "echo $$ >> allowed",
    "briefly": "touch brief; until test -e 'go on'; do sleep 0.1; done",
}


def say(messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One long command, then what became of it; or only an answer."""
    last = messages[-1]
    if last["role"] == "tool":
        return {"content": f"I was told: {last['content']}"}
    if last["content"] == "answer":
        return {"content": "Here I am."}
    arguments = json.dumps({"command": COMMANDS[last["content"]]})
    function = {"name": "run_command", "arguments": arguments}
    return {"tool_calls": [{"id": "long", "type": "function", "function": function}]}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("workspace")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, workspace: Path) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("recovery")
    with up(folder, HERMESWEB_ALLOWED_ROOTS=str(workspace)) as started:
        yield started


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with stub_model(say) as url:
        yield url


def started(
    house: House,
    workspace: Path,
    url: str,
    *,
    instruction: str,
    hint: bool = True,
    profile: str = "balanced",
) -> str:
    """The id of a new session; without `hint` no worker is told of it."""
    script = CREATE.format(
        url=url, workspace=str(workspace), instruction=instruction, hint=hint, profile=profile
    )
    made = manage(
        *("shell", "-v", "0", "-c", script),
        data_dir=house.data_dir,
        HERMESWEB_ALLOWED_ROOTS=str(workspace),
    )
    assert made.returncode == 0, made.stderr
    return made.stdout.strip().splitlines()[-1]


def session_of(house: House, session_id: str) -> tuple[str, str, int]:
    (found,) = house.rows(
        "SELECT status, run_end, seq FROM hermesweb_agentsession WHERE id = ?", session_id
    )
    return found


def kinds(house: House, session_id: str) -> list[str]:
    """In the order in which they were stored, which is that of their gapless seq."""
    events = house.rows(
        "SELECT seq, kind FROM hermesweb_sessionevent WHERE session_id = ? ORDER BY id",
        session_id,
    )
    assert [seq for seq, _ in events] == list(range(1, len(events) + 1))
    return [kind for _, kind in events]


@contextmanager
def no_room(house: House) -> Iterator[None]:
    """What web and worker write into a file beyond the room is refused, as by a full disk."""
    running = [house.children()[name] for name in ("web", "worker")]
    before = [resource.prlimit(pid, resource.RLIMIT_FSIZE) for pid in running]
    for pid, (_, hard) in zip(running, before, strict=True):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (ROOM_BYTES, hard))
    try:
        yield
    finally:
        for pid, limits in zip(running, before, strict=True):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)


def sent(house: House, session_id: str, text: str) -> int:
    """The status of the answer."""
    try:
        return told(house, f"sessions/{session_id}/instructions", {"text": text})[0]
    except urllib.error.HTTPError as refusal:
        return refusal.code


def told(house: House, path: str, body: Any = None, verb: str = "POST") -> tuple[int, Any]:
    """Status and value of what the API answers."""
    request = urllib.request.Request(
        f"{house.url}/api/v1/{path}",
        None if body is None else json.dumps(body).encode(),
        {"Authorization": f"Bearer {house.api_token}", "Content-Type": "application/json"},
        method=verb,
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return int(answer.status), json.load(answer)


def is_free(house: House) -> bool:
    """Whether nobody keeps the lock of the database longer than a write takes."""
    file = house.data_dir / "hermesweb.sqlite3"
    with closing(sqlite3.connect(file, timeout=10, isolation_level=None)) as database:
        try:
            database.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        database.execute("ROLLBACK")
        return True


def test_a_session_goes_on_after_its_worker_was_killed_while_a_tool_ran(
    house: House, workspace: Path, url: str
) -> None:
    session_id = started(house, workspace, url, instruction="work")
    runs = workspace / "runs"
    wait_for(lambda: runs.exists() and runs.read_text().endswith("\n"))
    command = int(runs.read_text())
    assert "sleep 60" in command_of(command)

    house.kill("worker")
    wait_for(lambda: not command_of(command))
    wait_for(lambda: "recovered" in kinds(house, session_id), seconds=RECOVERY_SECONDS)
    wait_for(lambda: session_of(house, session_id)[1] == "answered")

    assert len(runs.read_text().splitlines()) == 1
    assert not (workspace / "ended").exists()
    told = kinds(house, session_id)
    assert told.count("tool_started") == 1
    assert told.count("run_started") == told.count("run_ended") == told.count("recovered") == 1
    assert session_of(house, session_id) == ("idle", "answered", len(told))
    messages = house.rows(
        "SELECT number, role, preview FROM hermesweb_storedmessage WHERE session_id = ? "
        "ORDER BY id",
        session_id,
    )
    assert [number for number, _, _ in messages] == list(range(1, len(messages) + 1))
    assert [role for _, role, _ in messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert "was interrupted" in messages[-1][2]


def test_a_run_waits_for_a_person_without_its_worker_and_goes_on_with_another(
    house: House, workspace: Path, url: str
) -> None:
    _, profile = told(house, "profiles/balanced", verb="GET")
    values = {**profile["values"], "approvals": {"goal": ["command"]}}
    told(house, "profiles/careful", {"values": values, "accept_warnings": True}, "PUT")
    session_id = started(house, workspace, url, instruction="once allowed", profile="careful")
    wait_for(lambda: session_of(house, session_id)[0] == "waiting")

    before = house.children()["worker"]
    house.kill("worker")
    wait_for(lambda: house.children().get("worker", before) != before)
    assert session_of(house, session_id)[0] == "waiting"
    assert not (workspace / "allowed").exists()
    _, told_now = told(house, f"sessions/{session_id}/approvals/long", {"allow": True})
    assert told_now["status"] == "queued"
    wait_for(lambda: session_of(house, session_id)[1] == "answered")
    assert len((workspace / "allowed").read_text().splitlines()) == 1
    assert "recovered" not in kinds(house, session_id)


def test_a_queued_session_whose_task_was_lost_is_found_by_the_sweep(
    house: House, workspace: Path, url: str
) -> None:
    session_id = started(house, workspace, url, instruction="answer", hint=False)
    assert session_of(house, session_id)[0] == "queued"
    wait_for(lambda: session_of(house, session_id)[1] == "answered")


def test_a_run_is_finished_and_stored_while_the_broker_is_gone(
    house: House, workspace: Path, url: str
) -> None:
    (workspace / "runs").unlink(missing_ok=True)
    session_id = started(house, workspace, url, instruction="briefly")
    wait_for((workspace / "brief").exists)

    house.kill("broker")
    (workspace / "go on").touch()
    wait_for(lambda: session_of(house, session_id)[1] == "answered")

    assert kinds(house, session_id).count("tool_ended") == 1
    wait_for(lambda: "broker" in house.children())
    later = started(house, workspace, url, instruction="answer")
    wait_for(lambda: session_of(house, later)[1] == "answered")


def test_a_full_disk_is_told_and_the_session_goes_on_once_there_is_room(
    house: House, workspace: Path, url: str
) -> None:
    for left in ("brief", "go on"):
        (workspace / left).unlink(missing_ok=True)
    session_id = started(house, workspace, url, instruction="briefly")
    wait_for((workspace / "brief").exists)
    logs = [house.data_dir / "logs" / f"{name}.log" for name in ("web", "worker")]
    before = [log.stat().st_size for log in logs]

    with no_room(house):
        assert [sent(house, session_id, "y" * 200_000) for _ in range(5)] == [503] * 5
        assert is_free(house)
        (workspace / "go on").touch()
        wait_for(lambda: b"disk I/O error" in logs[1].read_bytes()[before[1] :])
        assert is_free(house)
    wait_for(lambda: session_of(house, session_id)[1] == "answered")

    told = kinds(house, session_id)
    assert told.count("instruction_queued") == told.count("tool_started") == 1
    assert told.count("run_ended") == told.count("recovered") == 1
    assert b"disk I/O error" in logs[0].read_bytes()[before[0] :]
    assert sent(house, session_id, "answer") == 202
