from __future__ import annotations

from agentcore.deferred import Deferred


def test_it_is_put_together_once_and_only_when_it_is_looked_at() -> None:
    asked: list[str] = []

    def make() -> list[int]:
        asked.append("now")
        return [1, 2, 3]

    values = Deferred(make)
    assert asked == []
    assert (len(values), values[0], values[-1], list(reversed(values))) == (3, 1, 3, [3, 2, 1])
    assert asked == ["now"]


def test_it_equals_the_tuple_that_it_is() -> None:
    values = Deferred(lambda: (1, 2))
    assert values == (1, 2) and {values: 1}[(1, 2)]
    assert values == Deferred(lambda: [1, 2]) and hash(values) == hash((1, 2))
    assert values != (2, 1) and values != [1, 2]
    assert (2 in values, repr(values), bool(Deferred(tuple))) == (True, "(1, 2)", False)
