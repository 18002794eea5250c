from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COOKIES = (
    "from django.conf import settings; "
    "print(settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME)"
)
SHOW = "from django.conf import settings; print(settings.DATABASES['default'])"


def run(*arguments: str, data_dir: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "HERMESWEB_DATA_DIR": str(data_dir), **env},
        capture_output=True,
        text=True,
        check=False,
    )


def test_hosts_beyond_this_machine_need_a_secret(tmp_path: Path) -> None:
    check = run("manage.py", "check", data_dir=tmp_path, HERMESWEB_HOSTS="hermes.example")

    assert check.returncode == 2
    assert "HERMESWEB_SECRET_KEY must be set" in check.stderr
    assert "Traceback" not in check.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_production_set_up_passes_the_deploy_check(tmp_path: Path) -> None:
    check = run(
        *("manage.py", "check", "--deploy", "--fail-level", "WARNING"),
        data_dir=tmp_path,
        HERMESWEB_HOSTS="hermes.example",
        HERMESWEB_SECRET_KEY="a-secret-of-fifty-and-more-characters-0123456789-abcdef",
    )

    assert check.returncode == 0, check.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HERMESWEB_DEBUG", "maybe"),
        ("HERMESWEB_WORKER_CONCURRENCY", "-1"),
        ("DATABASE_URL", "mysql://somewhere/else"),
    ],
)
def test_nonsense_in_the_environment_is_told(tmp_path: Path, name: str, value: str) -> None:
    check = run("manage.py", "check", data_dir=tmp_path, **{name: value})

    assert check.returncode == 2
    assert name in check.stderr and "Traceback" not in check.stderr


def test_a_local_key_is_made_once_and_kept(tmp_path: Path) -> None:
    run("manage.py", "check", data_dir=tmp_path)
    key = (tmp_path / "secret_key").read_text()
    run("manage.py", "check", data_dir=tmp_path)

    assert len(key) > 50 and (tmp_path / "secret_key").read_text() == key


@pytest.mark.parametrize("command", ["demo", "doctor", "import_session"])
@pytest.mark.parametrize("there", [True, False])
def test_a_command_says_that_nothing_was_started_and_leaves_nothing(
    tmp_path: Path, command: str, there: bool
) -> None:
    folder = tmp_path if there else tmp_path / "none"
    file = [str(ROOT / "README.md")] if command == "import_session" else []
    told = run("manage.py", command, *file, data_dir=folder, DATABASE_URL="")

    said = told.stdout + told.stderr
    assert f"nothing was started in {folder} yet: start ./run" in said
    assert told.returncode and "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_help_makes_no_data_folder(tmp_path: Path) -> None:
    told = run("manage.py", "up", "--help", data_dir=tmp_path / "none")

    assert "--data-dir" in told.stdout
    assert list(tmp_path.iterdir()) == []


def test_two_installations_on_one_host_do_not_share_their_cookies(tmp_path: Path) -> None:
    def names(folder: str, **env: str) -> list[str]:
        command = ("manage.py", "shell", "-v0", "-c", COOKIES)
        return run(*command, data_dir=tmp_path / folder, **env).stdout.split()

    one, again, other = names("one"), names("one"), names("other")

    assert len({*one, *other}) == 4 and again == one
    # Web processes of one installation on several machines share the secret, and so the names.
    secret = {"HERMESWEB_SECRET_KEY": "the same everywhere"}
    assert names("one", **secret) == names("other", **secret)


def test_the_database_url_names_a_postgresql_database(tmp_path: Path) -> None:
    url = "postgresql://ada:p%40ss@db.example:5433/hermes"
    shown = run("manage.py", "shell", "-v0", "-c", SHOW, data_dir=tmp_path, DATABASE_URL=url)

    assert "'NAME': 'hermes', 'USER': 'ada', 'PASSWORD': 'p@ss'" in shown.stdout
    assert "'HOST': 'db.example', 'PORT': '5433'" in shown.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="others have no /proc")
def test_no_other_process_of_the_user_reads_the_keys_of_this_environment() -> None:
    get_dumpable = 3
    assert ctypes.CDLL(None).prctl(get_dumpable, 0, 0, 0, 0) == 0
