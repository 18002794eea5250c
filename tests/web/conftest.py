from __future__ import annotations

from collections.abc import Callable

import pytest

from agentcore.llm.scripted import Line, ScriptedModel
from hermesweb import endpoints, wake


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
