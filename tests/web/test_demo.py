from __future__ import annotations

from pathlib import Path

import pytest
from asgiref.sync import sync_to_async
from django.core.management import call_command
from pytest_django import Settings

from agentcore.tools import Toolbox
from hermesweb import runner
from hermesweb.models import AgentSession, MemoryEntry, Status
from hermesweb.tools import toolbox_of


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
    assert MemoryEntry.objects.get().workspace == session.workspace
    call_command("demo")
    assert MemoryEntry.objects.count() == 1


@pytest.mark.django_db(transaction=True)
async def test_the_demo_uses_all_tools_that_it_is_offered(
    settings: Settings, tmp_path: Path, woken: list[str]
) -> None:
    settings.WORKSPACES = tmp_path
    settings.ALLOWED_ROOTS = [tmp_path]
    settings.WEB_TOOLS = False
    await sync_to_async(call_command)("demo")
    session = await AgentSession.objects.aget()
    await runner.run(session.pk)
    await session.arefresh_from_db()
    assert session.run_end == "answered"
    started = session.events.filter(kind="tool_started").values_list("data", flat=True)
    used = {data["tool"] async for data in started}
    box = await sync_to_async(_offered)(session)
    assert used == {schema["function"]["name"] for schema in box.schemas}
    notes = tmp_path / "demo" / "notes.md"
    assert notes.read_text().startswith("# What the results show:")
    counted = {name for name, size in session.breakdown.items() if size}
    assert {"system_prompt", "project_docs", "skills", "memory", "tool_schemas"} <= counted


def _offered(session: AgentSession) -> Toolbox:
    return toolbox_of(session, session.profile_version.value)
