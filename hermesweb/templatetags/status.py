from __future__ import annotations

from django import template
from django.utils.translation import gettext as _

from hermesweb.labels import words
from hermesweb.models import AgentSession, Status

register = template.Library()

# Colour and mark; the word is the status itself unless another says more.
LOOKS: dict[Status, tuple[str, str]] = {
    Status.IDLE: ("done", "idle"),
    Status.QUEUED: ("run", "idle"),
    Status.RUNNING: ("run", "live"),
    Status.COMPACTING: ("run", "live"),
    Status.WAITING: ("wait", "wait"),
    Status.STOPPING: ("wait", "wait"),
    Status.BLOCKED: ("stop", "err"),
    Status.FAILED: ("stop", "err"),
    Status.FOLLOWING: ("run", "live"),
    Status.ARCHIVED: ("done", "idle"),
}


@register.inclusion_tag("_status.html")
def status(session: AgentSession) -> dict[str, str]:
    look, icon = LOOKS[Status(session.status)]
    told = _("wants approval") if session.status == Status.WAITING else words(session.status)
    if session.thrash and look == "run":
        look, icon, told = "stop", "err", _("compacts each turn")
    return {"look": look, "icon": icon, "words": told}
