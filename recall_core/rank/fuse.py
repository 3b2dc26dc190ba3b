"""Fusion: the values of all signals become one score a candidate, and the order they give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, reduce
from math import inf
from operator import add
from typing import NamedTuple, overload

from recall_core.config import LEAST_WEIGHT, Config
from recall_core.rank.normalize import lexical_values, semantic_values
from recall_core.types import Part, Pool, Ranked, Signal

_SIGNALS_KEPT = 4  # the ranks of two signals of two pools: a weight that moves does not change them


class Column(NamedTuple):
    """One signal over the pool: raw, normalised, its rank from 1 where present, and its points."""

    signal: Signal
    weight: float
    raw: tuple[float | None, ...]
    values: Sequence[float]
    ranks: Sequence[int | None]
    points: list[float]


class Ranking(Sequence[Ranked]):
    """A pool in order, best first: scores are ready, the parts of a candidate are put together when it is asked for.

    kept: how many lead the list with a score of at least min_score; the rest follow in the same order.
    """

    def __init__(self, order: list[int], scores: list[float], columns: tuple[Column, ...], *, kept: int) -> None:
        self.order = order
        self.scores = scores
        self.kept = kept
        self.columns = columns

    def __len__(self) -> int:
        return len(self.order)

    @overload
    def __getitem__(self, index: int) -> Ranked: ...
    @overload
    def __getitem__(self, index: slice) -> list[Ranked]: ...
    def __getitem__(self, index: int | slice) -> Ranked | list[Ranked]:
        if isinstance(index, slice):
            return [self._ranked(position) for position in self.order[index]]
        return self._ranked(self.order[index])

    def __iter__(self) -> Iterator[Ranked]:
        return map(self._ranked, self.order)

    def reordered(self, order: list[int], *, kept: int) -> Ranking:
        """The same scores in another order, of which the first `kept` count."""
        return Ranking(order, self.scores, self.columns, kept=kept)

    def _ranked(self, position: int) -> Ranked:
        parts = tuple(
            Part(
                signal=column.signal,
                raw=column.raw[position],
                value=column.values[position],
                weight=column.weight,
                rank=column.ranks[position],
                points=column.points[position],
            )
            for column in self.columns
            if column.signal != "rerank" or column.raw[position] is not None
        )
        return Ranked(position, self.scores[position], parts)


def rank(pool: Pool, config: Config) -> Ranking:
    """The pool under these settings: score descending, then path, offset and id.

    weighted: (sum of weight * value) / (sum of weights), over the signals that were asked for.
    rrf: sum of weight / (k + rank), divided by its maximum, sum of weight / (k + 1); a signal that a candidate is
    absent from adds 0 (Cormack, Clarke and Buettcher 2009).
    A score is the sum of its parts' points, to the last bit.
    """
    columns = _columns(pool, config)
    scores = summed(columns)
    # The pool stands in natural order and Python's sort is stable: equal scores stay in that order.
    order = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
    kept = sum(score >= config.min_score for score in scores) if config.min_score > 0 else len(scores)
    return Ranking(order, scores, columns, kept=kept)


def best_of_each_document(pool: Pool, ranking: Ranking) -> Ranking:
    """Only the first chunk of every document, in the same order: a document scores what its best chunk scores."""
    seen: set[int] = set()
    order: list[int] = []
    kept = 0
    for place, position in enumerate(ranking.order):
        document = pool.keys[position].doc_rowid
        if document not in seen:
            seen.add(document)
            order.append(position)
            kept += place < ranking.kept
    return ranking.reordered(order, kept=kept)


def summed(columns: Sequence[Column]) -> list[float]:
    """The score of every candidate: its points, added from the first column to the last."""
    return reduce(_added, [column.points for column in columns]) if columns else []


def _added(left: list[float], right: list[float]) -> list[float]:
    return list(map(add, left, right))


def _columns(pool: Pool, config: Config) -> tuple[Column, ...]:
    asked: dict[Signal, float] = {}
    if pool.lexical:
        asked["lexical"] = config.bm25_weight
    if pool.semantic:
        asked["semantic"] = config.vector_weight
    if sum(asked.values()) < LEAST_WEIGHT:
        asked = dict.fromkeys(asked, 1.0)
    return tuple(_column(signal, pool, asked, config) for signal in asked)


def _column(signal: Signal, pool: Pool, weights: dict[Signal, float], config: Config) -> Column:
    raw = pool.lexical if signal == "lexical" else pool.semantic
    values = (lexical_values if signal == "lexical" else semantic_values)(pool, config.normalize)
    ranks = signal_ranks(raw)
    weight = weights[signal]
    if config.fusion == "rrf":
        most = sum(each / (config.rrf_k + 1) for each in weights.values())
        points = [0.0 if rank is None else weight / (config.rrf_k + rank) / most for rank in ranks]
    else:
        total = sum(weights.values())
        points = [weight * value / total for value in values]
    return Column(signal, weight, raw, values, ranks, points)


@lru_cache(maxsize=_SIGNALS_KEPT)
def signal_ranks(raw: tuple[float | None, ...]) -> tuple[int | None, ...]:
    """Each candidate's rank from 1 in one signal's own total order (value, then natural order); None when absent."""
    values = [-inf if value is None else value for value in raw]
    order = sorted(range(len(raw)), key=values.__getitem__, reverse=True)
    ranks: list[int | None] = [None] * len(raw)
    for rank, position in enumerate(order[: len(raw) - raw.count(None)], start=1):
        ranks[position] = rank
    return tuple(ranks)
