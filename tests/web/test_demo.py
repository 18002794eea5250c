from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django import Settings

from hermesweb.models import AgentSession, Status


@pytest.mark.django_db
def test_the_demo_queues_an_explorer_on_a_copy_of_the_core(
    settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.WORKSPACES = tmp_path
    settings.ALLOWED_ROOTS = [tmp_path]

    call_command("demo")

    session = AgentSession.objects.get()
    assert f"demo session {session.pk}" in capsys.readouterr().out
    assert (session.model, session.status) == ("explorer", Status.QUEUED)
    assert session.owner.username == "owner"
    assert (Path(session.workspace) / "agentcore" / "messages.py").is_file()
    assert session.instructions.count() == 1
