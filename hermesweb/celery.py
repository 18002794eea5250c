from __future__ import annotations

import os
from typing import Any

from celery import Celery, bootsteps
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hermesweb.settings")

app = Celery("hermesweb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["hermesweb"])


class SweepTimer(bootsteps.StartStopStep):
    """The embedded set-up's stand-in for a beat process: the worker's own timer queues the sweep.

    A consumer step and not a `worker_ready` handler, because a lost broker connection
    clears the timer and starts the steps again.
    """

    requires = {"celery.worker.consumer.tasks:Tasks"}

    def include_if(self, parent: Any) -> bool:
        return settings.SWEEP_IN_WORKER

    def start(self, parent: Any) -> None:
        for entry in settings.CELERY_BEAT_SCHEDULE.values():
            queue = (parent.app, entry["task"])
            parent.timer.call_after(0, self._send, queue)
            parent.timer.call_repeatedly(entry["schedule"], self._send, queue)

    def _send(self, app: Celery, task: str) -> None:
        app.send_task(task, expires=settings.SWEEP_SECONDS, retry=False)


app.steps["consumer"].add(SweepTimer)
