from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _

from agentcore.events import EventKind
from hermesweb import erasing, lease
from hermesweb.acts.errors import Refused
from hermesweb.acts.flags import pinned_bytes
from hermesweb.acts.naming import known
from hermesweb.acts.telling import act
from hermesweb.models import AgentSession, Status


def erase(who: User, session: AgentSession, number: int) -> dict[str, Any]:
    """Replace a message's text by its length and hash, for good; what is told of it. Refused while
    a worker has the session: it holds the text. Raises PermissionDenied for all but staff."""
    if not who.is_staff:
        text = _("Only staff may erase a text: ask whoever runs this installation.")
        raise PermissionDenied(text)
    facts: dict[str, Any] = {}

    def change(row: AgentSession) -> Mapping[str, Any]:
        if row.holder or row.run_open or row.status in (*lease.AT_WORK, Status.QUEUED):
            raise Refused(_("stop the run first, then erase the message"), "running")
        known(row, [number])
        message = row.messages.select_related("body", "captured").get(number=number)
        if message.erased:
            raise Refused(_("message %(number)s was erased before") % {"number": number}, "erased")
        facts.update(erasing.erase(row, message))
        row.pinned_bytes = pinned_bytes(row)
        return facts

    act(who, session, EventKind.ERASED, change)
    return facts
