from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from hermesweb.acts.flags import archive, change_automatic, change_mode, change_profile, rename
from hermesweb.models import AgentSession

CHANGES: dict[str, Callable[[User, AgentSession, Any], None]] = {
    "title": rename,
    "profile": change_profile,
    "mode": change_mode,
    "automatic": change_automatic,
    "archived": archive,
}


def change(who: User, session: AgentSession, values: Mapping[str, Any]) -> None:
    """All of these by name or, where one is refused, none; `session` is then to be read anew."""
    with transaction.atomic():
        for name, value in values.items():
            CHANGES[name](who, session, value)
