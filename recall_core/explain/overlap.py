"""How alike two ranked lists are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

PERSISTENCE = 0.9
"""The chance that a reader goes on to the next row: ten rows on average (Webber, Moffat and Zobel 2010)."""


def rbo(a: Sequence[Hashable], b: Sequence[Hashable], *, p: float = PERSISTENCE) -> float:
    """Rank-biased overlap of two lists without repeats, from 0 (nothing shared) to 1 (equal), the top weighing most.

    The extrapolated form for lists of any lengths (Webber, Moffat and Zobel 2010, equation 32): what lies beyond the
    lists is taken to agree as they did at their ends. Two empty lists are equal; an empty one shares nothing.
    """
    short, long = sorted((a, b), key=len)
    if list(a) == list(b):
        return 1.0
    if not short:
        return 0.0
    s, length = len(short), len(long)
    seen: set[Hashable] = set()
    common = [0]
    for depth in range(length):
        fresh = {long[depth], *short[depth : depth + 1]}
        new = [each for each in (long[depth], *short[depth : depth + 1]) if each in seen]
        equal = len(fresh) == 1 and depth < s
        common.append(common[-1] + len(new) + equal)
        seen |= fresh
    series = sum(common[depth] / depth * p**depth for depth in range(1, length + 1))
    series += sum(common[s] * (depth - s) / (s * depth) * p**depth for depth in range(s + 1, length + 1))
    value = (1 - p) / p * series + ((common[length] - common[s]) / length + common[s] / s) * p**length
    return min(1.0, value)


def jaccard(a: Sequence[Hashable], b: Sequence[Hashable]) -> float:
    """The rows that two lists share over the rows that either has; 1 when both are empty."""
    union = {*a, *b}
    return len(set(a) & set(b)) / len(union) if union else 1.0
