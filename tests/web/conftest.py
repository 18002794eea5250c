from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import SyncToAsync
from builders import a_session, a_user
from django.contrib.auth.models import User
from django.db import DataError, connections
from django.db.backends.utils import CursorWrapper
from django.test import Client
from working import ECHO_RAN, calls, says, worked

from agentcore.llm.scripted import Line, ScriptedModel
from hermesweb import acts, border, endpoints, wake
from hermesweb.models import AgentSession, Profile


@pytest.fixture(scope="session", autouse=True)
def _no_connection_is_left(django_db_setup: None) -> Iterator[None]:
    """The thread that async tests share holds one, and PostgreSQL drops no database in use."""
    yield
    SyncToAsync.single_thread_executor.submit(connections.close_all).result()


@pytest.fixture(autouse=True)
def _no_version_of_another_test() -> None:
    """Versions never change, but here their numbers begin anew."""
    border._value.cache_clear()


@pytest.fixture
def no_nul_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts with NUL are refused by every database here, as PostgreSQL does."""
    execute = CursorWrapper.execute

    def strict(self: CursorWrapper, sql: str, params: Any = None) -> Any:
        if any(isinstance(value, str) and "\0" in value for value in params or ()):
            raise DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")
        return execute(self, sql, params)

    monkeypatch.setattr(CursorWrapper, "execute", strict)


@pytest.fixture
def ada(client: Client) -> User:
    """She is signed in."""
    user = a_user("ada")
    client.force_login(user)
    return user


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sessions that a worker was asked for, instead of asking one."""
    sent: list[str] = []
    monkeypatch.setattr(wake, "_send", sent.append)
    return sent


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[..., ScriptedModel]:
    """Make the sessions' model say these lines."""

    def scripted(*lines: Line) -> ScriptedModel:
        model = ScriptedModel(lines)
        monkeypatch.setattr(endpoints, "chat_model", lambda session: model)
        return model

    return scripted


@pytest.fixture
def careful() -> Profile:
    """A profile that asks before commands and writes."""
    values = Profile.objects.get(name="balanced").current.values
    approvals = {"goal": ["command", "write"], "debug": ["command"], "minutes": 30}
    acts.save_profile(None, "careful", {**values, "approvals": approvals})
    return Profile.objects.get(name="careful")


@pytest.fixture
def started(
    careful: Profile,
    tmp_path: Path,
    script: Callable[..., ScriptedModel],
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., AgentSession]:
    """A session whose model says these lines, worked on until it ends or waits."""

    settings.ALLOWED_ROOTS = [str(tmp_path)]
    monkeypatch.setattr(endpoints, "check", lambda name: None)

    def start(*lines: Any, **known: Any) -> AgentSession:
        script(*lines, says("done"))
        session = a_session(workspace=str(tmp_path), profile="careful", **known)
        acts.send(session.owner, session, "go")
        return worked(session)

    return start


@pytest.fixture
def held(started: Callable[..., AgentSession]) -> AgentSession:
    """A run that wants to run one command."""
    session = started(calls("run_command", ECHO_RAN, "c1"))
    assert session.status == "waiting"
    return session
