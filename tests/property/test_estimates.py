"""A pool of estimated cosines gives the page, ranks and counts of exact cosines."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.config import Config
from recall_core.rank.estimates import EstimatedColumn, Estimates, UnreadKeys
from recall_core.rank.fuse import best_of_each_document, rank
from recall_core.rank.sparse import near_documents, recall_short
from recall_core.rank.weighing import semantic_values
from recall_core.types import Key, Pool, Ranked

FLOOR, SLOPE = 0.0101, 0.05
"""Wide compared with the grids of values, so that many rows are near each other."""
COSINES = st.none() | st.integers(-60, 100).map(lambda n: n / 100) | st.floats(-1, 1).map(lambda v: round(v, 6))
RAWS = st.none() | st.integers(0, 20).map(float) | st.floats(0, 20)
CONFIGS = st.builds(
    Config()._replace,
    bm25_weight=st.sampled_from((0.0, 0.3, 0.9, 1 / 3)),
    vector_weight=st.sampled_from((0.0, 0.1, 0.7, 1.0)),
    min_score=st.sampled_from((0.0, 0.05, 0.25, 0.5)),
    sparse_distance_ceiling=st.sampled_from((0.2, 0.6, 1.0)),
    sparse_max_injections=st.integers(0, 2),
)


class Case(NamedTuple):
    pool: Pool
    estimates: Estimates


class Settled(NamedTuple):
    """A pool of estimates, and the cosines settled and read."""

    pool: Pool
    settled: list[int]
    read: list[int]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    size = draw(st.integers(0, 60))
    documents = sorted(draw(st.lists(st.integers(0, 20), min_size=size, max_size=size)))
    keys = tuple(Key(1000 - n, doc, f"{doc:02}.txt", n, 1) for n, doc in enumerate(documents))
    lexical = draw(st.just(()) | st.tuples(*[RAWS] * size))
    cosines = draw(st.tuples(*[COSINES] * size))
    off = draw(st.tuples(*[st.sampled_from((-1.0, 0.0, 1.0)) | st.floats(-1, 1)] * size))
    pool = Pool(keys, lexical, cosines, draw(st.sampled_from((0.0, 20.0))), (), exact=True, index_kind="exact")
    return Case(pool, estimates_of(pool, off))


def estimates_of(pool: Pool, off: Sequence[float], floor: float = FLOOR, slope: float = SLOPE) -> Estimates:
    """Return estimates at their largest error, times the factor for each row."""
    estimates = [
        None if cosine is None else cosine + share * 0.999 * (floor + slope * max(0.0, abs(cosine) - 0.1) * 0.9)
        for cosine, share in zip(pool.semantic, off, strict=True)
    ]
    for cosine, estimate in zip(pool.semantic, estimates, strict=True):
        assert cosine is None or estimate is None or abs(cosine - estimate) <= floor + slope * abs(estimate)
    return Estimates([key.rowid for key in pool.keys], estimates, floor, slope)


def unsettled(pool: Pool, estimates: Estimates) -> Settled:
    keys = {key.rowid: key for key in pool.keys}
    cosines = {key.rowid: cosine for key, cosine in zip(pool.keys, pool.semantic, strict=True)}
    settled: list[int] = []
    read: list[int] = []

    def settle(rowids: Sequence[int]) -> list[float]:
        settled.extend(rowids)
        return [cosine for rowid in rowids if (cosine := cosines[rowid]) is not None]

    def read_keys(rowids: Sequence[int]) -> tuple[Key, ...]:
        read.extend(rowids)
        wanted = set(rowids)
        return tuple(key for key in keys.values() if key.rowid in wanted)

    column = EstimatedColumn(estimates, settle)
    return Settled(pool._replace(keys=UnreadKeys(estimates.rowids, read_keys), semantic=column), settled, read)


def parts(rows: Sequence[Ranked]) -> str:
    return repr(list(rows))


@pytest.fixture(autouse=True)
def no_head_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recall_core.rank.page._FIRST", 1)


@given(case=cases(), depth=st.integers(0, 20))
def test_nearest_by_estimate_are_nearest_by_cosine(case: Case, depth: int) -> None:
    cosines = case.pool.semantic
    present = [at for at, cosine in enumerate(cosines) if cosine is not None]
    column = unsettled(*case).pool.semantic
    assert isinstance(column, EstimatedColumn)
    assert column.nearest(depth) == sorted(present, key=lambda at: -(cosines[at] or 0.0))[:depth]


@given(case=cases(), config=CONFIGS, row=st.integers(0, 59))
def test_estimates_and_cosines_keep_equally_many_rows(case: Case, config: Config, row: int) -> None:
    scores = rank(case.pool, config).scores
    config = config._replace(min_score=scores[row] if row < len(scores) else 0.25)

    assert rank(unsettled(*case).pool, config).kept == rank(case.pool, config).kept


@given(case=cases(), config=CONFIGS, start=st.integers(0, 20), rows=st.integers(0, 12))
def test_any_page_of_estimates_matches_cosines(case: Case, config: Config, start: int, rows: int) -> None:
    made = unsettled(*case)
    whole, found = rank(case.pool, config), rank(made.pool, config)

    assert parts(found[start : start + rows]) == parts(whole[start : start + rows])
    assert (found.kept, len(found)) == (whole.kept, len(whole))
    assert len(set(made.settled)) == len(made.settled)
    if start < len(whole):
        assert parts([found[start], found[-1]]) == parts([whole[start], whole[-1]])
    assert parts(found) == parts(whole)
    assert found.order == whole.order
    assert list(found.scores) == list(whole.scores)


@given(case=cases(), config=CONFIGS, limit=st.integers(0, 12))
def test_sparse_recall_over_estimates_matches_cosines(case: Case, config: Config, limit: int) -> None:
    counts = {key.doc_rowid: 1 + key.doc_rowid % 4 for key in case.pool.keys}
    found = []
    for pool in (case.pool, unsettled(*case).pool):
        ranking = rank(pool, config)
        near = near_documents(pool, ranking, limit=limit)
        after = recall_short(pool, ranking, config, limit=limit, chunk_counts=counts)
        found.append((near, parts(after.ranking[:limit]), after.given, after.report, parts(after.ranking)))

    assert found[1] == found[0]


@given(case=cases())
def test_estimate_column_equals_its_cosines(case: Case) -> None:
    pool, estimates = case
    made = unsettled(pool, estimates).pool
    column = made.semantic
    assert column.count(None) == pool.semantic.count(None)
    assert [column[at] for at in range(-len(column), len(column))] == [*pool.semantic, *pool.semantic]
    assert unsettled(pool, estimates).pool.semantic == pool.semantic
    assert unsettled(pool, estimates).pool.semantic[2:5] == pool.semantic[2:5]
    assert (made.keys, made.keys[1:4], list(made.keys)) == (pool.keys, pool.keys[1:4], list(pool.keys))
    assert [made.keys[at] for at in range(len(pool.keys))] == list(pool.keys)


@given(case=cases(), config=CONFIGS, fusion=st.sampled_from(("weighted", "rrf")), by_document=st.booleans())
def test_reading_every_row_settles_every_estimate(case: Case, config: Config, fusion: str, by_document: bool) -> None:
    config = config._replace(fusion=fusion, normalize="minmax")
    found = []
    for pool in (case.pool, unsettled(*case).pool):
        ranking = rank(pool, config)
        found.append(parts(best_of_each_document(pool, ranking) if by_document else ranking))
        found.append(repr(list(semantic_values(pool, "bound"))))

    assert found[:2] == found[2:]


@pytest.mark.parametrize("size", [3_000, 20_000])
def test_page_of_a_long_pool_reads_few_rows(size: int) -> None:
    rng = Random(7)
    keys = tuple(Key(n, n // 3, f"{n // 3:05}.txt", n, 1) for n in range(size))
    cosines = tuple(round(rng.gauss(0.05, 0.08), 6) for _ in keys)
    lexical = tuple(rng.gammavariate(2, 2) if rng.random() < 0.1 else None for _ in keys)
    pool = Pool(keys, lexical, cosines, 60.0, (), exact=True, index_kind="exact")
    estimates = estimates_of(pool, [rng.uniform(-1, 1) for _ in keys], 1e-5, 1.1e-3)
    counts = {key.doc_rowid: 3 for key in keys}
    config = Config(min_score=0.1)
    made = unsettled(pool, estimates)
    whole, found = rank(pool, config), rank(made.pool, config)

    assert parts(found[:10]) == parts(whole[:10])
    assert found.kept == whole.kept
    recall = [
        recall_short(each, ranking, config, limit=10, chunk_counts=counts)
        for each, ranking in ((pool, whole), (made.pool, found))
    ]
    assert recall[0].report == recall[1].report
    assert parts(recall[1].ranking[:10]) == parts(recall[0].ranking[:10])
    assert len(made.settled) < size / 10
    assert len(made.read) < 100


@pytest.mark.parametrize(("words", "lowest"), [(0.0, -5), (0.3, -5), (0.1, -28)])
def test_cut_through_close_rows_is_right(words: float, lowest: int) -> None:
    rng = Random(11)
    keys = tuple(Key(n, n // 2, f"{n // 2:03}.txt", n, 1) for n in range(200))
    cosines = tuple(rng.choice([None, *[n / 100 for n in range(lowest, lowest + 30)]]) for _ in keys)
    lexical = tuple(rng.randrange(8) / 2 if rng.random() < words else None for _ in keys)
    pool = Pool(keys, lexical, cosines, 20.0, (), exact=True, index_kind="exact")
    estimates = estimates_of(pool, [rng.choice((-1.0, 1.0)) for _ in keys])
    config = Config(bm25_weight=0.5, vector_weight=0.5)
    whole = rank(pool, config)
    nearest = sorted((at for at in range(200) if cosines[at] is not None), key=lambda at: -(cosines[at] or 0.0))
    for cut in range(0, 100, 3):
        column = unsettled(pool, estimates).pool.semantic
        assert isinstance(column, EstimatedColumn)
        assert column.nearest(cut) == nearest[:cut]
        assert rank(unsettled(pool, estimates).pool, config).order[:cut] == whole.order[:cut]
        least = config._replace(min_score=whole.scores[whole.order[cut]])
        assert rank(unsettled(pool, estimates).pool, least).kept == rank(pool, least).kept
