from __future__ import annotations

from pathlib import Path

import pytest
from asgiref.sync import sync_to_async
from builders import a_session, said
from pytest_django import Settings

from agentcore.tools import Workspace, toolbox
from hermesweb import endpoints


@pytest.mark.django_db(transaction=True)
async def test_the_explorer_is_as_slow_as_the_settings_say(
    settings: Settings, tmp_path: Path
) -> None:
    session = await sync_to_async(a_session)(model="explorer")
    schemas = toolbox(Workspace(tmp_path)).schemas
    for pace in (0, 80):
        settings.EXPLORER_PACE_MS = pace
        model = await sync_to_async(endpoints.chat_model)(session)
        reply = await model.reply([said(1, "look around")], schemas)
        assert (reply.seconds >= 0.07) is bool(pace)
