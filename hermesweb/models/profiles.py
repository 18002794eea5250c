from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from django.db import models
from django.utils.functional import cached_property

from agentcore.compaction.hooks import hooks_of
from agentcore.compaction.strategies import strategy_of
from agentcore.errors import ProfileError
from agentcore.profile import Profile as ProfileValue
from agentcore.said import Said
from hermesweb.models.columns import NAME_CHARS, one_of, person


class EndpointKind(StrEnum):
    OPENAI = "openai"
    ANTHROPIC = "anthropic"


class Profile(models.Model):
    name = models.SlugField(max_length=60, unique=True)

    def __str__(self) -> str:
        return self.name

    @property
    def current(self) -> ProfileVersion:
        return self.versions.latest("number")


class ProfileVersion(models.Model):
    """Immutable; editing a profile makes the next one. A check that came after it was stored may
    refuse it: no run uses it then."""

    profile = models.ForeignKey(Profile, models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    values = models.JSONField()
    by = person()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["profile", "number"], name="version_number")]

    def __str__(self) -> str:
        return f"{self.profile} version {self.number}"

    @property
    def value(self) -> ProfileValue:
        """What a run uses. Raises ProfileError where it is refused."""
        try:
            return checked(self.values)
        except ProfileError as error:
            said = Said(
                "profile {version} is refused: {fault}; save it anew, or choose another profile",
                version=str(self),
                fault=str(error),
            )
            raise ProfileError(said, error.field) from error

    @cached_property
    def fault(self) -> str:
        """Why it is refused; empty where it is not."""
        try:
            checked(self.values)
        except ProfileError as error:
            return str(error)
        return ""

    @cached_property
    def readable(self) -> ProfileValue | None:
        """What a page tells of it; None where it is refused."""
        return None if self.fault else self.value


def checked(values: Mapping[str, Any]) -> ProfileValue:
    """With every strategy and hook that it names. Raises ProfileError."""
    value = ProfileValue.of(values)
    for stage in value.stages:
        strategy_of(stage)
    hooks_of(value.hooks)
    return value


class ModelEndpoint(models.Model):
    """A model that can be reached. `key_variable` names the environment variable that holds the
    key; prices are USD a million tokens."""

    name = models.SlugField(max_length=60, unique=True)
    kind = one_of(EndpointKind, default=EndpointKind.OPENAI)
    base_url = models.CharField(max_length=NAME_CHARS, blank=True)
    model = models.CharField(max_length=NAME_CHARS)
    key_variable = models.CharField(max_length=100, blank=True)
    tier = models.PositiveSmallIntegerField(default=1)
    window = models.PositiveIntegerField(null=True, blank=True)
    input_price = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    output_price = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    cache_read_price = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    cache_write_price = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)

    def __str__(self) -> str:
        return self.name
