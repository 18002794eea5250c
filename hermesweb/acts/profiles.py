from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from agentcore.errors import ProfileError
from agentcore.profile import Profile as ProfileValue
from hermesweb import audit
from hermesweb.acts.errors import Invalid, Refused
from hermesweb.models import Profile, ProfileVersion
from hermesweb.models.profiles import checked
from hermesweb.sentences import told
from hermesweb.shown import storable

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")


def save_profile(
    who: User | None, name: str, values: Mapping[str, Any], *, accept_warnings: bool = False
) -> ProfileVersion:
    """The profile's next version, which is in force from each session's next border on; the
    current one where the values are the same. Raises Invalid at the field, and Refused while there
    are warnings that nobody accepted."""
    if not NAME.fullmatch(name):
        text = _("a profile's name is letters, digits, - and _, not %(name)s")
        raise Invalid(text % {"name": f"{name!r:.80}"}, "name")
    value = checked_profile(values)
    warnings = value.warnings()
    if warnings and not accept_warnings:
        raise Refused("; ".join(map(told, warnings)), "warnings")
    with transaction.atomic():
        profile = Profile.objects.select_for_update().get_or_create(name=name)[0]
        last = profile.versions.order_by("-number").first()
        if last and last.readable == value:
            return last
        version = ProfileVersion.objects.create(
            profile=profile,
            number=last.number + 1 if last else 1,
            values=value.values(),
            by=who,
        )
        new = {"version": str(version), "values": version.values}
        audit.write(who, "profile_saved", old=last.values if last else None, new=new)
    return version


def checked_profile(values: Mapping[str, Any]) -> ProfileValue:
    """What of its texts cannot be stored is replaced. Raises Invalid."""
    try:
        return checked(storable(values))
    except ProfileError as error:
        raise Invalid(told(str(error)), error.field) from error
