"""Reranking: what a reranker says of the best rows, worked into their scores."""

from __future__ import annotations

from collections.abc import Mapping

from recall_core.config import Config
from recall_core.rank.weighing import Column, Ranking, summed

_GRID = 2.0  # what 2 was added to and taken from is a multiple of 2**-51: three of them add up exactly in any order


def head(ranking: Ranking, config: Config) -> list[int]:
    """The positions that a reranker has to score: the best rerank_rows rows, best first."""
    return list(ranking.order[: config.rerank_rows])


def rescored(ranking: Ranking, values: Mapping[int, float], config: Config) -> Ranking:
    """The ranking by (1 - w) * score + w * value, where w is rerank_weight; equal scores keep their order.

    values: position to a value from 0 to 1, of the rows in `head`. The others keep (1 - w) of their score, so that
    none overtakes from below. min_score looks at the new score. The points of a row's parts, of which rerank is the
    last, still add up to its score to the last bit.
    """
    if not ranking.columns:
        return ranking
    weight = config.rerank_weight
    columns = tuple(_reduced(column, 1.0 - weight) for column in ranking.columns)
    columns += (_column(ranking, values, weight),)
    scores = summed([column.points for column in columns])
    order = sorted(ranking.order, key=scores.__getitem__, reverse=True)
    kept = sum(scores[position] >= config.min_score for position in order) if config.min_score > 0 else len(order)
    return Ranking(order, scores, columns, kept=kept)


def _reduced(column: Column, share: float) -> Column:
    if share == 1.0:
        return column
    return column._replace(points=[points * share + _GRID - _GRID for points in column.points])


def _column(ranking: Ranking, values: Mapping[int, float], weight: float) -> Column:
    size = len(ranking.scores)
    raw: list[float | None] = [None] * size
    stage, points = [0.0] * size, [0.0] * size
    ranks: list[int | None] = [None] * size
    scored = [position for position in ranking.order if position in values]
    for rank, position in enumerate(sorted(scored, key=values.__getitem__, reverse=True), start=1):
        value = values[position]
        raw[position], stage[position], ranks[position] = value, value, rank
        points[position] = weight * value + _GRID - _GRID
    return Column("rerank", weight, tuple(raw), stage, ranks, points)
