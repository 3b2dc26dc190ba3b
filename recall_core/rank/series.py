"""A NumPy column where a list of Python numbers is meant: only what is read of it is converted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from numpy.typing import NDArray

N = TypeVar("N", int, float)


class Series(Sequence[N]):
    """Equal to the list of its numbers. array: one dimension, of the type that N is in NumPy."""

    __slots__ = ("_array",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array

    def __len__(self) -> int:
        return len(self._array)

    @overload
    def __getitem__(self, index: int) -> N: ...
    @overload
    def __getitem__(self, index: slice) -> list[N]: ...
    def __getitem__(self, index: int | slice) -> N | list[N]:
        found: N | list[N] = self._array[index].tolist()
        return found

    def __iter__(self) -> Iterator[N]:
        return iter(self._array.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)
