"""What an installation needs, looked at one by one: for the page `readyz` and for `doctor`."""

from __future__ import annotations

import contextlib
import platform
import re
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from urllib.request import Request, urlopen

import redis
from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from packaging.requirements import Requirement
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from hermesweb import live, sign_in
from hermesweb.celery import app
from hermesweb.lock import running
from hermesweb.models import AgentSession

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
START = "start the installation with ./run"
SOCKET_SECONDS = 3.0
# A production set-up redirects plain http; a look from the same machine comes as from its proxy.
AS_PROXY = {"Host": "localhost", "X-Forwarded-Proto": "https"}


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
    if not folder.exists():
        return Finding(False, _nothing_started())
    try:
        with tempfile.TemporaryFile(dir=folder):
            return Finding(True, str(folder))
    except OSError as error:
        return Finding(False, unwritable(f"the data folder {folder}", error.strerror))


def database() -> Finding:
    """It can be read and its tables are those of this version."""
    try:
        if not _is_started():
            return Finding(False, _nothing_started())
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        return Finding(False, f"cannot be read ({error}): look at DATABASE_URL or the data folder")
    if missing:
        return Finding(False, f"{len(missing)} migrations are missing: run manage.py migrate")
    return Finding(True, f"{connection.vendor}, {connection.settings_dict['NAME']}")


def _is_started() -> bool:
    """Asked without a connection first, which would make an empty file."""
    name = connection.settings_dict["NAME"]
    # A text names what is no file: a database of a server, or one in memory.
    if isinstance(name, Path) and not name.exists():
        return False
    return MigrationRecorder(connection).has_table()


def _nothing_started() -> str:
    return (
        f"nothing was started in {settings.DATA_DIR} yet: "
        "start ./run, or set HERMESWEB_DATA_DIR to the folder of --data-dir"
    )


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
        inside = settings.IN_PROCESS or running(settings.DATA_DIR) is not None
        return Finding(inside, "none: in the web process" if inside else f"not running: {START}")
    shown = re.sub("//[^/]*@", "//", settings.REDIS_URL)
    try:
        redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2).ping()
    except redis.RedisError as error:
        return Finding(False, f"{shown} does not answer ({error}): {START}")
    return Finding(True, shown)


def worker() -> Finding:
    """Asks the broker for any worker; only sensible when `broker` is ok."""
    if not (settings.REDIS_URL or settings.IN_PROCESS):
        return Finding(True, "in the web process")
    answers = app.control.broadcast("ping", reply=True, timeout=5, limit=1)
    if not answers:
        log = settings.DATA_DIR / "logs" / "worker.log"
        return Finding(False, f"no worker answers: look at {log}, then {START} again")
    return Finding(True, ", ".join(name for answer in answers for name in answer))


def web() -> Finding:
    here = running(settings.DATA_DIR)
    if here is None:
        return Finding(False, f"not running: {START}")
    try:
        urlopen(Request(f"{here.url}/healthz", headers=AS_PROXY), timeout=3).close()
    except OSError as error:
        log = settings.DATA_DIR / "logs" / "web.log"
        return Finding(False, f"{here.url} does not answer ({error}): look at {log}")
    return Finding(True, here.url)


def web_socket() -> Finding:
    """News sent by this process comes back through the page's socket, signed in as the owner."""
    here = running(settings.DATA_DIR)
    assert here is not None
    session = sign_in.session_of(sign_in.local_owner())
    cookie = f"{settings.SESSION_COOKIE_NAME}={session.session_key}"
    try:
        with connect(
            f"{here.url.replace('http', 'ws', 1)}/ws/overview/",
            origin=Origin(here.url),
            additional_headers={**AS_PROXY, "Cookie": cookie},
            open_timeout=SOCKET_SECONDS,
        ) as socket:
            heard = _hears_news(socket) if settings.REDIS_URL else socket.ping().wait(1)
    except (OSError, WebSocketException) as error:
        return Finding(False, f"no socket ({error}): does a proxy pass on the upgrade?")
    finally:
        session.delete()
    if not heard:
        return Finding(False, f"a socket opens but no news comes through it: {START} again")
    return Finding(True, "open, and news comes through it")


def browser() -> Finding:
    """Only the browser tests need one, so none is no problem."""
    found = find_browser()
    return Finding(True, found or "none; ./run test needs one: apt-get install chromium")


def find_browser() -> str | None:
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def _hears_news(socket: ClientConnection) -> bool:
    """Repeats what is known of the newest session, which changes nothing on any page."""
    row = AgentSession.objects.order_by("-created_at").first() or AgentSession(pk="none")
    end = time.monotonic() + SOCKET_SECONDS
    while time.monotonic() < end:
        # Again and again, since the socket joins its group only after it was accepted.
        async_to_sync(live.announce)(row.pk, row.owner_id or 0, row.seq)
        with contextlib.suppress(TimeoutError):
            socket.recv(timeout=0.3)
            return True
    return False


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
