"""Candidates as straight lines: each score as the weight moves from lexical to semantic, in integers."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import pairwise
from math import gcd, lcm
from typing import NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from recall_core.config import Config
from recall_core.deadline import check
from recall_core.errors import UsageError
from recall_core.rank.columns import Series
from recall_core.rank.fuse import Same, signal_ranks
from recall_core.rank.weighing import DECIMALS, lexical_values, semantic_values
from recall_core.types import Pool

Each = TypeVar("Each")
Weight: TypeAlias = float | Fraction
"""The semantic weight, 0 to 1. A float means the decimal that it prints as."""
Integers: TypeAlias = NDArray[np.int64]
ABSENT = -(2**62)
"""Below every negated rank."""

_SMALL = 2**24
"""Values below this give denominators below 2**26, so distinct fractions differ as float64."""

_FINE = 2**32
"""Weights with a denominator below this, times values below 2**24, are exact in int64."""


class Lines(NamedTuple):
    """A pool in natural order, which decides ties: candidate i scores ((1 - w) * a[i] + w * b[i]) / scale."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    scale: int

    def among(self, held: Sequence[int]) -> Lines:
        """Return the lines of these candidates."""
        return Lines(*_pick(self.a, self.b, held), self.scale)

    def exactly(self) -> Lines:
        """Return these lines, which are exact already."""
        return self


class Ranks(NamedTuple):
    """A pool under reciprocal rank fusion, in natural order, before its lines are computed.

    a and b order the candidates as their lines do at weight 0 and weight 1, which is enough to find those that can
    reach the top. The lines of thousands of ranks need integers with thousands of digits; the lines of those few do
    not.
    """

    a: tuple[int, ...]
    """Negated ranks; ABSENT for none."""
    b: tuple[int, ...]
    rrf_k: int

    def among(self, held: Sequence[int]) -> Ranks:
        """Return these candidates with their ranks in the full pool."""
        return Ranks(*_pick(self.a, self.b, held), self.rrf_k)

    def exactly(self) -> Lines:
        """Return the lines."""
        lexical, semantic = ([None if at == ABSENT else -at for at in column] for column in (self.a, self.b))
        return reciprocal_lines(lexical, semantic, self.rrf_k)


Sweepable: TypeAlias = Lines | Ranks
"""A pool whose order at both ends is known and whose lines can be computed."""


