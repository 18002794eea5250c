from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from house import MANAGE, SECONDS, House, command_of, manage, up, wait_for

pytestmark = pytest.mark.faults


def get(url: str) -> tuple[int, str]:
    with urllib.request.urlopen(url, timeout=SECONDS) as answer:
        return answer.status, answer.read().decode()


def test_the_first_line_tells_where_it_is_and_the_page_answers(house: House) -> None:
    status, page = get(f"{house.url}/accounts/login/")

    assert status == 200
    assert 'name="password"' in page


def test_broker_web_and_worker_are_ready_when_the_line_is_out(house: House) -> None:
    status, body = get(f"{house.url}/readyz")

    assert status == 200
    assert json.loads(body) == {"database": True, "broker": True, "worker": True}
    assert set(house.children()) == {"broker", "web", "worker"}


def test_secrets_are_readable_by_their_owner_only(house: House) -> None:
    for name in ("secret_key", "api_token"):
        assert stat.S_IMODE((house.data_dir / name).stat().st_mode) == 0o600


def test_a_second_start_says_where_the_first_runs(house: House) -> None:
    second = manage("up", "--port", "0", data_dir=house.data_dir)

    assert second.returncode == 1
    assert f"already running on port {house.port}" in second.stderr
    assert f"{house.url}/sign-in/" in second.stderr


def test_a_taken_port_is_told_and_nothing_is_left(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        start = manage("up", "--port", str(port), data_dir=tmp_path)

    assert start.returncode == 2
    assert f"port {port}" in start.stderr and "--port 0" in start.stderr
    assert "Traceback" not in start.stderr
    assert not (tmp_path / "logs").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_everything_in_order(tmp_path: Path, number: signal.Signals) -> None:
    with up(tmp_path) as house:
        children = house.children()
        code = house.stop(number)

    assert code == 0
    assert "stopping: runs have 8 s to end the step they are at" in house.log()
    assert len(children) == 3
    assert [command_of(pid) for pid in children.values()] == ["", "", ""]
    assert (tmp_path / "up.json").read_text() == ""


def test_a_start_that_is_asked_to_stop_early_ends_in_order(tmp_path: Path) -> None:
    """Whatever it is at: the file is there before the database is."""
    data_dir, temporary = tmp_path / "data", tmp_path / "tmp"
    temporary.mkdir()
    command = [*MANAGE, "up", "--port", "0", "--data-dir", str(data_dir)]
    with subprocess.Popen(
        command, env={**os.environ, "TMPDIR": str(temporary)}, stdout=subprocess.PIPE, text=True
    ) as start:
        wait_for((data_dir / "up.json").exists)
        start.terminate()
        start.send_signal(signal.SIGINT)
        said, _ = start.communicate(timeout=SECONDS)

    assert start.returncode == 0
    assert said.endswith("hermesweb: stopped\n") and "running at" not in said
    assert not [*temporary.iterdir()] and (data_dir / "up.json").read_text() == ""


def test_a_second_signal_stops_at_once_what_a_run_would_hold_up(tmp_path: Path) -> None:
    """The run is in a request that takes longer than any test."""
    asked = "select 1 from hermesweb_storedmessage where role = 'user'"
    with up(tmp_path, "--demo", HERMESWEB_EXPLORER_PACE_MS="600000") as house:
        wait_for(lambda: house.rows(asked))
        house.process.terminate()
        wait_for(lambda: "stopping" in house.log())
        code = house.stop()

    assert code == 0
    assert "worker did not end by itself and was killed" in house.log()


def test_a_killed_supervisor_takes_its_children_along(tmp_path: Path) -> None:
    with up(tmp_path) as house:
        children = house.children()
        broker = json.loads((tmp_path / "up.json").read_text())["broker"].removeprefix("unix://")
        house.process.kill()
        house.process.wait(SECONDS)

    wait_for(lambda: not any(map(command_of, children.values())))
    with up(tmp_path) as again:
        assert again.api_token == house.api_token
    assert not Path(broker).parent.exists()


@pytest.mark.parametrize("name", ["worker", "web", "broker"])
def test_a_killed_child_is_started_again_and_told(house: House, name: str) -> None:
    before = house.children()[name]

    house.kill(name)

    wait_for(lambda: house.children().get(name, before) != before)
    wait_for(lambda: get_status(f"{house.url}/readyz") == 200)
    assert f"{name} ended (killed by SIGKILL)" in house.log()
    assert f"{name} started again" in house.log()


def test_doctor_finds_nothing_while_it_runs(house: House) -> None:
    checkup = manage("doctor", "--json", data_dir=house.data_dir)

    assert checkup.returncode == 0, checkup.stdout + checkup.stderr
    assert all(check["ok"] for check in json.loads(checkup.stdout)["checks"])


def test_doctor_says_what_to_do_when_nothing_runs(tmp_path: Path) -> None:
    checkup = manage("doctor", data_dir=tmp_path)

    assert checkup.returncode == 1
    assert f"nothing was started in {tmp_path} yet" in checkup.stdout
    assert "./run" in checkup.stdout


def test_a_data_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    start = manage("up", "--port", "0", data_dir=tmp_path / "file" / "data")

    assert start.returncode == 2
    assert "--data-dir" in start.stderr and "Traceback" not in start.stderr


@pytest.mark.parametrize("name", ["hermesweb.sqlite3", "."])
def test_a_read_only_database_or_folder_is_told(tmp_path: Path, name: str) -> None:
    manage("migrate", data_dir=tmp_path)
    (tmp_path / "up.json").touch()
    with read_only(tmp_path / name):
        start = manage("up", "--port", "0", data_dir=tmp_path)

    assert start.returncode == 2
    assert "cannot be written" in start.stderr and "--data-dir" in start.stderr
    assert "Traceback" not in start.stderr


@contextlib.contextmanager
def read_only(path: Path) -> Iterator[None]:
    """The mode does not stop root, the file attribute does."""
    lock, unlock = ["chmod", "a-w"], ["chmod", "u+w"]
    if os.geteuid() == 0:
        lock, unlock = ["chattr", "+i"], ["chattr", "-i"]
    done = subprocess.run([*lock, path], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"root cannot make a file read-only here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run([*unlock, path], check=True)


def get_status(url: str) -> int:
    try:
        return get(url)[0]
    except OSError:
        return 0
