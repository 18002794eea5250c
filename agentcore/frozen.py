"""Frozen values by the thousand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, field, fields, make_dataclass
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def maker(cls: Callable[P, T]) -> Callable[P, T]:
    """Makes values of a frozen dataclass with slots, of its fields in their order; several times as
    fast as the class itself, which goes through `object.__setattr__` for each field. The value is
    written as one of an open class of the same layout, and frozen when it is whole."""
    specs: list[Any] = [
        (one.name, Any) if one.default is MISSING else (one.name, Any, field(default=one.default))
        for one in fields(cls)  # type: ignore[arg-type]
    ]
    opened: Any = make_dataclass(f"Open{cls.__name__}", specs, slots=True, eq=False, repr=False)

    def made(*args: P.args, **named: P.kwargs) -> T:
        value = opened(*args, **named)
        value.__class__ = cls
        return value  # type: ignore[no-any-return]

    return made
