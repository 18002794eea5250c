from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import urllib.request
from pathlib import Path

import pytest
from house import BASE_DIR, SECONDS


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


def started_and_stopped(clone: Path) -> str:
    """What it says on its way to the page and back."""
    with (clone / "said").open("w+") as said:
        process = subprocess.Popen(
            ["./run", "--json", "--port", "0"],
            cwd=clone,
            env={name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        )
        assert process.stdout is not None
        with process.stdout:
            line = process.stdout.readline()
            assert line, (clone / "said").read_text()
            with urllib.request.urlopen(
                f"{json.loads(line)['url']}/accounts/login/", timeout=SECONDS
            ) as page:
                assert page.status == 200
            process.send_signal(signal.SIGINT)
            assert process.wait(SECONDS) == 0
        return (clone / "said").read_text()


def test_one_command_leads_from_a_clone_to_the_page(clone: Path) -> None:
    assert "run: installing requirements.txt" in started_and_stopped(clone)


def test_the_second_time_nothing_is_made_or_installed(clone: Path) -> None:
    assert "run: " not in started_and_stopped(clone)


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
