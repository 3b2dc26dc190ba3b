"""An array pool is ranked, explained and cut like a tuple pool, to the last bit."""

from __future__ import annotations

import math
import os
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.config import Config
from recall_core.explain.lines import lines_of, sweepable
from recall_core.rank.columns import RankColumn, documents_of, positions_of, round_half_even, scores_of
from recall_core.rank.fuse import best_of_each_document, rank, signal_ranks
from recall_core.rank.sparse import in_place, near_documents, recall_short
from recall_core.rank.weighing import Ranking, head, lexical_values, limits, rescore, scale, semantic_values
from recall_core.types import Key, Pool
from tests.arrays import in_arrays, key_columns, raw_column, scores

BOUND = 20.0
HALVES = st.integers(0, 1_000_000).map(lambda whole: (whole + 0.5) / 1e6)
BESIDE = st.tuples(HALVES, st.sampled_from((0.0, 1.0))).map(lambda pair: math.nextafter(*pair))
RAW = st.none() | st.sampled_from((0.0, 1e-6, 5.0, 10.0, 19.999, 20.0, 20.5)) | st.floats(0, 20)
RAWS = RAW | (HALVES | BESIDE).map(lambda share: share * BOUND)
COSINES = st.none() | st.sampled_from((-1.0, -0.000001, 0.0, 0.5, 1.0)) | st.floats(-1, 1).map(lambda v: round(v, 6))
HOSTILE = st.none() | st.sampled_from((-0.0, 0.0)) | st.floats(-1, 1)
NORMALIZE = st.sampled_from(("bound", "max", "minmax"))


class Case(NamedTuple):
    pool: Pool
    config: Config


@st.composite
def pools(draw: st.DrawFn, *, cosines: st.SearchStrategy[float | None] = COSINES) -> Pool:
    size = draw(st.integers(0, 40))
    rows = st.lists(st.integers(0, 99), min_size=size, max_size=size, unique=True)
    documents = sorted(draw(st.lists(st.integers(0, 12), min_size=size, max_size=size)))
    keys = tuple(
        Key(rowid, 50 + doc, f"{doc:02}.txt", n, n % 7)
        for n, (rowid, doc) in enumerate(zip(draw(rows), documents, strict=True))
    )
    lexical, semantic = (draw(st.just(()) | st.tuples(*[kind] * size)) for kind in (RAWS, cosines))
    bound = draw(st.sampled_from((0.0, BOUND)))
    return Pool(keys, lexical, semantic, bound, (), exact=True, index_kind="exact")


@st.composite
def cases(draw: st.DrawFn) -> Case:
    config = Config(
        fusion=draw(st.sampled_from(("weighted", "rrf"))),
        normalize=draw(NORMALIZE),
        bm25_weight=draw(st.sampled_from((0.0, 0.3, 0.35, 1.0))),
        vector_weight=draw(st.sampled_from((0.0, 0.1, 0.7, 1.0))),
        min_score=draw(st.sampled_from((0.0, 0.2, 0.5))),
        rerank_rows=draw(st.integers(1, 20)),
        rerank_weight=draw(st.sampled_from((0.0, 0.3, 1.0))),
        sparse_max_injections=draw(st.integers(0, 3)),
        sparse_distance_ceiling=draw(st.sampled_from((0.2, 0.5, 1.0))),
    )
    return Case(draw(pools()), config)


def bits(value: Any) -> Any:
    """Return the value with the sign of a zero, because 0.0 == -0.0."""
    return repr(value)


def everything(ranking: Ranking) -> str:
    return bits([list(ranking), list(ranking.order), list(ranking.scores), ranking.kept, len(ranking)])


