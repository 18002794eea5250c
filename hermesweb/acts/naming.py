"""What an act names must be there."""

from __future__ import annotations

from collections.abc import Collection

from django.utils.translation import gettext as _

from hermesweb.acts.errors import Invalid
from hermesweb.models import AgentSession, Profile, ProfileVersion
from hermesweb.sentences import told


def known(row: AgentSession, numbers: Collection[int]) -> None:
    """Raises Invalid unless these are messages of the session, at least one."""
    found = set(row.messages.filter(number__in=numbers).values_list("number", flat=True))
    if not numbers or (missing := sorted(set(numbers) - found)):
        text = _("there are no messages %(numbers)s") % {"numbers": missing} if numbers else ""
        raise Invalid(text or _("there are no messages chosen"), "numbers")


def version_named(name: str) -> ProfileVersion:
    """The one in force of that profile. Raises Invalid."""
    profile = Profile.objects.filter(name=name).first()
    if profile is None:
        names = ", ".join(Profile.objects.order_by("name").values_list("name", flat=True))
        text = _("there is no profile %(name)s: use one of %(names)s")
        raise Invalid(text % {"name": repr(name), "names": names}, "profile")
    return usable(profile.current)


def usable(version: ProfileVersion) -> ProfileVersion:
    """Raises Invalid for one that is refused."""
    if version.fault:
        text = _(
            "version %(number)s of profile %(name)s is refused: %(fault)s; save it anew, or choose "
            "another profile"
        )
        facts = {"number": version.number, "name": version.profile, "fault": told(version.fault)}
        raise Invalid(text % facts, "profile")
    return version
