"""Scoring by column equals scoring by candidate, to the last bit."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.config import Config
from recall_core.rank.fuse import fuse_columns, rank
from recall_core.rank.sparse import recall_short
from recall_core.rank.weighing import Ranking, SignalStage, plain
from recall_core.types import Key, Pool

RAW = st.none() | st.floats(0, 20, allow_nan=False).map(lambda value: round(value, 3))
COSINE = st.none() | st.floats(-1, 1, allow_nan=False).map(lambda value: round(value, 6))
WEIGHT = st.sampled_from((0.0, 0.1, 0.3, 0.35, 0.5, 0.7, 1.0, 3.0))


@dataclass(frozen=True)
class Case:
    pool: Pool
    config: Config


@st.composite
def cases(draw: st.DrawFn, most: int = 40) -> Case:
    count = draw(st.integers(1, most))
    columns = [draw(st.just(()) | st.tuples(*[kind] * count)) for kind in (RAW, COSINE)]
    keys = tuple(Key(n, n // 2, f"{n // 2}.txt", n, 1) for n in range(count if any(columns) else 0))
    pool = Pool(keys, columns[0], columns[1], draw(st.sampled_from((0.0, 20.0))), (), exact=True, index_kind="exact")
    config = Config(
        fusion=draw(st.sampled_from(("weighted", "rrf"))),
        normalize=draw(st.sampled_from(("bound", "max", "minmax"))),
        bm25_weight=draw(WEIGHT),
        vector_weight=draw(WEIGHT),
        min_score=draw(st.sampled_from((0.0, 0.4))),
    )
    return Case(pool, config)


def everything(ranking: Ranking) -> tuple[object, ...]:
    return list(ranking), list(ranking.order), list(ranking.scores), ranking.kept


@given(cases())
def test_columns_and_candidates_score_to_the_same_bits(case: Case) -> None:
    found = rank(case.pool, case.config)
    weights = [column.weight for column in found.columns]
    stages = tuple(SignalStage(column.signal, column.raw, column.values, column.ranks) for column in found.columns)

    by_candidate, by_column = plain(stages, weights, case.config), fuse_columns(stages, weights, case.config)

    assert [list(each) for each in by_column[:2]] == [list(each) for each in by_candidate[:2]]
    assert [list(each) for each in by_column[2]] == [list(each) for each in by_candidate[2]]


@given(cases())
def test_long_pool_is_ranked_like_plain_python(case: Case) -> None:
    times = 200 // max(1, len(case.pool.keys)) + 1
    keys = tuple(Key(n, n // 2, f"{n // 2:05}.txt", n, 1) for n in range(times * len(case.pool.keys)))
    long = case.pool._replace(keys=keys, lexical=case.pool.lexical * times, semantic=case.pool.semantic * times)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recall_core.rank.fuse._PLAIN_ROWS", len(keys) + 1)
        in_python = rank(long, case.config)
    in_numpy = rank(long, case.config)

    assert everything(in_numpy) == everything(in_python)
    assert all(type(part.points) is float for ranked in in_numpy for part in ranked.parts)
    assert all(type(each.score) is float and type(each.position) is int for each in in_numpy)
    counts = dict.fromkeys(range(len(keys)), 2)
    of_both = [recall_short(long, each, case.config, limit=3, chunk_counts=counts) for each in (in_python, in_numpy)]
    assert everything(of_both[0].ranking) == everything(of_both[1].ranking)
    assert of_both[0][1:] == of_both[1][1:]
