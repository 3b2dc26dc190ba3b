"""A page of a pool with estimated cosines: the rows of exact cosines, with few of them settled."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from recall_core.config import Config
from recall_core.rank.estimates import EstimatedColumn, Estimates, OnDemand, UnreadKeys
from recall_core.rank.fuse import rank
from recall_core.types import Key, Pool

FLOOR, SLOPE = 0.01, 0.1
COSINES = (0.30, None, 0.31, 0.30, -0.20, 0.90, 0.0, 0.32)
OFF = (-1, 0, -1, 1, 1, 0, 1, 1)
"""Each estimate differs from its cosine by as much as allowed, upwards or downwards."""
LEXICAL = (None, 6.0, None, 1.0, None, None, 2.0, None)
KEYS = tuple(Key(100 - n, n // 2, f"{n // 2}.txt", n, 1) for n in range(len(COSINES)))
EVEN = Config(bm25_weight=0.5, vector_weight=0.5)


def estimates(rows: Sequence[float | None] = COSINES, off: Sequence[int] = OFF) -> Estimates:
    found = [None if each is None else each + side * FLOOR for each, side in zip(rows, off, strict=True)]
    return Estimates([100 - n for n in range(len(rows))], found, FLOOR, SLOPE)


def column(settled: list[int] | None = None) -> EstimatedColumn:
    def settle(rowids: Sequence[int]) -> list[float]:
        if settled is not None:
            settled.extend(rowids)
        return [COSINES[100 - rowid] or 0.0 for rowid in rowids]

    return EstimatedColumn(estimates(), settle)


def pools(lexical: Sequence[float | None] = LEXICAL) -> tuple[Pool, Pool]:
    """Return a pool with every cosine, and one with their estimates."""
    whole = Pool(KEYS, tuple(lexical), COSINES, 10.0, (), exact=True, index_kind="exact")
    return whole, whole._replace(semantic=column())


@pytest.fixture(autouse=True)
def no_head_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recall_core.rank.page._FIRST", 1)


def test_estimate_bounds_its_cosine_on_either_side() -> None:
    found = column()

    for position, cosine in enumerate(COSINES):
        assert found.has(position) == (cosine is not None)
        if cosine is not None:
            assert found.least(position) <= cosine <= found.most(position), position
    assert (found.least(5), found.most(5)) == (pytest.approx(0.80), pytest.approx(1.00))
    assert (found.least(4), found.most(4)) == (pytest.approx(-0.219), pytest.approx(-0.161))


def test_estimates_are_sorted_by_value_and_settled_on_reading() -> None:
    settled: list[int] = []
    found = column(settled)

    assert found.by_estimate == [5, 7, 3, 2, 0, 6, 4]
    assert (len(found), found.count(None), settled) == (8, 1, [])
    assert (found[5], found[-1], found[1]) == (0.90, 0.32, None)
    assert found.settled([7, 5, 7]) == [0.32, 0.90, 0.32]
    assert settled == [95, 93]
    assert found == COSINES
    assert found[2:4] == COSINES[2:4]
    assert sorted(settled) == sorted(100 - n for n, cosine in enumerate(COSINES) if cosine is not None)
    assert found.count(0.30) == 2


def test_ranks_and_nearest_rows_match_the_cosines_with_ties() -> None:
    assert [column().rank(position) for position in range(8)] == [4, None, 3, 5, 7, 1, 6, 2]
    for depth in range(9):
        assert column().nearest(depth) == [5, 7, 2, 0, 3, 6, 4][:depth], depth
    settled: list[int] = []
    assert column(settled).nearest(1) == [5]
    assert settled == [95]


def test_any_page_matches_that_of_all_cosines() -> None:
    for lexical in (LEXICAL, ()):
        for config in (EVEN, Config(bm25_weight=0.9, vector_weight=0.1), Config(bm25_weight=0.0, vector_weight=0.0)):
            for start in range(9):
                whole, estimated = (rank(each, config) for each in pools(lexical))

                assert repr(estimated[start : start + 2]) == repr(whole[start : start + 2]), (config, start)
                assert estimated.order == whole.order
                assert list(estimated.scores) == list(whole.scores)
                assert estimated.order.index(3) == list(whole.order).index(3)


def test_estimates_and_cosines_keep_equally_many_rows() -> None:
    scores = sorted({*rank(pools()[0], EVEN).scores})
    for least in (*scores, *(score + 1e-9 for score in scores)):
        whole, estimated = (rank(each, EVEN._replace(min_score=least)) for each in pools())

        assert estimated.kept == whole.kept, least


def one_cosine_at_its_bound(least: float) -> int:
    """Return how many rows reach this score in a pool of one row with the largest cosine of its estimate."""
    found = EstimatedColumn(Estimates([1], [0.25], 0.25, 0.0), lambda _: [0.5])
    pool = Pool(KEYS[:1], (5.0,), found, 10.0, (), exact=True, index_kind="exact")
    return rank(pool, EVEN._replace(min_score=least)).kept


def test_cosine_may_equal_its_bound() -> None:
    assert (one_cosine_at_its_bound(0.5), one_cosine_at_its_bound(0.500001)) == (1, 0)


def test_rows_without_evidence_follow_in_natural_order() -> None:
    cosines = [*[None] * 10, *[-0.1] * 10, 0.4, 0.5]
    found = EstimatedColumn(
        Estimates(range(22), cosines, 0.001, 0.0), lambda rowids: [cosines[each] or 0.0 for each in rowids]
    )
    keys = tuple(Key(n, n, f"{n:02}.txt", 0, 1) for n in range(22))
    ranking = rank(Pool(keys, (), found, 0.0, (), exact=True, index_kind="exact"), Config())

    assert ranking.order[:5] == [21, 20, 0, 1, 2]


def test_first_row_of_a_long_pool_settles_few_cosines() -> None:
    settled: list[int] = []
    cosines = [(n * 37 % 1000) / 1000 for n in range(1000)]

    def settle(rowids: Sequence[int]) -> list[float]:
        settled.extend(rowids)
        return [cosines[100 - rowid] for rowid in rowids]

    found = EstimatedColumn(Estimates([100 - n for n in range(1000)], cosines, 0.001, 0.0), settle)
    keys = tuple(Key(n, n, f"{n}.txt", 0, 1) for n in range(1000))
    ranking = rank(Pool(keys, (), found, 0.0, (), exact=True, index_kind="exact"), Config())

    assert ranking.order[0] == cosines.index(0.999)
    assert 1 <= len(settled) <= 4
    assert len(ranking.order[:10]) == 10
    assert len(settled) < 30


def test_keys_are_read_once_and_together() -> None:
    asked: list[list[int]] = []

    def read(rowids: Sequence[int]) -> list[Key]:
        asked.append([*rowids])
        return [key for key in KEYS if key.rowid in rowids]

    keys = UnreadKeys([key.rowid for key in KEYS], read)

    assert (len(keys), keys[0], keys[-1], keys[2:4]) == (8, KEYS[0], KEYS[7], KEYS[2:4])
    assert keys.made([3, 0, 5]) == [KEYS[3], KEYS[0], KEYS[5]]
    assert asked == [[100], [93], [98, 97], [95]]
    assert keys == KEYS
    assert tuple(keys) == KEYS


def test_column_on_demand_prepares_rows_read_together() -> None:
    prepared: list[list[int]] = []
    found = OnDemand(4, lambda position: position * position, lambda positions: prepared.append([*positions]))

    assert (found[2], found[-1], prepared) == (4, 9, [])
    assert found[1:3] == [1, 4]
    assert found == [0, 1, 4, 9]
    assert found != [0, 1, 4]
    assert prepared[0] == [1, 2]
    with pytest.raises(IndexError):
        found[4]
