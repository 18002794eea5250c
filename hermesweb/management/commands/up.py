from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import BaseCommand, CommandError, call_command
from django.db import DatabaseError, connections
from django.urls import reverse

from hermesweb import broker, lock, sign_in, static_files
from hermesweb.checkup import database_write, unwritable
from hermesweb.supervisor import Asked, StartFailed, Supervisor

TEMP_PREFIX = "hermesweb-"
BAD_INPUT = 2


class Command(BaseCommand):
    help = "Run Hermesweb (web, worker and broker) until Ctrl-C or SIGTERM."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
        parser.add_argument("--port", type=int, default=8000, help="0 takes a free one")
        parser.add_argument("--data-dir", help="where all state lives (default: .hermesweb)")
        parser.add_argument(
            "--demo",
            action=BooleanOptionalAction,
            help="make a demo session (default: at the first start only)",
        )
        parser.add_argument(
            "--json", action="store_true", help="one JSON line on stdout, log lines on stderr"
        )

    def handle(self, **options: Any) -> None:
        self._as_json: bool = options["json"]
        self._asked = Asked()
        try:
            with (
                lock.held(settings.DATA_DIR) as hold,
                listening(options["host"], options["port"]) as listener,
                _socket_folder(hold.left) as folder,
            ):
                self._run(hold, listener, broker.choose(folder), demo=options["demo"])
        except lock.AlreadyRunning as error:
            raise CommandError(_already(error)) from None
        except PermissionError as error:
            what = unwritable(str(error.filename), error.strerror)
            raise CommandError(what, returncode=BAD_INPUT) from None

    def _run(
        self,
        hold: lock.Hold,
        listener: socket.socket,
        chosen: broker.Broker,
        *,
        demo: bool | None,
    ) -> None:
        _prepare_database()
        static_files.collect()
        if demo is None:
            demo = not User.objects.exists()
        port = listener.getsockname()[1]
        url = _url(listener)
        public = f"https://{settings.PUBLIC_HOSTS[0]}" if settings.PRODUCTION else url
        facts = {"url": public, **_way_in(public), "pid": os.getpid()}
        connections.close_all()

        self._say(chosen.told)
        env = _child_env(chosen)
        logs = settings.DATA_DIR / "logs"
        logs.mkdir(exist_ok=True)
        supervisor = Supervisor(
            chosen,
            listener,
            logs=logs,
            cwd=settings.BASE_DIR,
            env=env,
            say=self._say,
            asked=self._asked,
        )
        hold.tell(lock.Running(os.getpid(), port, url, chosen.url))
        try:
            supervisor.start()
            if demo and (told := demo_made(env, lambda: supervisor.stopping)):
                self._say(told)
            if not supervisor.stopping:
                self._greet(facts)
            supervisor.watch()
        except StartFailed as error:
            raise CommandError(str(error)) from None
        finally:
            supervisor.stop()
        self._say("stopped")

    def _greet(self, facts: dict[str, Any]) -> None:
        if self._as_json:
            print(json.dumps(facts), flush=True)
            return
        self._say(f"running at {facts['url']}")
        self._say(f"sign in, once and within an hour, with {facts['sign_in_url']}")
        self._say("stop with Ctrl-C")

    def _say(self, line: str) -> None:
        print(f"hermesweb: {line}", file=sys.stderr if self._as_json else sys.stdout, flush=True)


def demo_made(env: Mapping[str, str], is_stopping: Callable[[], bool]) -> str:
    """What making the demo came to; empty where it was left to stop. It is made in a process of
    its own, which sees the broker that was started just now."""
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "demo"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=env, stdout=pipe, stderr=pipe, text=True) as process:
        while not is_stopping():
            with contextlib.suppress(subprocess.TimeoutExpired):
                made, failed = process.communicate(timeout=0.05)
                return made.strip() or f"no demo: {failed.strip()}"
        process.kill()
    return ""


@contextlib.contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    _check_host(host)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=128)
    except (OSError, OverflowError) as error:
        why = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else error
        raise CommandError(
            f"Cannot listen on {host} port {port} ({why}). "
            "Choose another with --port; --port 0 takes a free one.",
            returncode=BAD_INPUT,
        ) from None
    with listener:
        # Each connection has it from here: the web process takes the listener for what has none,
        # and the second part of an answer would wait 40 ms for the first to be acknowledged.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield listener


def _check_host(host: str) -> None:
    local = host == "localhost" or _is_loopback(host)
    if not (local or settings.PRODUCTION or settings.DEBUG):
        raise CommandError(
            f"--host {host} opens Hermesweb to other machines. Set HERMESWEB_HOSTS to the names it "
            "is reached by and HERMESWEB_SECRET_KEY to a secret of your own, and put a proxy with "
            "https before it; or leave --host out.",
            returncode=BAD_INPUT,
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@contextlib.contextmanager
def _socket_folder(left: lock.Running | None) -> Iterator[Path]:
    """A short path, since a socket's may have about 100 bytes; takes away a killed start's."""
    if left:
        old = Path(left.broker.removeprefix("unix://")).parent
        if old.name.startswith(TEMP_PREFIX):
            shutil.rmtree(old, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=TEMP_PREFIX) as folder:
        yield Path(folder)


def _prepare_database() -> None:
    try:
        call_command("migrate", interactive=False, verbosity=0)
    except DatabaseError as error:
        name = connections["default"].settings_dict["NAME"]
        raise CommandError(
            unwritable(f"the database {name}", str(error)), returncode=BAD_INPUT
        ) from None
    # A database that is up to date and read-only has passed until here.
    writes = database_write()
    if not writes.ok:
        raise CommandError(writes.detail, returncode=BAD_INPUT)


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _way_in(url: str) -> dict[str, str]:
    owner = sign_in.local_owner()
    link = reverse("sign_in_link", args=[sign_in.make_link(owner)])
    token = sign_in.api_token(owner, settings.DATA_DIR / "api_token")
    return {"sign_in_url": url + link, "api_token": token}


def _child_env(chosen: broker.Broker) -> dict[str, str]:
    roots = settings.ALLOWED_ROOTS[1:]
    return {
        **os.environ,
        "HERMESWEB_DATA_DIR": str(settings.DATA_DIR),
        # The children work in the project's folder; "the folder it was started in" goes along.
        "HERMESWEB_ALLOWED_ROOTS": os.pathsep.join(map(str, roots)),
        "HERMESWEB_SWEEP_IN_WORKER": "1",
        "HERMESWEB_IN_PROCESS": "0" if chosen.url else "1",
        "REDIS_URL": chosen.url,
        "PYTHONUNBUFFERED": "1",
    }


def _already(error: lock.AlreadyRunning) -> str:
    if error.where is None:
        return f"Hermesweb is {error}: its data folder is {settings.DATA_DIR}."
    link = _way_in(error.where.url)["sign_in_url"]
    return f"Hermesweb is {error}. A new sign-in link: {link}"
