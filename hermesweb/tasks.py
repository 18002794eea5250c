from __future__ import annotations

from typing import Any

from asgiref.sync import async_to_sync
from celery.signals import worker_shutting_down

from hermesweb import acts, counts, drafting, imports, lease, planning, posting, runner, webhooks
from hermesweb.celery import app
from hermesweb.wake import deliver as ask_to_deliver
from hermesweb.wake import wake


@app.task(name="hermesweb.tasks.run_session")
def run_session(session_id: str) -> None:
    """One coroutine, entered once."""
    async_to_sync(runner.run)(session_id)


@app.task(name="hermesweb.tasks.write_summary")
def write_summary(preview_id: str) -> None:
    """One coroutine, entered once."""
    async_to_sync(drafting.write)(preview_id)


@app.task(name="hermesweb.tasks.deliver")
def deliver(webhook: int) -> None:
    """One coroutine, entered once."""
    async_to_sync(posting.send_waiting)(webhook)


@app.task(name="hermesweb.tasks.sweep")
def sweep() -> None:
    """Queue again what lost its worker or its task; safe at any time, and twice at once."""
    for session_id in lease.lost():
        wake(session_id)
    imports.clear_left_over()
    planning.clear_ended()
    acts.refuse_overdue()
    counts.catch_up()
    for webhook in webhooks.due():
        ask_to_deliver(webhook)


@worker_shutting_down.connect
def _drain(**signal: Any) -> None:
    runner.drain()
