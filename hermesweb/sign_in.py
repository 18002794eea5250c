"""Who comes in: the local owner, one-time links, API tokens. Only hashes are stored."""

from __future__ import annotations

import hashlib
import os
import secrets
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.utils import timezone

from hermesweb.models import SignInLink, UserToken

LINK_LIFE = timedelta(hours=1)


def local_owner() -> User:
    """The staff user of a local installation, made at the first start.

    Has no password until `manage.py changepassword` gives one.
    """
    owner = User.objects.filter(is_superuser=True, is_active=True).order_by("id").first()
    return owner or User.objects.create_superuser("owner")


def make_link(user: User) -> str:
    """A token that signs `user` in once within an hour."""
    token = secrets.token_urlsafe(32)
    SignInLink.objects.filter(ends_at__lt=timezone.now()).delete()
    SignInLink.objects.create(user=user, sha256=_sha256(token), ends_at=timezone.now() + LINK_LIFE)
    return token


def redeem(token: str) -> User | None:
    """The user of a link that has not been used and has not ended; the link is used up."""
    link = (
        SignInLink.objects.select_related("user")
        .filter(sha256=_sha256(token), ends_at__gte=timezone.now(), user__is_active=True)
        .first()
    )
    if link is None:
        return None
    # Of two requests at once, the one that deletes the row is the one that signs in.
    deleted, _ = SignInLink.objects.filter(pk=link.pk).delete()
    return link.user if deleted else None


def session_of(user: User) -> SessionStore:
    """A stored session in which `user` is signed in; whoever asks for it deletes it."""
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return session


def api_token(user: User, kept_in: Path) -> str:
    """The user's API token as `kept_in` holds it; a new one when the file or the row is lost."""
    if kept_in.exists():
        token = kept_in.read_text().strip()
        if UserToken.objects.filter(user=user, sha256=_sha256(token)).exists():
            return token
    token = secrets.token_urlsafe(32)
    kept_in.unlink(missing_ok=True)
    with open(os.open(kept_in, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(token)
    UserToken.objects.update_or_create(user=user, defaults={"sha256": _sha256(token)})
    return token


def user_of_token(token: str) -> User | None:
    """The active user who holds this API token."""
    row = (
        UserToken.objects.select_related("user")
        .filter(sha256=_sha256(token), user__is_active=True)
        .first()
    )
    return row.user if row else None


def _sha256(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