def _pick(a: tuple[int, ...], b: tuple[int, ...], held: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple([a[at] for at in held]), tuple([b[at] for at in held])


def weighted_lines(lexical: Sequence[float], semantic: Sequence[float]) -> Lines:
    """Return the lines of weighted fusion. Both columns contain stage values, whole multiples of 1e-6."""
    scale = 10**DECIMALS
    return Lines(_round(lexical, scale), _round(semantic, scale), scale)


class _Wholes(tuple[int, ...]):
    """Integers with a cached array, because converting 20,000 of them takes a millisecond."""

    array: Integers


def _round(values: Sequence[float], scale: int) -> tuple[int, ...]:
    """Return the values as integers. NumPy rounds halves to even, as Python does."""
    column = values.array if isinstance(values, Series) else np.array(values, dtype=np.float64)
    array = np.rint(column * scale).astype(np.int64)
    wholes = _Wholes(array.tolist())
    wholes.array = array
    return wholes


def reciprocal_lines(lexical: Sequence[int | None], semantic: Sequence[int | None], rrf_k: int) -> Lines:
    """Return the lines of weighted reciprocal rank fusion: 1 / (rrf_k + rank), 0 if absent, not divided by a maximum.

    The integers are exact and large: the scale is the least common multiple of all denominators.
    """
    scale = reduce(lcm, _in_time({rrf_k + rank for rank in (*lexical, *semantic) if rank is not None}), 1)
    a, b = (
        [0 if rank is None else scale // (rrf_k + rank) for rank in _in_time(ranks)] for ranks in (lexical, semantic)
    )
    # Lines with a common factor cross where the reduced lines cross.
    shared = reduce(gcd, _in_time((*a, *b)), scale)
    a, b = ([value // shared for value in _in_time(values)] for values in (a, b))
    return Lines(tuple(a), tuple(b), scale // shared)


def _in_time(values: Iterable[Each]) -> Iterator[Each]:
    """Yield the values and check the deadline. Values with thousands of digits are slow to process."""
    for value in values:
        check()
        yield value


def lines_of(pool: Pool, config: Config) -> Lines:
    """Return the lines that `rank` scores under these settings, for every weight. One signal alone gives flat lines.

    Cached for the last pool, because one pool gets several calls.
    """
    return _lines(Same(pool), config.fusion, config.normalize, config.rrf_k)


@lru_cache(maxsize=1)
def _lines(held: Same[Pool], fusion: str, normalize: str, rrf_k: int) -> Lines:
    pool = held.value
    columns = (pool.lexical or pool.semantic, pool.semantic or pool.lexical)
    if fusion == "rrf":
        lexical, semantic = map(signal_ranks, columns)
        return reciprocal_lines(lexical, semantic, rrf_k)
    values = (lexical_values(pool, normalize), semantic_values(pool, normalize))
    return weighted_lines(values[0] or values[1], values[1] or values[0])


def sweepable(pool: Pool, config: Config) -> Sweepable:
    """Return the same for a sweep, which computes lines only for candidates that can reach the top."""
    if config.fusion != "rrf":
        return lines_of(pool, config)
    ranks = (signal_ranks(column) for column in (pool.lexical or pool.semantic, pool.semantic or pool.lexical))
    a, b = (tuple([ABSENT if rank is None else -rank for rank in column]) for column in ranks)
    return Ranks(a, b, config.rrf_k)


def weight_of(config: Config) -> Fraction:
    """Return the weight of these settings: vector_weight / (bm25_weight + vector_weight)."""
    semantic = Fraction(str(config.vector_weight))
    return semantic / (Fraction(str(config.bm25_weight)) + semantic)


def exact(weight: Weight) -> Fraction:
    """Return the weight as a fraction. Raises UsageError below 0 and above 1."""
    if not 0 <= weight <= 1:
        raise UsageError("bad_value", f"The semantic weight must be between 0 and 1, not {weight}.", hint="0.5")
    return weight if isinstance(weight, Fraction) else Fraction(str(float(weight)))


def scores_at(lines: Lines, weight: Weight) -> tuple[list[int], int]:
    """Return every candidate's exact score as a numerator, and the common denominator."""
    w = exact(weight)
    p, q = w.numerator, w.denominator
    return [a * (q - p) + b * p for a, b in _in_time(zip(lines.a, lines.b, strict=True))], q * lines.scale


def order_at(lines: Lines, weight: Weight) -> list[int]:
    """Return all candidates at exactly this weight, by descending score, then natural order."""
    w = exact(weight)
    a, b = integers(lines.a), integers(lines.b)
    if w.denominator >= _FINE or a.dtype != np.int64 or b.dtype != np.int64:
        scores, _ = scores_at(lines, weight)
        return sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
    order: list[int] = np.argsort(a * (w.numerator - w.denominator) - b * w.numerator, kind="stable").tolist()
    return order


def leaders(lines: Lines, x: int, weight: Weight, most: int) -> list[int]:
    """Return at most `most` candidates that rank before x, best first as in `order_at`."""
    w = exact(weight)
    a, b = integers(lines.a), integers(lines.b)
    if w.denominator >= _FINE or a.dtype != np.int64 or b.dtype != np.int64:
        order = order_at(lines, weight)
        return order[: order.index(x)][:most]
    scores = a * (w.denominator - w.numerator) + b * w.numerator
    before = np.flatnonzero((scores > scores[x]) | (scores == scores[x]) & (np.arange(len(a)) < x))
    if len(before) > most:
        least = np.partition(scores[before], len(before) - most)[len(before) - most]
        before = before[scores[before] >= least]
    first: list[int] = before[np.argsort(-scores[before], kind="stable")][:most].tolist()
    return first


def crossing(lines: Lines, x: int, y: int) -> Fraction | None:
    """Return the weight in [0, 1] at which two candidates score the same; None if no weight or every weight does."""
    da, db = lines.a[x] - lines.a[y], lines.b[x] - lines.b[y]
    if da == db or da * db > 0:
        return None
    return Fraction(da, da - db)


def contenders(lines: Sweepable, k: int) -> list[int]:
    """Return in natural order the candidates that fewer than k others lead at both ends, and so at every weight.

    Candidates not returned are outside the top k at every weight.
    """
    place = [0] * len(lines.b)
    for at, candidate in enumerate(_descending(lines.b)):
        place[candidate] = at
    kept: list[int] = []
    nearest: list[int] = []  # the k best places at weight 1 among candidates that lead at weight 0
    for candidate in _descending(lines.a):
        if len(nearest) < k or place[candidate] < nearest[-1]:
            kept.append(candidate)
            insort(nearest, place[candidate])
            del nearest[k:]
    return sorted(kept)


def _descending(values: Sequence[int]) -> list[int]:
    check()
    return sorted(range(len(values)), key=values.__getitem__, reverse=True)


def integers(values: Sequence[int]) -> Integers:
    """Return a NumPy column: int64 if differences stay small, else Python integers."""
    if isinstance(values, _Wholes) and (not values or abs(values.array).max() < _SMALL):
        return values.array
    small = not values or max(map(abs, values)) < _SMALL
    # Object arrays support the same operators, so one piece of code serves both.
    return np.array(values, dtype=np.int64) if small else cast(Integers, np.array(values, dtype=object))


def groups(numerators: Integers, denominators: Integers) -> tuple[list[int], list[int]]:
    """Return the positions of fractions of [0, 1] in ascending order, and where in it each distinct value begins."""
    # Division rounds correctly: equal fractions give equal floats, and a larger one never gives a smaller float.
    keys = (numerators / denominators).astype(np.float64)
    by = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[by], prepend=-1.0)).tolist()
    if denominators.dtype == np.int64:
        return by.tolist(), starts
    return _settle_ties(by.tolist(), starts, numerators, denominators)


def _settle_ties(
    by: list[int], starts: list[int], numerators: Integers, denominators: Integers
) -> tuple[list[int], list[int]]:
    """Return the same, with large fractions that round to one float ordered exactly."""
    begins: list[int] = []
    for start, stop in _in_time(pairwise([*starts, len(by)])):
        begins.append(start)
        if stop - start > 1:
            values = {at: Fraction(int(numerators[at]), int(denominators[at])) for at in by[start:stop]}
            by[start:stop] = sorted(values, key=values.__getitem__)
            begins += [at for at in range(start + 1, stop) if values[by[at]] != values[by[at - 1]]]
    return by, begins
