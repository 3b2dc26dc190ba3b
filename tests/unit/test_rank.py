from __future__ import annotations

import numpy as np
import pytest

from recall_core.config import Config
from recall_core.rank.columns import Series
from recall_core.rank.fuse import best_of_each_document, rank
from recall_core.rank.weighing import lexical_values, semantic_values
from recall_core.types import Key, Pool


def pool(lexical: tuple[float | None, ...], semantic: tuple[float | None, ...], *, bound: float = 10.0) -> Pool:
    keys = tuple(Key(n, n // 2, f"{n // 2}.txt", n, 1) for n in range(max(len(lexical), len(semantic))))
    return Pool(keys, lexical, semantic, bound, (), exact=True, index_kind="exact")


def test_bound_divides_only_by_the_query_bound() -> None:
    assert lexical_values(pool((5.0, None, 2.5), ()), "bound") == [0.5, 0.0, 0.25]
    assert lexical_values(pool((5.0, None, 2.5, 9.0), ()), "bound")[:3] == [0.5, 0.0, 0.25]


def test_stage_values_are_rounded_half_even_to_six_decimals() -> None:
    assert lexical_values(pool((1.0,), (), bound=3.0), "bound") == [0.333333]
    halves = pool((1.0, 3.0, 5.0, 128.0), (), bound=128.0)  # 1/128 is 0.0078125, to the last bit
    assert lexical_values(halves, "bound") == lexical_values(halves, "max") == [0.007812, 0.023438, 0.039062, 1.0]


def test_negative_cosines_count_as_zero() -> None:
    assert semantic_values(pool((), (-0.5, 0.5, None)), "bound") == [0.0, 0.5, 0.0]


def test_max_and_minmax_depend_on_the_pool() -> None:
    given = pool((4.0, None, 2.0), ())
    assert lexical_values(given, "max") == [1.0, 0.0, 0.5]
    assert lexical_values(given, "minmax") == [1.0, 0.0, 0.0]
    assert lexical_values(pool((4.0, 4.0), ()), "minmax") == [1.0, 1.0]


def test_score_is_the_sum_of_its_parts() -> None:
    for fusion in ["weighted", "rrf"]:
        for normalize in ["bound", "max", "minmax"]:
            config = Config(fusion=fusion, normalize=normalize)
            for ranked in rank(pool((5.0, None, 2.5), (0.9, 0.1, None)), config):
                assert ranked.score == sum(part.points for part in ranked.parts), (fusion, normalize)


def test_weighted_fusion_is_the_weighted_mean() -> None:
    best = rank(pool((5.0,), (0.8,)), Config(bm25_weight=3.0, vector_weight=1.0))[0]
    assert best.score == pytest.approx((3 * 0.5 + 0.8) / 4, abs=1e-15)


def test_rrf_is_shown_as_a_share_of_its_maximum() -> None:
    config = Config(fusion="rrf", bm25_weight=1.0, vector_weight=1.0)
    ranked = {each.position: each for each in rank(pool((5.0, 3.0, None), (0.1, 0.9, 0.5)), config)}
    assert ranked[1].score == pytest.approx((1 / 62 + 1 / 61) / (2 / 61))
    assert ranked[2].parts[0].points == 0.0
    assert [part.rank for part in ranked[0].parts] == [1, 3]


def test_equal_scores_stay_in_natural_order() -> None:
    assert rank(pool((1.0, 2.0, 1.0, 2.0), ()), Config()).order == [1, 3, 0, 2]


def test_scores_equal_as_decimals_stay_in_natural_order() -> None:
    for rows in [2, 300]:
        ranking = rank(
            pool((0.0, 9.0) * (rows // 2), (0.5, 0.4) * (rows // 2)), Config(bm25_weight=0.1, vector_weight=0.9)
        )

        assert list(ranking.order) == list(range(rows)), rows
        assert set(ranking.scores) == {0.45}, rows


def test_long_pool_keeps_six_decimals() -> None:
    third = pool((1.0,) * 300, (), bound=3.0)

    assert set(rank(third, Config()).scores) == {0.333333}


def test_column_equals_only_a_list_of_its_numbers() -> None:
    column = Series[int](np.array([1, 2]))

    assert column == [1, 2]
    assert column != [2, 1]
    assert column != 1


def test_score_equal_to_min_score_as_a_decimal_is_kept() -> None:
    config = Config(bm25_weight=0.7, vector_weight=0.3)
    assert rank(pool((1.0,), (0.1,)), config._replace(min_score=0.1)).kept == 1


def test_unused_signal_has_no_weight_but_an_empty_signal_does() -> None:
    assert rank(pool((5.0,), ()), Config())[0].score == 0.5
    assert rank(pool((5.0,), (None,)), Config())[0].score == pytest.approx(0.45)


def test_lone_signal_of_weight_zero_still_ranks() -> None:
    assert rank(pool((5.0,), ()), Config(bm25_weight=0.0, vector_weight=1.0))[0].score == 0.5


def test_min_score_is_inclusive() -> None:
    ranking = rank(pool((5.0, 4.9), ()), Config(min_score=0.5))
    assert (ranking.kept, len(ranking)) == (1, 2)


def test_min_score_is_inclusive_in_arrays_too() -> None:
    from_arrays = rank(pool((*[5.0] * 150, *[4.9] * 150), ()), Config(min_score=0.5))

    assert isinstance(from_arrays.scores, Series)
    assert (from_arrays.kept, len(from_arrays)) == (150, 300)


def test_document_has_the_score_of_its_best_chunk() -> None:
    given = pool((1.0, 3.0, 2.0, 2.0), ())
    assert best_of_each_document(given, rank(given, Config())).order == [1, 2]


def test_only_documents_that_pass_min_score_count() -> None:
    for raws, kept in [
        ((9.0, 8.0, 7.0, 2.0, 1.0, 0.5), 2),  # three chunks pass, of two of three documents
        ((9.0, 8.0, 1.0, 2.0), 1),  # the first chunk that fails belongs to another document
        ((9.0, 1.0, 5.0, 8.0), 2),  # every document passes, though some of their chunks do not
        ((1.0, 2.0, 3.0, 4.0), 0),
    ]:
        given = pool(raws, ())
        documents = best_of_each_document(given, rank(given, Config(min_score=0.5)))
        assert (documents.kept, len(documents)) == (kept, len(raws) // 2), raws


def test_empty_pool_has_an_empty_ranking() -> None:
    assert len(rank(pool((), ()), Config())) == 0


def test_weights_too_small_to_divide_by_count_as_zero() -> None:
    for fusion in ["weighted", "rrf"]:
        pool = Pool((Key(1, 1, "a", 0, 1),), (1.0,), (1.0,), 2.0, (), exact=True, index_kind="exact")

        ranking = rank(pool, Config(fusion=fusion, bm25_weight=0.0, vector_weight=5e-324))

        assert ranking[0].score == rank(pool, Config(fusion=fusion, bm25_weight=1.0, vector_weight=1.0))[0].score, (
            fusion
        )
