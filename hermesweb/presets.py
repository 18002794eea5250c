"""The profiles that every installation begins with."""

from __future__ import annotations

from typing import Any

from agentcore.limits import Limits
from agentcore.presets import PRESETS
from agentcore.pressure import Unit

# Fills and compacts within a few turns, for a look at the whole cycle.
SMALL = PRESETS["balanced"].replace(
    budget=60_000, unit=Unit.BYTES, limits=Limits(result_bytes=4_000)
)


def seed(sender: Any, **signal: Any) -> None:
    """Add the presets that are missing by name; what an admin made of the others stays."""
    from hermesweb.models import Profile, ProfileVersion

    for name, value in {**PRESETS, "small": SMALL}.items():
        profile, made = Profile.objects.get_or_create(name=name)
        if made:
            ProfileVersion.objects.create(profile=profile, number=1, values=value.values())
