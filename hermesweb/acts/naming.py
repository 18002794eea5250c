"""What an act names must be there."""

from __future__ import annotations

from collections.abc import Collection

from hermesweb.acts.errors import Invalid
from hermesweb.models import AgentSession, Profile


def known(row: AgentSession, numbers: Collection[int]) -> None:
    """Raises Invalid unless these are messages of the session, at least one."""
    found = set(row.messages.filter(number__in=numbers).values_list("number", flat=True))
    if not numbers or (missing := sorted(set(numbers) - found)):
        raise Invalid(f"there are no messages {missing if numbers else 'chosen'}", "numbers")


def profile_named(name: str) -> Profile:
    """Raises Invalid."""
    profile = Profile.objects.filter(name=name).first()
    if profile is None:
        names = ", ".join(Profile.objects.order_by("name").values_list("name", flat=True))
        raise Invalid(f"there is no profile {name!r}: use one of {names}", "profile")
    return profile
