"""The one rule of who may see and steer a session, and whose a webhook is."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db.models import QuerySet
from django.http import Http404

from hermesweb.models import AgentSession, Webhook
from hermesweb.shown import storable

Anyone = AbstractBaseUser | AnonymousUser


def may(user: Anyone, session: AgentSession) -> bool:
    """Its owner and staff; nobody while it is being imported."""
    return session.ready and (_is_staff(user) or session.owner_id == user.pk)


def may_see(user: Anyone, session_id: str) -> bool:
    session = _named(session_id)
    return session is not None and may(user, session)


def visible(user: Anyone) -> QuerySet[AgentSession]:
    ready = AgentSession.objects.filter(ready=True)
    return ready if _is_staff(user) else ready.filter(owner_id=user.pk)


def session_or_404(user: Anyone, session_id: str) -> AgentSession:
    """A session of someone else is as absent as one that never was."""
    session = _named(session_id)
    if session is None or not may(user, session):
        raise Http404(f"there is no session {session_id}")
    return session


def session_with(user: Anyone, session_id: str, number: int) -> AgentSession:
    """A session as above that has a message of this number."""
    session = session_or_404(user, session_id)
    if not session.messages.filter(number=number).exists():
        raise Http404(f"there is no message {number}")
    return session


def webhook_or_404(user: Anyone, id: int) -> Webhook:
    """It is its owner's alone; staff have the admin."""
    webhook = Webhook.objects.filter(owner_id=user.pk, pk=id).first()
    if webhook is None:
        raise Http404(f"there is no webhook {id}")
    return webhook


def may_read_raw(user: Anyone) -> bool:
    """Of the sessions that one may see: what is said with its secrets."""
    return isinstance(user, User) and user.has_perm("hermesweb.raw")


def _named(session_id: str) -> AgentSession | None:
    return AgentSession.objects.filter(pk=storable(session_id)).first()


def _is_staff(user: Anyone) -> bool:
    return isinstance(user, User) and user.is_active and user.is_staff
