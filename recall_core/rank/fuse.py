"""Fusion: combine the values of all signals into one score for each candidate, and order the candidates."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import lru_cache, reduce
from math import inf
from operator import add
from typing import TYPE_CHECKING, Generic, TypeVar

from recall_core import rank as ranks
from recall_core._lazy import np
from recall_core.config import LEAST_WEIGHT, Config
from recall_core.rank.columns import KeyColumns, RankColumn, RawColumn, Series, UnsettledColumn, documents_of
from recall_core.rank.weighing import (
    MILLION,
    WHOLE,
    Column,
    Fused,
    Ranking,
    SignalStage,
    in_millionths,
    lexical_values,
    plain,
    semantic_values,
)
from recall_core.types import Pool

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")


class Same(Generic[T]):
    """Wraps a value and compares it by identity, because hashing a tuple reads all of it."""

    __slots__ = ("value",)

    def __init__(self, value: T) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


_POOLS_KEPT = 2  # a new weight changes neither the values of a signal nor its ranks

_PLAIN_ROWS = 100  # below this, plain Python is faster than filling arrays

_PLAIN_ROWS_COLD = 100_000  # below this, plain Python is faster than importing NumPy


def rank(pool: Pool, config: Config) -> Ranking:
    """Rank the pool with these settings: score descending, then path, offset and id.

    weighted: (sum of weight * value) / (sum of weights), over the signals of the query.
    rrf: sum of weight / (k + rank), divided by its maximum, sum of weight / (k + 1). A signal without the candidate
    adds 0 (Cormack, Clarke and Buettcher 2009).
    A score is the sum of its parts' points, to the last bit.
    """
    is_default = (config.fusion, config.normalize) == ("weighted", "bound")
    if isinstance(pool.semantic, UnsettledColumn) and pool.semantic and is_default:
        return _fuse_estimates(pool, pool.semantic, config)
    stages = _stages(Same(pool), config.normalize)
    weights = _weights(stages, config)
    is_small = len(pool.keys) < (_PLAIN_ROWS if "numpy" in sys.modules else _PLAIN_ROWS_COLD)
    order, scores, points = (plain if is_small else fuse_columns)(stages, weights, config)
    columns = tuple(
        [
            Column(stage.signal, weight, stage.raw, stage.values, stage.ranks, given)
            for stage, weight, given in zip(stages, weights, points, strict=True)
        ]
    )
    kept = _reaching(scores, config.min_score) if config.min_score > 0 else len(scores)
    return Ranking(order, scores, columns, kept=kept)


def _fuse_estimates(pool: Pool, column: UnsettledColumn, config: Config) -> Ranking:
    stages = _stages(Same(pool._replace(semantic=())), config.normalize)
    semantic = SignalStage("semantic", column, (), ())
    lexical = stages[0] if stages else None
    return ranks.page.ranking_of(column, lexical, _weights((*stages, semantic), config), config)


def _reaching(scores: Sequence[float], least: float) -> int:
    if isinstance(scores, Series):
        return int((scores.array >= least).sum())
    return sum(score >= least for score in scores)


def fuse_columns(stages: tuple[SignalStage, ...], weights: Sequence[float], config: Config) -> Fused:
    """Compute `plain` column by column. Equal operations in equal order give equal bits."""
    if not stages:
        return [], [], []
    arrays = _arrays(Same(stages), config.fusion)
    if config.fusion == "rrf":
        most = sum(weight / (config.rrf_k + 1) for weight in weights)
        points = [weight / (config.rrf_k + ranks) / most for ranks, weight in zip(arrays, weights, strict=True)]
        scores = reduce(add, points)
    else:
        wholes = in_millionths(weights)
        total = sum(wholes) * MILLION
        *before, scores = [whole * values for values, whole in zip(arrays, wholes, strict=True)]
        for amounts in before:  # in place: allocating new memory costs more than the arithmetic
            scores += amounts
        scores /= total
        points = [scores]
        for amounts in before:  # at most one
            first = np.divide(amounts, total, out=amounts)
            rest = np.subtract(scores, first, out=first)
            points = [scores - rest, rest]
    return Series((-scores).argsort(kind="stable")), Series(scores), [Series(each) for each in points]


def best_of_each_document(pool: Pool, ranking: Ranking) -> Ranking:
    """Keep only the first chunk of every document, in the same order. A document's score is its best chunk's."""
    if isinstance(pool.keys, KeyColumns) and isinstance(ranking.order, Series):
        return _first_of_each(ranking, pool.keys, ranking.order)
    seen: set[int] = set()
    order: list[int] = []
    kept = 0
    for place, position in enumerate(ranking.order):
        document = pool.keys[position].doc_rowid
        if document not in seen:
            seen.add(document)
            order.append(position)
            kept += place < ranking.kept
    return ranking.reorder(order, kept=kept)


def has_word(pool: Pool, position: int, *, by_document: bool = False) -> bool:
    """Return True if the row has a query word. by_document: any chunk of its document counts."""
    if not pool.lexical:
        return False
    if not by_document:
        return pool.lexical[position] is not None
    return documents_of(pool.keys, [position])[0] in _documents_with_words(Same(pool))


@lru_cache(maxsize=_POOLS_KEPT)
def _documents_with_words(pool: Same[Pool]) -> frozenset[int]:
    held = [position for position, raw in enumerate(pool.value.lexical) if raw is not None]
    return frozenset(documents_of(pool.value.keys, held))


def cut_by_cosine(pool: Pool, ranking: Ranking, least: float, *, by_document: bool) -> Ranking:
    """Return the list without the rows that have neither a query word nor a cosine of at least `least`.

    These rows follow the list directly, in the same order.
    """
    if least <= 0 or not pool.semantic:
        return ranking
    order, cosines = list(ranking.order), pool.semantic[:]
    near: list[int] = []
    distant: list[int] = []
    for position in order[: ranking.kept]:
        cosine = cosines[position]
        is_near = (cosine is not None and cosine >= least) or has_word(pool, position, by_document=by_document)
        (near if is_near else distant).append(position)
    return ranking.reorder([*near, *distant, *order[ranking.kept :]], kept=len(near))


def dropped_by_cosine(ranking: Ranking, config: Config) -> int:
    """Return the number of rows directly after the list that min_cosine excluded."""
    if config.min_cosine <= 0:
        return 0
    return sum(ranking.scores[position] >= config.min_score for position in ranking.order[ranking.kept :])


def _first_of_each(ranking: Ranking, keys: KeyColumns, order: Series[int]) -> Ranking:
    _, first = np.unique(keys.doc_rowids[order.array], return_index=True)
    first.sort()
    return ranking.reorder(Series(order.array[first]), kept=int((first < ranking.kept).sum()))


@lru_cache(maxsize=_POOLS_KEPT)
def _stages(pool: Same[Pool], normalize: str) -> tuple[SignalStage, ...]:
    """Return the signals of the query; other signals have no column."""
    lexical, semantic = pool.value.lexical, pool.value.semantic
    stages = []
    if lexical:
        stages.append(SignalStage("lexical", lexical, lexical_values(pool.value, normalize), signal_ranks(lexical)))
    if semantic:
        stages.append(
            SignalStage("semantic", semantic, semantic_values(pool.value, normalize), signal_ranks(semantic))
        )
    return tuple(stages)


def _weights(stages: tuple[SignalStage, ...], config: Config) -> list[float]:
    """Return the weight of each signal; equal weights if all are 0."""
    weights = [config.bm25_weight if stage.signal == "lexical" else config.vector_weight for stage in stages]
    return [1.0] * len(weights) if sum(weights) < LEAST_WEIGHT else weights


@lru_cache(maxsize=_POOLS_KEPT)
def _arrays(stages: Same[tuple[SignalStage, ...]], fusion: str) -> list[NDArray[np.float64]]:
    """Return what weights multiply: values in millionths, or ranks. Absent rows have rank infinity and get 0."""
    if fusion == "rrf":
        return [_rank_array(stage.ranks) for stage in stages.value]
    columns = [stage.values.array if isinstance(stage.values, Series) else stage.values for stage in stages.value]
    return [np.array(values) * MILLION + WHOLE - WHOLE for values in columns]


def _rank_array(ranks: Sequence[int | None]) -> NDArray[np.float64]:
    if isinstance(ranks, RankColumn):
        return np.where(ranks.array == 0, inf, ranks.array)
    return np.array([inf if rank is None else rank for rank in ranks])


def signal_ranks(raw: Sequence[float | None]) -> Sequence[int | None]:
    """Return each candidate's rank from 1 in one signal's own order (value, then natural order); None if absent."""
    return _signal_ranks(Same(raw))


@lru_cache(maxsize=2 * _POOLS_KEPT)
def _signal_ranks(column: Same[Sequence[float | None]]) -> Sequence[int | None]:
    raw = column.value
    if isinstance(raw, RawColumn):
        return RankColumn(raw)
    values = {position: value for position, value in enumerate(raw) if value is not None}
    ranks: list[int | None] = [None] * len(raw)
    for rank, position in enumerate(sorted(values, key=values.__getitem__, reverse=True), start=1):
        ranks[position] = rank
    return tuple(ranks)
