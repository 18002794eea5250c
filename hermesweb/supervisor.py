"""The processes of an installation: broker, web, worker; started, watched and stopped in order."""

from __future__ import annotations

import http.client
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType

from hermesweb.broker import Broker
from hermesweb.child import Child

START_SECONDS, READY_SECONDS = 60.0, 6.0
# A run between two borders may take minutes; the sweep of the next start goes on with it.
STOP_SECONDS = 8.0

UVICORN = (
    *("-m", "uvicorn", "hermesweb.asgi:application", "--lifespan", "off", "--no-access-log"),
    # Deflate costs more than it saves on loopback and behind a proxy.
    *("--ws-per-message-deflate", "false", "--timeout-graceful-shutdown", "3", "--fd"),
)
CELERY = (
    *("-m", "celery", "--app", "hermesweb", "worker", "--loglevel", "INFO"),
    *("--without-gossip", "--without-mingle"),
)
IN_PROCESS = ("-m", "hermesweb.inprocess")


class StartFailed(Exception):
    """A process did not come up; the message ends with the last lines of its log."""


class Asked:
    """How often a signal asked to stop. None breaks into what is under way: a migration is ended,
    and what is begun is cleaned up."""

    def __init__(self) -> None:
        self.times = 0
        signal.signal(signal.SIGINT, self._on_signal)
        signal.signal(signal.SIGTERM, self._on_signal)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            signal.signal(signal.SIGHUP, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.times += 1


class Supervisor:
    """Keeps the listening socket itself: the port is known before anything starts, and while
    the web process restarts, connections wait instead of being refused."""

    def __init__(
        self,
        broker: Broker,
        listener: socket.socket,
        *,
        logs: Path,
        cwd: Path,
        env: Mapping[str, str],
        say: Callable[[str], None],
        asked: Asked,
    ) -> None:
        self._listener = listener
        self._say = say
        self._asked = asked
        self._broker_socket = broker.url.removeprefix("unix://") if broker.command else None

        def child(name: str, *command: str, pass_fds: tuple[int, ...] = ()) -> Child:
            log = logs / f"{name}.log"
            return Child(name, command, log=log, cwd=cwd, env=env, pass_fds=pass_fds)

        fd = listener.fileno()
        web = UVICORN if broker.url else IN_PROCESS
        self._children = [child("web", sys.executable, *web, str(fd), pass_fds=(fd,))]
        if broker.url:
            self._children.append(child("worker", sys.executable, *CELERY))
        if broker.command:
            self._children.insert(0, child("broker", *broker.command))

    @property
    def stopping(self) -> bool:
        return self._asked.times > 0

    def start(self) -> None:
        """Returns when the worker answers, or early when asked to stop; raises StartFailed."""
        for child in self._children:
            if self.stopping:
                return
            child.start()
            if child.name == "broker":
                self._wait(self._broker_listens)
        self._wait(self._all_ready)

    def watch(self) -> None:
        """Restart what ends, until a signal asks to stop."""
        while not self.stopping:
            for child in self._children:
                if told := child.tend():
                    self._say(told)
            time.sleep(0.2)

    def stop(self) -> None:
        """The worker before the web process, so that its last events reach the pages. Whoever asks
        a second time waits no longer."""
        if self.stopping:
            self._say(
                f"stopping: runs have {STOP_SECONDS:.0f} s to end the step they are at, and go on "
                "at the next start; a second Ctrl-C or SIGTERM stops at once"
            )
        for child in reversed(self._children):
            if not child.stop(STOP_SECONDS, self._hurried):
                self._say(f"{child.name} did not end by itself and was killed")

    def _hurried(self) -> bool:
        return self._asked.times > 1

    def _wait(self, done: Callable[[], bool]) -> None:
        end = time.monotonic() + START_SECONDS
        while not self.stopping and not done():
            fallen = [child for child in self._children if child.ended]
            if fallen or time.monotonic() > end:
                raise StartFailed(
                    "\n".join(
                        f"{child.name} did not start. Its log {child.log} ends with:\n"
                        + child.last_lines(15)
                        for child in fallen or self._children
                    )
                )
            time.sleep(0.05)

    def _answered(self, asked: socket.socket) -> bool:
        """Waits for it, but no longer than until it is asked to stop."""
        end = time.monotonic() + READY_SECONDS
        while not self.stopping and time.monotonic() < end:
            if select.select([asked], [], [], 0.05)[0]:
                return True
        return False

    def _broker_listens(self) -> bool:
        assert self._broker_socket is not None
        return os.path.exists(self._broker_socket)

    def _all_ready(self) -> bool:
        """The web process says that database, broker and worker are there."""
        host, port = self._listener.getsockname()[:2]
        own = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        connection = http.client.HTTPConnection(own, port, timeout=READY_SECONDS)
        try:
            # A production set-up answers plain http and foreign names with a redirect or a refusal.
            headers = {"Host": "localhost", "X-Forwarded-Proto": "https"}
            connection.request("GET", "/readyz", headers=headers)
            return self._answered(connection.sock) and connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()
