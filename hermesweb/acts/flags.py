"""What takes effect at once and is read at the next border."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from agentcore.events import EventKind
from agentcore.options import Automatic
from agentcore.prompt import MODES
from hermesweb import lease, memory, steering
from hermesweb.acts.errors import Invalid, Refused, not_one_of, read_only
from hermesweb.acts.measuring import measure
from hermesweb.acts.naming import version_named
from hermesweb.acts.telling import act
from hermesweb.models import AgentSession, SessionKind, Status
from hermesweb.shown import shown

TITLE_CHARS = 200


def rename(who: User | None, session: AgentSession, title: str) -> None:
    title = " ".join(str(shown(title)).split())
    if not title or len(title) > TITLE_CHARS:
        text = _("a title has 1 to %(most)s characters, not %(count)s")
        raise Invalid(text % {"most": TITLE_CHARS, "count": len(title)}, "title")

    def change(row: AgentSession) -> Mapping[str, Any]:
        row.title = title
        return {"title": title}

    # Until somebody names it, a title is what the first instruction says.
    named = session.events.filter(kind=EventKind.RENAMED).exists()
    old = {"title": session.title} if named else None
    act(who, session, EventKind.RENAMED, change, old=old)


def change_profile(who: User | None, session: AgentSession, name: str) -> None:
    """Follow another profile from the next border on; refused for what only is looked at."""
    version = version_named(name)
    profile = version.profile

    def change(row: AgentSession) -> Mapping[str, Any]:
        _takes_turns(row)
        row.profile, row.profile_version = profile, version
        row.thrash = False
        unit = row.unit
        _measure_at_rest(row)
        if row.unit != unit:
            steering.end_hold(row)
        return {"profile": {"name": profile.name, "version": version.number}}

    old = {"profile": str(session.profile_version)}
    act(who, session, EventKind.PROFILE_CHANGED, change, old=old)


def change_automatic(who: User | None, session: AgentSession, value: str) -> None:
    """`value` empty: as the profile says."""
    if value and value not in list(Automatic):
        raise Invalid(not_one_of("automatic", Automatic, value), "automatic")

    def change(row: AgentSession) -> Mapping[str, Any]:
        _takes_turns(row)
        row.automatic = value
        return {"automatic": value}

    old = {"automatic": session.automatic}
    act(who, session, EventKind.PROFILE_CHANGED, change, old=old)


def change_mode(who: User | None, session: AgentSession, value: str) -> None:
    """What is offered from the next border on, also of a run at work."""
    if value not in MODES:
        raise Invalid(not_one_of("mode", MODES, value), "mode")

    def change(row: AgentSession) -> Mapping[str, Any]:
        _takes_turns(row)
        row.mode = value
        _measure_at_rest(row)
        return {"mode": value}

    act(who, session, EventKind.PROFILE_CHANGED, change, old={"mode": session.mode})


def archive(who: User | None, session: AgentSession, on: bool = True) -> None:
    """An archived session leaves what it came to, as one that answered does."""
    is_news = on and session.kind == SessionKind.RUN and session.last_number > session.distilled_to
    entries = memory.distilled(session) if is_news else None

    def change(row: AgentSession) -> Mapping[str, Any]:
        if row.status in (*lease.AT_WORK, Status.QUEUED, Status.WAITING):
            raise Refused(_("stop the run first, then archive the session"), "running")
        if entries is not None:
            memory.store(row, entries)
        row.status = Status.ARCHIVED if on else Status.IDLE
        return {"archived": on}

    act(who, session, EventKind.ARCHIVED, change)


def _takes_turns(row: AgentSession) -> None:
    """A recording has no next turn: its limit and thresholds are those that it was read with."""
    if row.kind != SessionKind.RUN:
        raise read_only(row.kind)


def _measure_at_rest(row: AgentSession) -> None:
    """The gauge follows at once; a worker takes the change up, and measures, at its next border."""
    is_at_rest = row.kind == SessionKind.RUN and row.status not in lease.AT_WORK
    if is_at_rest and row.profile_version.readable:
        measure(row)
