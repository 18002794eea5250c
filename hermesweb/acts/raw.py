from __future__ import annotations

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils.translation import gettext as _

from hermesweb import access, audit
from hermesweb.models import AgentSession
from hermesweb.recorder import locked


def read_raw(who: User, session: AgentSession, what: str) -> None:
    """Write down that a person reads `what` of a session unmasked. Raises PermissionDenied."""
    if not access.may_read_raw(who):
        raise PermissionDenied(
            _(
                "Reading %(what)s unmasked needs the permission raw: ask whoever runs this "
                "installation."
            )
            % {"what": what}
        )
    with transaction.atomic():
        locked(session.pk)
        audit.write(who, "raw_read", chain=session.pk, new={"what": what})
