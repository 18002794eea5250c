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


def _send(session_id: str) -> None:
    try:
        app.send_task("hermesweb.tasks.run_session", [session_id], retry=False)
    except OperationalError as error:
        logger.warning("no broker for session %s, the sweep will queue it: %s", session_id, error)
