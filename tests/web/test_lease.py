from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from builders import a_lease, a_session
from django.db import connections
from django.utils import timezone

from hermesweb import lease
from hermesweb.lease import Lease
from hermesweb.models import AgentSession, Status

pytestmark = pytest.mark.django_db


def run_out() -> None:
    AgentSession.objects.update(lease_ends=timezone.now() - timedelta(seconds=1))


def test_a_session_has_one_holder_until_it_is_released() -> None:
    session = a_session()
    first = a_lease(session, "first")
    assert lease.take(session.pk, "second") is None
    assert lease.release(first)
    assert lease.take(session.pk, "second") == Lease(session.pk, "second", 2)


def test_a_lease_that_ran_out_is_free_and_its_holder_cannot_renew_it() -> None:
    session = a_session()
    first = a_lease(session, "first")
    run_out()
    second = a_lease(session, "second")
    assert second.fence == first.fence + 1
    assert not lease.renew(first)
    assert not lease.release(first)
    assert lease.renew(second)


def test_renewing_puts_the_end_off() -> None:
    session = a_session()
    held = a_lease(session)
    AgentSession.objects.update(lease_ends=timezone.now() + timedelta(seconds=1))
    assert lease.renew(held)
    session.refresh_from_db()
    assert session.lease_ends is not None
    assert session.lease_ends > timezone.now() + timedelta(seconds=lease.SECONDS - 2)


@pytest.mark.parametrize("status", Status)
def test_a_session_at_work_or_queued_without_a_holder_is_lost(status: Status) -> None:
    session = a_session(status=status)
    a_lease(session)
    assert lease.lost() == []
    run_out()
    wanting = (Status.RUNNING, Status.COMPACTING, Status.STOPPING, Status.QUEUED)
    assert lease.lost() == ([session.pk] if status in wanting else [])


def test_a_lost_session_is_named_once_in_a_while() -> None:
    session = a_session(status=Status.QUEUED, asked_at=timezone.now())
    assert lease.lost() == []
    AgentSession.objects.update(asked_at=timezone.now() - timedelta(seconds=lease.LOST_SECONDS))
    assert lease.lost() == [session.pk]
    assert lease.lost() == []


@pytest.mark.django_db(transaction=True)
def test_of_many_who_try_at_once_one_gets_the_lease() -> None:
    session = a_session()
    taken: list[Lease | None] = []
    gate = threading.Barrier(8)

    def work(name: str) -> None:
        gate.wait()
        taken.append(lease.take(session.pk, name))
        connections.close_all()

    threads = [threading.Thread(target=work, args=(f"holder {n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([one for one in taken if one]) == 1
    assert AgentSession.objects.get().fence == 1
