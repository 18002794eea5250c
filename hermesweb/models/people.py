"""Who comes in, what they leave for later sessions, and who changed what."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from hermesweb.models.columns import NAME_CHARS
from hermesweb.models.sessions import AgentSession


class UserToken(models.Model):
    """The one API token of a user, as the SHA-256 of what the user holds."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="token")
    sha256 = models.CharField(max_length=64, unique=True)

    def __str__(self) -> str:
        return f"token of {self.user}"


class SignInLink(models.Model):
    """Signs its user in once, until it ends; redeeming deletes the row."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    sha256 = models.CharField(max_length=64, unique=True)
    ends_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"sign-in link of {self.user} until {self.ends_at:%Y-%m-%d %H:%M}"


class MemoryEntry(models.Model):
    """What later sessions of the owner in the workspace may be reminded of. `source_numbers` are
    the messages that say it; `edited`: a person wrote or changed it, so no session replaces it."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memories")
    workspace = models.TextField(blank=True)
    kind = models.CharField(max_length=24)
    text = models.TextField()
    source = models.ForeignKey(AgentSession, models.SET_NULL, null=True, related_name="memories")
    source_numbers = models.JSONField(default=list)
    uses = models.PositiveIntegerField(default=0)
    edited = models.BooleanField(default=False)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["owner", "workspace"], name="memory_scope")]

    def __str__(self) -> str:
        return self.text


class AuditEntry(models.Model):
    """Who changed what. `chain` is a session's id, or empty for the administration; each entry's
    hash covers the one before it, and entries outlive the session."""

    chain = models.CharField(max_length=60, blank=True)
    place = models.PositiveBigIntegerField()
    who = models.CharField(max_length=NAME_CHARS)
    action = models.CharField(max_length=40)
    old = models.JSONField(null=True)
    new = models.JSONField(null=True)
    at = models.DateTimeField()
    hash = models.CharField(max_length=64)

    class Meta:
        verbose_name_plural = "audit entries"
        constraints = [models.UniqueConstraint(fields=["chain", "place"], name="audit_chain")]

    def __str__(self) -> str:
        return f"{self.who}: {self.action}"
