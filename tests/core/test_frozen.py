from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass

import pytest

from agentcore.frozen import maker


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 2


def test_what_is_made_is_the_value_itself() -> None:
    made = maker(Point)
    assert made(1) == Point(1) and made(1, y=3) == Point(1, 3)
    assert type(made(1)) is Point and hash(made(1)) == hash(Point(1))
    assert repr(made(1)) == repr(Point(1))


def test_what_is_made_is_frozen() -> None:
    value = maker(Point)(1)
    with pytest.raises(FrozenInstanceError):
        value.x = 2  # type: ignore[misc]


def test_a_field_left_out_is_refused() -> None:
    with pytest.raises(TypeError):
        maker(Point)()  # type: ignore[call-arg]
