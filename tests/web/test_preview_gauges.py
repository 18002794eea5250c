"""What the page of a preview draws as now and after."""

from __future__ import annotations

import pytest
from builders import a_user
from django.test import Client
from scenes import a_talk, html_of

from agentcore.pressure import Unit
from hermesweb import acts, looks
from hermesweb.models import Preview

pytestmark = pytest.mark.django_db


def test_the_gauges_hold_the_tool_schemas_and_sum_to_what_is_used(client: Client) -> None:
    ada = a_user("ada")
    client.force_login(ada)
    session = a_talk(ada, 24, text="x" * 2_000)
    html_of(client, f"/sessions/{session.pk}/compact/?stage=keep_recent")
    found = Preview.objects.get()
    plan = acts.plan_of(session, acts.options_of(found))
    assert plan.before.unit is Unit.BYTES and plan.schemas.bytes
    for gauge in looks.context(session, found, plan)["gauges"]:
        parts = {part.category: part.bytes for part in gauge.segments}
        assert parts["tool_schemas"] == plan.schemas.bytes
        assert sum(parts.values()) == gauge.used
