"""Which version of a profile is in force."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Exists, OuterRef, QuerySet

from agentcore.profile import Profile
from hermesweb.models import AgentSession, ProfileVersion, SessionKind


def current() -> QuerySet[ProfileVersion]:
    """The newest of each profile."""
    later = ProfileVersion.objects.filter(
        profile=OuterRef("profile"), number__gt=OuterRef("number")
    )
    return ProfileVersion.objects.filter(~Exists(later)).select_related("profile")


def readable() -> list[Profile]:
    """The values of each profile in force, but for those that are refused."""
    return [version.readable for version in current() if version.readable]


def in_force(sessions: Sequence[AgentSession]) -> dict[str, ProfileVersion]:
    """By session, what its next turn uses, as `version_in_force` has it of one; a query for all
    beside their own versions, which are to be loaded."""
    runs = {
        session.pk: session.profile_id for session in sessions if session.kind == SessionKind.RUN
    }
    found = current().filter(profile__in={followed for followed in runs.values() if followed})
    newest = {version.profile_id: version for version in found}
    return {
        session.pk: newest.get(runs.get(session.pk) or 0, session.profile_version)
        for session in sessions
    }
