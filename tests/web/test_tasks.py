from __future__ import annotations

from datetime import timedelta

import pytest
from builders import a_lease, a_session
from django.conf import settings
from django.utils import timezone

from hermesweb import lease, tasks
from hermesweb.models import AgentSession, Status

pytestmark = pytest.mark.django_db


def test_the_sweep_wakes_what_lost_its_worker_or_its_task_and_leaves_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    long_ago = timezone.now() - timedelta(seconds=60)
    woken: list[str] = []
    monkeypatch.setattr(tasks, "wake", woken.append)
    alive, gone = a_session(status=Status.RUNNING), a_session(status=Status.RUNNING)
    for session in (alive, gone):
        a_lease(session)
    AgentSession.objects.filter(pk=gone.pk).update(lease_ends=long_ago)
    unheard = a_session(status=Status.QUEUED, asked_at=long_ago)
    just_asked = a_session(status=Status.QUEUED, asked_at=timezone.now())
    a_session(status=Status.IDLE)
    tasks.sweep()
    assert sorted(woken) == sorted([gone.pk, unheard.pk])
    assert just_asked.pk not in woken
    tasks.sweep()
    assert len(woken) == 2


def test_a_lost_session_is_taken_up_within_lease_and_sweep() -> None:
    assert lease.SECONDS + settings.SWEEP_SECONDS <= 18
    assert lease.RENEW_SECONDS * 2 < lease.SECONDS
