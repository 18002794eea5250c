from __future__ import annotations

import pytest
from django.core.management import call_command

from agentcore.presets import PRESETS
from hermesweb.models import Profile


@pytest.mark.django_db
def test_the_migrations_say_what_the_models_say() -> None:
    call_command("makemigrations", "hermesweb", check=True, dry_run=True, verbosity=0)


@pytest.mark.django_db
def test_an_installation_begins_with_the_presets_as_profiles() -> None:
    values = {profile.name: profile.current.value for profile in Profile.objects.all()}
    small = values.pop("small")
    assert values == dict(PRESETS)
    assert small.budget == 60_000
