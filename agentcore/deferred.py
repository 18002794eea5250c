"""A tuple that is put together when it is first looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

T_co = TypeVar("T_co", covariant=True)


class Deferred(Sequence[T_co]):
    """Equal to the tuple of what `make` gives, which is called once and then let go: a plan may
    name a whole history that nobody asks for."""

    __slots__ = ("_made", "_make")

    def __init__(self, make: Callable[[], Iterable[T_co]]) -> None:
        self._make: Callable[[], Iterable[T_co]] | None = make
        self._made: tuple[T_co, ...] = ()

    def _all(self) -> tuple[T_co, ...]:
        if self._make is not None:
            self._made, self._make = tuple(self._make()), None
        return self._made

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Iterator[T_co]:
        return iter(self._all())

    def __getitem__(self, index: Any) -> Any:
        return self._all()[index]

    def __contains__(self, value: object) -> bool:
        return value in self._all()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Deferred | tuple):
            return NotImplemented
        return self._all() == tuple(other)

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())
