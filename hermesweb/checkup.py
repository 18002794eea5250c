"""What an installation needs, looked at one by one: for the page `readyz` and for `doctor`."""

from __future__ import annotations

import platform
import shutil
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import redis
from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from packaging.requirements import Requirement

from hermesweb.celery import app

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
START = "start the installation with ./run"


@dataclass(frozen=True, slots=True)
class Finding:
    """`detail` says what was found or, when not ok, what to do."""

    ok: bool
    detail: str


def python() -> Finding:
    """The installed packages are those that requirements.txt pins."""
    pins = (settings.BASE_DIR / "requirements.txt").read_text().splitlines()
    other = [line for line in pins if line[:1].isalnum() and not _installed(line)]
    if other:
        return Finding(False, f"not as in requirements.txt: {', '.join(other)}; start ./run once")
    return Finding(True, f"{platform.python_version()} at {sys.executable}")


def data_folder() -> Finding:
    folder = settings.DATA_DIR
    try:
        with tempfile.TemporaryFile(dir=folder):
            return Finding(True, str(folder))
    except OSError as error:
        return Finding(False, unwritable(f"the data folder {folder}", error.strerror))


def database() -> Finding:
    """It can be read and its tables are those of this version."""
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        return Finding(False, f"cannot be read ({error}): look at DATABASE_URL or the data folder")
    if missing:
        return Finding(False, f"{len(missing)} migrations are missing: run manage.py migrate")
    return Finding(True, f"{connection.vendor}, {connection.settings_dict['NAME']}")


def database_write() -> Finding:
    try:
        with transaction.atomic():
            SessionStore().create()
            transaction.set_rollback(True)
    except DatabaseError as error:
        name = connection.settings_dict["NAME"]
        return Finding(False, unwritable(f"the database {name}", str(error)))
    return Finding(True, "a row was written and taken back")


def broker() -> Finding:
    if not settings.REDIS_URL:
        inside = settings.IN_PROCESS
        return Finding(inside, "inside the web process" if inside else f"not running: {START}")
    try:
        redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2).ping()
    except redis.RedisError as error:
        return Finding(False, f"{settings.REDIS_URL} does not answer ({error}): {START}")
    return Finding(True, settings.REDIS_URL)


def worker() -> Finding:
    """Asks the broker for any worker; only sensible when `broker` is ok."""
    answers = app.control.broadcast("ping", reply=True, timeout=2, limit=1)
    if not answers:
        log = settings.DATA_DIR / "logs" / "worker.log"
        return Finding(False, f"no worker answers: look at {log}, then {START} again")
    return Finding(True, ", ".join(name for answer in answers for name in answer))


def browser() -> Finding:
    """Only the browser tests need one, so none is no problem."""
    found = find_browser()
    return Finding(True, found or "none; ./run test needs one: apt-get install chromium")


def find_browser() -> str | None:
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def _installed(line: str) -> bool:
    pin = Requirement(line)
    if pin.marker and not pin.marker.evaluate():
        return True
    try:
        return version(pin.name) in pin.specifier
    except PackageNotFoundError:
        return False


def unwritable(what: str, why: str | None) -> str:
    return (
        f"{what} cannot be written ({why}): make it writable for this user, "
        "or name another folder with --data-dir"
    )