@given(case=cases(), by_document=st.booleans(), limit=st.integers(0, 12))
def test_array_pool_is_ranked_to_the_same_bits(case: Case, by_document: bool, limit: int) -> None:
    pool, config = case
    counts = {key.doc_rowid: 1 + key.doc_rowid % 4 for key in pool.keys}
    found = []
    for each, plain_rows in ((pool, 100), (in_arrays(pool), 0)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("recall_core.rank.fuse._PLAIN_ROWS", plain_rows)
            ranking = rank(each, config)
        if by_document and (each.lexical or each.semantic):
            ranking = best_of_each_document(each, ranking)
        said = {position: position * 0.618034 % 1 for position in head(ranking, config)}
        after = recall_short(each, ranking, config, limit=limit, chunk_counts=counts)
        near = near_documents(each, ranking, limit=limit)
        steps = (rescore(ranking, said, config), ranking, after.ranking, in_place(ranking, after).ranking)
        found.append(([*map(everything, steps)], after.given, after.report, near))

    assert found[0] == found[1]


@pytest.mark.parametrize("plain_rows", [0, 100])
def test_long_array_pool_is_ranked_to_the_same_bits(plain_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recall_core.rank.fuse._PLAIN_ROWS", plain_rows)
    size = 3_000 if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else 1_200
    keys = tuple(Key(7 * n % size, n // 3, f"{n // 3:05}.txt", n, 1) for n in range(size))
    raw = tuple(None if n % 5 == 0 else n * 7919 % 400 / 20 for n in range(size))
    cosines = tuple(None if n % 11 == 0 else round(n * 104_729 % 977 / 977 - 0.3, 6) for n in range(size))
    pool = Pool(keys, raw, cosines, BOUND, (), exact=True, index_kind="exact")
    counts = {key.doc_rowid: 1 + key.doc_rowid % 4 for key in keys}
    for fusion in ("weighted", "rrf"):
        config = Config(fusion=fusion, min_score=0.3, sparse_distance_ceiling=0.5)
        plain, columns = (rank(each, config) for each in (pool, in_arrays(pool)))
        assert everything(columns) == everything(plain)
        assert everything(best_of_each_document(in_arrays(pool), columns)) == everything(
            best_of_each_document(pool, plain)
        )
        plain_after = recall_short(pool, plain, config, limit=10, chunk_counts=counts)
        after = recall_short(in_arrays(pool), columns, config, limit=10, chunk_counts=counts)
        assert everything(after.ranking) == everything(plain_after.ranking)
        assert after[1:] == plain_after[1:]


@given(pool=pools(cosines=HOSTILE), normalize=NORMALIZE)
def test_array_values_match_tuple_values_including_signed_zero(pool: Pool, normalize: str) -> None:
    columns = in_arrays(pool)
    for values in (lexical_values, semantic_values):
        assert bits(list(values(columns, normalize))) == bits(list(values(pool, normalize)))
    for raw in (pool.lexical, pool.semantic):
        assert bits(limits(raw_column(raw))) == bits(limits(raw))
    for signal in ("lexical", "semantic"):
        assert bits(scale(columns, signal, normalize)) == bits(scale(pool, signal, normalize))


@given(st.lists(HALVES | BESIDE | st.floats(-2, 2) | st.floats(1e3, 1e12) | st.floats(), max_size=20))
def test_arrays_round_like_python(values: list[float]) -> None:
    assert bits(round_half_even(np.array(values), 6).tolist()) == bits([round(value, 6) for value in values])


@given(st.lists(HOSTILE, max_size=30), st.booleans())
def test_rank_is_the_same_alone_and_among_all(raw: list[float | None], is_sorted_first: bool) -> None:
    column = RankColumn(raw_column(raw))
    if is_sorted_first:
        assert column.array.shape == (len(raw),)
    expected = signal_ranks(tuple(raw))

    assert [column[at] for at in range(len(raw))] == list(expected)
    assert [column[at - len(raw)] for at in range(len(raw))] == list(expected)
    assert column == expected
    assert column[1:3] == expected[1:3]


def test_repeated_rank_lookup_stays_right() -> None:
    column = RankColumn(raw_column([0.5, None, 0.7, 0.5]))

    assert [column[at % 4] for at in range(400)] == [2, None, 1, 3] * 100


@given(case=cases())
def test_array_lines_match_tuple_lines(case: Case) -> None:
    pool, config = case
    if not (pool.lexical and pool.semantic):
        return
    assert lines_of(in_arrays(pool), config) == lines_of(pool, config)
    assert sweepable(in_arrays(pool), config) == sweepable(pool, config)


@given(pool=pools(), wanted=st.sets(st.integers(-1, 99)))
def test_columns_equal_their_contents(pool: Pool, wanted: set[int]) -> None:
    keys, columns = pool.keys, key_columns(pool.keys)
    assert columns == keys
    assert keys == columns
    assert [columns[at] for at in range(-len(keys), len(keys))] == [*keys, *keys]
    assert all(type(field) in (int, str) for key in columns[:2] for field in key)
    assert positions_of(columns, wanted) == positions_of(keys, wanted)
    assert documents_of(columns, range(len(keys))) == documents_of(keys, range(len(keys)))
    for raw in (pool.lexical, pool.semantic):
        column = raw_column(raw)
        assert (column == raw, column[1:] == raw[1:], column.count(None)) == (True, True, raw.count(None))
        assert bits([column[at] for at in range(len(raw))]) == bits(list(raw))


@given(
    st.dictionaries(st.integers(0, 99), st.floats(0, 9), max_size=30), st.lists(st.integers(-5, 120)), st.booleans()
)
def test_scores_equal_the_dict_of_their_contents(
    held: dict[int, float], asked: list[int], is_ascending: bool
) -> None:
    columns = scores(held, is_ascending=is_ascending)
    over = columns.over(np.array(asked, dtype=np.int64))

    assert columns == held
    assert {**columns} == held
    assert [columns.get(rowid) for rowid in asked] == [held.get(rowid) for rowid in asked]
    assert raw_column([held.get(rowid) for rowid in asked]) == [None if math.isnan(v) else v for v in over.tolist()]
    assert columns.over(columns.rowids) is columns.values_array
    assert scores_of(columns) is columns
    assert scores_of(held) == held
    assert list(scores_of(held)) == list(held)
