from __future__ import annotations

from typing import Any

from ninja import Query, Router, Status

from hermesweb import acts, webhooks
from hermesweb.access import webhook_or_404
from hermesweb.api.paging import Window, page
from hermesweb.api.strict import Body
from hermesweb.http import SignedIn
from hermesweb.models import Delivery, Webhook

router = Router(tags=["webhooks"])


class NewWebhook(Body):
    """`occasions`: near_threshold, compacted, blocked, thrash, breaker_open, approval_wanted,
    run_ended."""

    url: str
    occasions: list[str]
    secret: str = ""


class Changes(Body):
    """What is left out stays as it is; an empty `secret`: what is sent is not signed."""

    url: str | None = None
    occasions: list[str] | None = None
    secret: str | None = None
    active: bool | None = None


@router.get("/webhooks")
def many(request: SignedIn) -> dict[str, Any]:
    """Your own, at most ten."""
    return {
        "items": [_shape(one) for one in webhooks.of_owner(request.user).order_by("pk")],
        "next": None,
    }


@router.post("/webhooks", response={201: Any})
def add(request: SignedIn, body: NewWebhook) -> Status[dict[str, Any]]:
    """Told of the occasions of all your sessions, each at least once: the `id` of what is sent is
    the same at every attempt. With a secret it is signed: `X-Hermesweb-Signature` is `sha256=` and
    the HMAC-SHA256 of the body."""
    return Status(201, _shape(acts.add_webhook(request.user, request.user, **body.dict())))


@router.patch("/webhooks/{id}")
def change(request: SignedIn, id: int, body: Changes) -> dict[str, Any]:
    """What waits for one that is switched off is dropped."""
    webhook = webhook_or_404(request.user, id)
    acts.change_webhook(request.user, webhook, **body.dict(exclude_none=True))
    return _shape(webhook)


@router.delete("/webhooks/{id}", response={204: None})
def delete(request: SignedIn, id: int) -> Status[None]:
    """What waits for it is not sent."""
    acts.delete_webhook(request.user, webhook_or_404(request.user, id))
    return Status(204, None)


@router.post("/webhooks/{id}/test", response={202: Any})
def test(request: SignedIn, id: int) -> Status[dict[str, Any]]:
    """Sends one delivery of the occasion `test`, signed as the others, with `id` and `at` alone and
    in one attempt; what became of it is the newest of its deliveries."""
    return Status(202, _told(acts.test_webhook(request.user, webhook_or_404(request.user, id))))


@router.get("/webhooks/{id}/deliveries")
def deliveries(request: SignedIn, id: int, window: Query[Window]) -> dict[str, Any]:
    """Newest first; of those that ended the newest 200 are kept."""
    rows = webhook_or_404(request.user, id).deliveries.order_by("-pk")
    if after := window.numbers(1):
        rows = rows.filter(pk__lt=after[0])
    found = list(rows[: window.limit + 1])
    return page(found, window, lambda row: str(row.pk), _told)


def _shape(webhook: Webhook) -> dict[str, Any]:
    return {
        "id": webhook.pk,
        "url": webhook.url,
        "occasions": webhook.occasions,
        "signed": webhook.signed,
        "active": webhook.active,
        "at": webhook.at,
    }


def _told(row: Delivery) -> dict[str, Any]:
    return {
        "id": row.key,
        "occasion": row.occasion,
        "session": row.session_id,
        "seq": row.seq or None,
        "state": row.state,
        "attempts": row.attempts,
        "status": row.status,
        "detail": row.detail or None,
        "at": row.at,
        "ended_at": row.ended_at,
    }
