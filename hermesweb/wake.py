"""Asking for a worker. The message is only a hint: the sweep finds a session whose hint
was lost."""

from __future__ import annotations

import logging

from django.db import transaction
from kombu.exceptions import OperationalError

from hermesweb.celery import app

logger = logging.getLogger(__name__)


def wake(session_id: str) -> None:
    """Queue a task for the session once the transaction is through."""
    transaction.on_commit(lambda: _send(session_id))


def draft(preview_id: str) -> None:
    """Queue the writing of a preview's summary; a person asks again where the task was lost."""
    transaction.on_commit(lambda: _post("hermesweb.tasks.write_summary", preview_id))


def deliver(webhook: int) -> None:
    """Queue the sending of what waits for a webhook; the sweep finds what was lost."""
    transaction.on_commit(lambda: _post("hermesweb.tasks.deliver", webhook))


def _send(session_id: str) -> None:
    _post("hermesweb.tasks.run_session", session_id)


def _post(task: str, subject: str | int) -> None:
    try:
        app.send_task(task, [subject], retry=False)
    except OperationalError as error:
        logger.warning("no broker for %s of %s: %s", task, subject, error)
