"""Sends what waits for a webhook, in order: at least once, a few attempts, nothing followed."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import re
import threading
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from agentcore.errors import ToolError
from agentcore.said import Said, as_json
from agentcore.tools.fetcher import Fetcher
from hermesweb.db_thread import DatabaseThread
from hermesweb.lock import running
from hermesweb.models import Delivery, DeliveryState, Webhook
from hermesweb.shown import shown
from hermesweb.webhooks import switched_on

logger = logging.getLogger(__name__)

SECONDS = 10
# After the first, second and third attempt that failed; the fourth is the last.
PAUSES = (timedelta(seconds=30), timedelta(minutes=2), timedelta(minutes=10))
# One sender holds a webhook for longer than an attempt takes, and gives its thread back after
# a while: the sweep has it go on.
HELD, AT_MOST = timedelta(seconds=3 * SECONDS), 30
GONE = 410
_ADDRESS = re.compile(r"\Ahttps?://\S+: ")
# Of a process's threads, which runs need, so many may wait for receivers.
_room = threading.BoundedSemaphore(4)


@dataclass(frozen=True, slots=True)
class Parcel:
    """What is sent of a delivery, once; `secret` signs it where there is one."""

    delivery: int
    key: str
    url: str
    occasion: str
    content: bytes
    secret: str | None

    @property
    def headers(self) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "X-Hermesweb-Delivery": self.key,
            "X-Hermesweb-Occasion": self.occasion,
        }
        if self.secret:
            digest = hmac.new(self.secret.encode(), self.content, hashlib.sha256)
            headers["X-Hermesweb-Signature"] = f"sha256={digest.hexdigest()}"
        return headers


async def send_waiting(webhook: int) -> None:
    """All that is due, one after the other; nothing where somebody else sends for the webhook, or
    too many receivers are waited for: the sweep asks again."""
    if not _room.acquire(blocking=False):
        return
    database = DatabaseThread()
    end = time.monotonic() + AT_MOST
    try:
        if not await database.run(_take, webhook):
            return
        while time.monotonic() < end and (parcel := await database.run(_next, webhook)):
            await database.run(_ended, parcel.delivery, *await _sent(parcel))
        await database.run(_free, webhook)
    finally:
        _room.release()
        await database.close()


def fetcher() -> Fetcher:
    """What may be posted to: public addresses, and what the set-up names."""
    return Fetcher(trusted=frozenset(settings.WEBHOOK_HOSTS))


def body(delivery: Delivery) -> dict[str, Any]:
    """What is sent, as JSON; secrets masked. Sizes are bytes where their name says so, else in
    `unit`. A test has no session, `seq` or figures."""
    told: dict[str, Any] = {
        "id": delivery.key,
        "occasion": delivery.occasion,
        "at": delivery.at.isoformat(),
    }
    if session := delivery.session:
        told["session"] = {
            "id": session.pk,
            "title": session.title,
            "url": _home() + reverse("session", args=[session.pk]),
        }
        told |= {"seq": delivery.seq, **delivery.facts}
    masked: dict[str, Any] = shown(told)
    return masked


def _take(webhook: int) -> bool:
    now = timezone.now()
    free = Q(busy_until=None) | Q(busy_until__lt=now)
    rows = switched_on().filter(free, pk=webhook)
    return bool(rows.update(busy_until=now + HELD))


def _free(webhook: int) -> None:
    Webhook.objects.filter(pk=webhook).update(busy_until=None)


def _next(webhook: int) -> Parcel | None:
    """The oldest that is due, counted as tried before it is: a killed sender's attempts count."""
    now = timezone.now()
    waiting = Delivery.objects.filter(webhook=webhook, state=DeliveryState.WAITING, due_at__lte=now)
    found = waiting.select_related("webhook", "session").order_by("due_at", "pk").first()
    if found is None or not found.webhook.active:
        return None
    Webhook.objects.filter(pk=webhook).update(busy_until=now + HELD)
    pause = PAUSES[min(found.attempts, len(PAUSES) - 1)]
    waiting.filter(pk=found.pk).update(attempts=found.attempts + 1, due_at=now + pause)
    content = json.dumps(body(found), ensure_ascii=False).encode()
    hook = found.webhook
    return Parcel(found.pk, found.key, hook.url, found.occasion, content, _secret(hook))


async def _sent(parcel: Parcel) -> tuple[int | None, str]:
    """What the receiver answered, and what is wrong with it."""
    if parcel.secret is None:
        return None, Said("not sent: the variable of its secret is not set for the worker")
    try:
        status = await fetcher().post(parcel.url, parcel.content, parcel.headers, seconds=SECONDS)
    except ToolError as error:
        return None, _without_address(str(error))
    if 300 <= status < 400:
        return status, Said("answered {status}: redirects are not followed", status=status)
    return status, "" if 200 <= status < 300 else Said("answered {status}", status=status)


def _without_address(text: str) -> str:
    """What failed, fit for a log: services put their secrets into addresses."""
    reason = text.figures.get("reason") if isinstance(text, Said) else None
    return reason if isinstance(reason, Said) else _ADDRESS.sub("", reason or text)


def _ended(delivery: int, status: int | None, detail: str) -> None:
    """A webhook that was deleted meanwhile took its deliveries along."""
    row = Delivery.objects.filter(pk=delivery).first()
    if row is None:
        return
    row.status, row.detail, row.said = status, str(shown(detail))[:500], as_json(detail)
    if not detail:
        row.state = DeliveryState.DELIVERED
    elif status == GONE or row.is_test or row.attempts > len(PAUSES):
        row.state = DeliveryState.FAILED
        logger.warning("webhook %s was not told of %s: %s", row.webhook_id, row, row.detail)
    row.ended_at = None if row.state == DeliveryState.WAITING else timezone.now()
    rows = Delivery.objects.filter(pk=delivery, state=DeliveryState.WAITING)
    told = {name: getattr(row, name) for name in ("status", "detail", "said", "state", "ended_at")}
    rows.update(**told)


def _secret(webhook: Webhook) -> str | None:
    """None where it should stand in the environment and does not."""
    if webhook.secret_variable:
        return os.environ.get(webhook.secret_variable) or None
    return webhook.secret


def _home() -> str:
    """Where people reach the pages; empty where only a path is known."""
    if settings.PUBLIC_HOSTS:
        return f"https://{settings.PUBLIC_HOSTS[0]}"
    here = running(settings.DATA_DIR)
    return here.url if here else ""
