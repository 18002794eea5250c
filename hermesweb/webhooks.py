"""What webhooks are to be told: rows written with the events, sent later and elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from agentcore.said import Said, as_json
from hermesweb.models import AgentSession, Delivery, DeliveryState, SessionEvent, Webhook
from hermesweb.wake import deliver

# Of each webhook: deliveries that may wait, so that a dead receiver fills no table, and those
# whose outcome is kept.
MOST_WAITING, KEPT = 100, 200
# Of an event's facts, what is sent: small, without text from outside but for the reason of a run or
# a hook; `tool` is one that is offered.
FACTS = (
    *("turn", "used", "limit", "unit", "pressure", "tokens", "tokens_are", "window"),
    *("trigger", "state", "used_before", "failure", "run", "end", "reason"),
    *("tool", "message", "question", "until"),
)
BYTES = ("before", "after")


def of_owner(owner: User) -> QuerySet[Webhook]:
    return Webhook.objects.filter(owner=owner)


def switched_on() -> QuerySet[Webhook]:
    """Those that are told of anything: none of a person who may not sign in any more."""
    return Webhook.objects.filter(active=True, owner__is_active=True)


def tell(session: AgentSession, events: Sequence[SessionEvent]) -> None:
    """Write what the owner's webhooks are to be told of these, in the caller's transaction; a
    worker is asked for once it is through."""
    found = [(occasion, event) for event in events for occasion in event.data.get("occasions", ())]
    if not found:
        return
    for webhook in switched_on().filter(owner=session.owner_id):
        wanted = [one for one in found if one[0] in webhook.occasions]
        if wanted:
            _write(webhook, session, wanted)
            deliver(webhook.pk)


def due() -> list[int]:
    """Webhooks with something to send that nobody is sending."""
    waiting = Delivery.objects.filter(
        webhook=OuterRef("pk"), state=DeliveryState.WAITING, due_at__lte=timezone.now()
    )
    free = Q(busy_until=None) | Q(busy_until__lt=timezone.now())
    rows = switched_on().filter(Exists(waiting), free)
    return list(rows.values_list("pk", flat=True))


def drop(webhook: Webhook, why: str) -> None:
    """What waits is not sent any more."""
    waiting = webhook.deliveries.filter(state=DeliveryState.WAITING)
    waiting.update(
        state=DeliveryState.DROPPED, detail=why, said=as_json(why), ended_at=timezone.now()
    )


def _write(
    webhook: Webhook, session: AgentSession, wanted: Sequence[tuple[str, SessionEvent]]
) -> None:
    """Beyond what may wait, the newest are not kept but told as dropped."""
    room = MOST_WAITING - webhook.deliveries.filter(state=DeliveryState.WAITING).count()
    rows = [
        Delivery(
            webhook=webhook,
            session=session,
            occasion=occasion,
            seq=event.seq,
            facts=_facts(event.data),
        )
        for occasion, event in wanted
    ]
    for row in rows[max(room, 0) :]:
        row.state, row.ended_at = DeliveryState.DROPPED, timezone.now()
        row.detail = Said("{count} others were waiting", count=MOST_WAITING)
        row.said = as_json(row.detail)
    Delivery.objects.bulk_create(rows)
    _forget(webhook)


def _forget(webhook: Webhook) -> None:
    """Older outcomes than those that are kept."""
    ended = webhook.deliveries.exclude(state=DeliveryState.WAITING)
    beyond = ended.order_by("-pk").values_list("pk", flat=True)[KEPT : KEPT + 1]
    for pk in beyond:
        ended.filter(pk__lte=pk).delete()


def _facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: facts[name] for name in FACTS if facts.get(name) is not None}
    sizes = {f"{name}_bytes": facts[name] for name in BYTES if facts.get(name) is not None}
    return {**told, **sizes}
