"""The exact sweep: every weight at which the top k changes, and the top k between and at them.

Rows are chunks, or documents, each standing where its best chunk stands.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from recall_core.deadline import check
from recall_core.explain.intervals import Interval, runs
from recall_core.explain.lines import Integers, Sweepable, Weight, contenders, exact, groups, integers

_BLOCK = 4_096
"""Pieces that are looked at together."""


class Sweep(NamedTuple):
    """The top k of a pool over all weights, as pieces: break point, open cell, break point, ..., break point.

    Piece 2 * i is the single weight weights[i]; piece 2 * i + 1 lies strictly between weights[i] and weights[i + 1].
    """

    weights: tuple[Fraction, ...]
    """Ascending, from 0 to 1, both included whether or not the order changes there."""
    orders: Integers
    """(pieces, depth): positions in the pool, best first; depth is k, or the pool's size if that is smaller."""


def sweep(lines: Sweepable, k: int) -> Sweep:
    """All weights in [0, 1] where the top k changes in order or in members, with the top k of every piece.

    Between two break points nothing changes; at one, ties fall to the natural order. Every break point is a true
    one. O(m^2 log m) for the m candidates that can reach the top k.
    """
    held = contenders(lines, k)
    drawn = lines.among(held).exactly()
    a, b = list(drawn.a), list(drawn.b)
    depth = min(k, len(held))
    rows = array("q", sorted(range(len(held)), key=lambda i: (-a[i], i))[:depth])
    order = array("q", sorted(range(len(held)), key=lambda i: (-a[i], -b[i], i)))
    rows.extend(order[:depth])
    weights = [Fraction(0), *_walk(a, b, order, depth, rows), Fraction(1)]
    rows.extend(sorted(range(len(held)), key=lambda i: (-b[i], i))[:depth])
    local = np.frombuffer(rows, dtype=np.int64) if rows else np.zeros(0, dtype=np.int64)
    orders = np.array(held, dtype=np.int64)[local].reshape(2 * len(weights) - 1, depth)
    return Sweep(tuple(weights), orders)


def piece_at(swept: Sweep, weight: Weight) -> int:
    """The piece that holds this weight."""
    w = exact(weight)
    return bisect_left(swept.weights, w) + bisect_right(swept.weights, w) - 1


def top_at(swept: Sweep, weight: Weight) -> list[int]:
    """The top k at this weight, best first, looked up without ranking again."""
    top: list[int] = swept.orders[piece_at(swept, weight)].tolist()
    return top


def stretches(swept: Sweep, *, members: bool = False) -> list[tuple[Interval, tuple[int, ...]]]:
    """Intervals over which the top k keeps its order, best first, or only its members, in ascending position."""
    return runs(swept.weights, list(tops(swept, members=members)))


def tops(swept: Sweep, *, members: bool = False) -> Iterator[tuple[int, ...]]:
    """The top k of every piece in turn, best first, or in ascending position."""
    for start in range(0, len(swept.orders), _BLOCK):
        check()
        rows = swept.orders[start : start + _BLOCK]
        yield from map(tuple, (np.sort(rows, axis=1) if members else rows).tolist())


def _walk(a: list[int], b: list[int], order: array[int], depth: int, rows: array[int]) -> Iterator[Fraction]:
    """Carries the order across every crossing; appends the top at and after each one that touches it."""
    place = [0] * len(order)
    _put(order, place, range(len(order)), order)
    for numerator, denominator, pairs in _crossings(a, b):
        check()
        if len(pairs) == 1:
            x, y = pairs[0]
            first = min(place[x], place[y])
            places: Sequence[int] = (first, first + 1)
            at: Sequence[int] = (x, y)  # equal scores: the lower position leads
            after: Sequence[int] = (order[first + 1], order[first])
        else:
            members = sorted({each for pair in pairs for each in pair})
            score = [a[i] * (denominator - numerator) + b[i] * numerator for i in members]
            places = sorted(place[i] for i in members)
            at = [i for _, i in sorted(zip([-s for s in score], members, strict=True))]
            after = [i for _, _, i in sorted((-s, a[i] - b[i], i) for s, i in zip(score, members, strict=True))]
        if places[0] < depth:
            _put(order, place, places, at)
            rows.extend(order[:depth])
        _put(order, place, places, after)
        if places[0] < depth:
            rows.extend(order[:depth])
            yield Fraction(numerator, denominator)


