from __future__ import annotations

import secrets
from enum import StrEnum

from django.conf import settings
from django.db import models
from django.utils import timezone

from hermesweb.models.columns import NAME_CHARS, one_of
from hermesweb.models.sessions import AgentSession
from hermesweb.occasions import Occasion

URL_CHARS = 2_000


class DeliveryState(StrEnum):
    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"
    DROPPED = "dropped"


def delivery_key() -> str:
    return secrets.token_hex(12)


class Webhook(models.Model):
    """Where the owner is told of these occasions in the owner's sessions. `secret` signs what is
    sent and is never shown again; `secret_variable` names the environment variable that holds it
    instead. Who sends for it holds it until `busy_until`."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=URL_CHARS)
    occasions = models.JSONField(default=list)
    secret = models.CharField(max_length=NAME_CHARS, blank=True)
    secret_variable = models.CharField(max_length=100, blank=True)
    active = models.BooleanField(default=True)
    busy_until = models.DateTimeField(null=True)
    at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"webhook {self.pk}"

    @property
    def signed(self) -> bool:
        return bool(self.secret or self.secret_variable)


class Delivery(models.Model):
    """One occasion to be told to one webhook, or a test of it, which is of no session. `key` is the
    same at each attempt and nowhere else; `facts` are those of the event; `status` is what the
    receiver last answered, `detail` why it was not taken, `said` how that was made:
    agentcore.said.as_json."""

    key = models.CharField(max_length=24, default=delivery_key)
    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    session = models.ForeignKey(AgentSession, models.CASCADE, null=True, related_name="deliveries")
    occasion = one_of(Occasion)
    seq = models.PositiveBigIntegerField()
    facts = models.JSONField()
    state = one_of(DeliveryState, default=DeliveryState.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    status = models.PositiveSmallIntegerField(null=True)
    detail = models.CharField(max_length=500, blank=True)
    said = models.JSONField(default=dict)
    due_at = models.DateTimeField(default=timezone.now)
    at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = [
            models.Index(
                fields=["webhook", "due_at"],
                condition=models.Q(state=DeliveryState.WAITING),
                name="delivery_due",
            )
        ]

    def __str__(self) -> str:
        return f"{self.occasion} of {self.session_id or 'nobody'}"

    @property
    def is_test(self) -> bool:
        return self.session_id is None
