from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest
from house import BASE_DIR

# From the command to the page, with a warm package cache on two cores.
FIRST_SECONDS = 60 if shutil.which("uv") else 120
AGAIN_SECONDS = 8


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What git knows of, as it stands now: a file that was never added is missing here too."""
    folder = tmp_path_factory.mktemp("clone with space")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=BASE_DIR, capture_output=True, check=True
    ).stdout.decode()
    for name in filter(None, listed.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(BASE_DIR / name, folder / name)
    return folder


def start_and_stop(clone: Path) -> float:
    """Seconds from the command to the page."""
    begin = time.monotonic()
    process = subprocess.Popen(
        ["./run", "--json", "--port", "0"],
        cwd=clone,
        env={name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process.stdout:
        facts = json.loads(process.stdout.readline())
        with urllib.request.urlopen(f"{facts['url']}/accounts/login/", timeout=5) as page:
            assert page.status == 200
        seconds = time.monotonic() - begin
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    return seconds


def test_one_command_leads_from_a_clone_to_the_page(clone: Path) -> None:
    assert start_and_stop(clone) < FIRST_SECONDS


def test_the_second_time_it_is_quick(clone: Path) -> None:
    assert start_and_stop(clone) < AGAIN_SECONDS


def test_everything_it_makes_is_ignored_by_git(clone: Path) -> None:
    made = [".venv", ".hermesweb", "staticfiles"]
    assert [name for name in made if not (clone / name).exists()] == []

    ignored = subprocess.run(
        ["git", "check-ignore", *(f"{name}/" for name in made)],
        cwd=BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(ignored.stdout.split()) == len(made)