def _put(order: array[int], place: list[int], places: Sequence[int], members: Sequence[int]) -> None:
    for at, i in zip(places, members, strict=True):
        order[at] = i
        place[i] = at


def _crossings(a: list[int], b: list[int]) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    """Where pairs change places strictly inside (0, 1), ascending: a fraction and all pairs that meet there."""
    left, right = np.triu_indices(len(a), 1)
    lexical, semantic = integers(a), integers(b)
    da, db = lexical[left] - lexical[right], semantic[left] - semantic[right]
    apart = ((da > 0) & (db < 0)) | ((da < 0) & (db > 0))
    numerators = abs(da[apart])
    denominators = numerators + abs(db[apart])
    pairs = list(zip(left[apart].tolist(), right[apart].tolist(), strict=True))
    by, starts = groups(numerators, denominators)
    tops, bottoms = numerators.tolist(), denominators.tolist()
    for start, stop in pairwise([*starts, len(by)]):
        yield tops[by[start]], bottoms[by[start]], [pairs[at] for at in by[start:stop]]


def sweep_documents(lines: Sweepable, documents: Sequence[int], k: int) -> Sweep:
    """The top k documents over all weights, each as the position of the chunk that stands for it.

    documents: of each candidate. A document's score is the highest of several lines, which bends where another
    of its chunks takes over; ties fall as for chunks. Exact at every weight, break points included: a chunk that some
    other chunk of its document leads at both ends never stands for it and is left out; the others are swept as deep
    as it takes for every piece to show k documents, which is looked at and not assumed. Neighbouring pieces may be
    equal, where only a hidden chunk moved.
    """
    standing = _standing(lines, documents)
    part = lines.among(standing)
    owners = np.array([documents[i] for i in standing], dtype=np.int64)
    wanted = min(k, len(set(owners.tolist())))
    depth = k if len(standing) == len(set(owners.tolist())) else 2 * k
    while True:
        swept = sweep(part, depth)
        rows = _firsts(swept.orders, owners, wanted)
        if rows is not None:
            return Sweep(swept.weights, np.array(standing, dtype=np.int64)[rows])
        depth *= 2


def _standing(lines: Sweepable, documents: Sequence[int]) -> list[int]:
    """The candidates that stand for their document at some weight, in natural order; a few more do no harm."""
    if len(set(documents)) == len(documents):
        return list(range(len(documents)))
    chunks: dict[int, list[int]] = {}
    for position, document in enumerate(documents):
        chunks.setdefault(document, []).append(position)
    kept: list[int] = []
    for own in chunks.values():
        check()
        if len(own) == 1:
            kept += own
        else:
            kept += [own[i] for i in contenders(lines.among(own), 1)]
    return sorted(kept)


def _firsts(orders: Integers, owners: Integers, wanted: int) -> Integers | None:
    """The first `wanted` documents of every row, as positions; None where a row shows fewer."""
    if orders.shape[1] == 0:
        return orders
    rows = owners[orders]
    repeats = np.zeros(rows.shape, dtype=np.bool_)
    for place in range(1, rows.shape[1]):
        check()
        repeats[:, place] = (rows[:, :place] == rows[:, place, None]).any(axis=1)
    if int((~repeats).sum(axis=1).min()) < wanted:
        return None
    firsts = np.argsort(repeats, axis=1, kind="stable")[:, :wanted]
    return np.take_along_axis(orders, firsts, axis=1)
