from __future__ import annotations

from django.conf import settings
from django.db import models


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
