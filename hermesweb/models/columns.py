"""Kinds of columns that several tables share."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from django.conf import settings
from django.db import models

from hermesweb.labels import words_lazy

NAME_CHARS = 200
# Two names of models and two amounts.
ROUTED_CHARS = 300
COUNTER_CHARS = 40


def one_of(members: type[StrEnum], **options: Any) -> Any:
    """A column that holds one member of a closed list."""
    choices = [(member.value, words_lazy(member.value)) for member in members]
    return models.CharField(max_length=24, choices=choices, **options)


def usd(**options: Any) -> Any:
    """An amount of money, to a hundred-millionth."""
    return models.DecimalField(max_digits=14, decimal_places=8, **options)


def person(**options: Any) -> Any:
    """Who did it; None is the program itself."""
    return models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", **options
    )
