"""Texts longer than a model reads at once: windows of their tokens, and the mean of the windows' vectors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import fsum

from recall_core.embed.unit import components, unit
from recall_core.types import Vector


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
