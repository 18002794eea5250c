from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from hermesweb import audit, lease
from hermesweb.acts.errors import Refused
from hermesweb.models import AgentSession, Status
from hermesweb.recorder import locked, remove


def delete(who: User | None, session: AgentSession) -> None:
    """Take a session and all that is its own out of the database; the audit of it stays."""
    with transaction.atomic():
        row = locked(session.pk)
        if row.holder or row.status in (*lease.AT_WORK, Status.QUEUED):
            raise Refused(_("stop the run first, then delete the session"), "running")
        facts = {"title": row.title, "owner": str(row.owner), "messages": row.last_number}
        audit.write(who, "deleted", chain=row.pk, old=facts)
        remove(row)
