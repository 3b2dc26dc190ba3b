"""Texts longer than a model reads at once: windows of their tokens, and the mean of the windows' vectors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import fsum, isfinite, sqrt
from struct import Struct, pack

from recall_core.types import Vector


def unit(components: Sequence[float]) -> Vector:
    """The components as little-endian float32 of length 1; b"" where all are 0, which has no direction.

    The length is a correctly rounded sum, so the order of addition does not matter. Components that are not finite
    are passed on as they are, for the check that stands before every write.
    """
    norm = sqrt(fsum([x * x for x in components])) if all(map(isfinite, components)) else 1.0
    if norm == 0:
        return b""
    return pack(f"<{len(components)}f", *[x / norm for x in components])


def components(vector: Vector) -> tuple[float, ...]:
    """The components of a stored vector."""
    return Struct(f"<{len(vector) // 4}f").unpack(vector)


def windows(tokens: int, width: int) -> int:
    """How many windows of at most `width` tokens a text of so many tokens takes; at least 1.

    >>> windows(254, 254), windows(255, 254)
    (1, 2)
    """
    return max(1, -(-tokens // width))


def cut(ids: Sequence[int], width: int) -> list[Sequence[int]]:
    """The ids in as few windows of at most `width` as will do, in order, nothing twice and nothing left out.

    Their sizes differ by one at most, the longer first: no scrap at the end that would count as much as a page.

    >>> cut([1, 2, 3, 4, 5], 4)
    [[1, 2, 3], [4, 5]]
    """
    count = windows(len(ids), width)
    size, longer = divmod(len(ids), count)
    starts = [i * size + min(i, longer) for i in range(count + 1)]
    return [ids[start:end] for start, end in pairwise(starts)]


def mean(vectors: Sequence[Vector]) -> Vector:
    """The mean of unit vectors, scaled to length 1; every window counts the same, because they are of one size.

    One vector is returned as it is. b"" where they cancel out.
    """
    if len(vectors) == 1:
        return vectors[0]
    return unit([fsum(column) for column in zip(*map(components, vectors), strict=True)])
