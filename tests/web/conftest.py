from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from asgiref.sync import SyncToAsync
from django.db import connections

from agentcore.llm.scripted import Line, ScriptedModel
from hermesweb import endpoints, wake


@pytest.fixture(scope="session", autouse=True)
def _no_connection_is_left(django_db_setup: None) -> Iterator[None]:
    """The thread that async tests share holds one, and PostgreSQL drops no database in use."""
    yield
    SyncToAsync.single_thread_executor.submit(connections.close_all).result()


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
