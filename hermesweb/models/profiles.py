from __future__ import annotations

from enum import StrEnum

from django.db import models

from agentcore.profile import Profile as ProfileValue
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
    """Immutable; editing a profile makes the next one."""

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
        return ProfileValue.of(self.values)


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
