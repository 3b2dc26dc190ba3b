from __future__ import annotations

from fractions import Fraction

import pytest

from recall_core.config import Config
from recall_core.errors import UsageError
from recall_core.explain.lines import (
    crossing,
    exact,
    groups,
    integers,
    lines_of,
    reciprocal_lines,
    weight_of,
    weighted_lines,
)
from recall_core.explain.sweep import Interval, nearest, piece_at, stability, stretches, sweep, top_at, weight_inside
from recall_core.explain.winning import winning_weights
from recall_core.rank.fuse import rank
from recall_core.types import Key, Pool

HALF = Fraction(1, 2)
# 0 leads on words, 1 on meaning, 2 is second in both; 0 and 1 meet at 1/2, 2 meets both there as well.
BUNDLE = weighted_lines([0.8, 0.2, 0.5], [0.2, 0.8, 0.5])
# 0 leads until 2/3; 2 is behind 0 everywhere, and behind 1 from 1/4 on.
PLAIN = weighted_lines([0.6, 0.2, 0.3], [0.4, 0.6, 0.3])


def pool(lexical: tuple[float | None, ...], semantic: tuple[float | None, ...]) -> Pool:
    keys = tuple(Key(n, n, f"{n}.txt", 0, 1) for n in range(max(len(lexical), len(semantic))))
    return Pool(keys, lexical, semantic, 10.0, (), exact=True, index_kind="exact")


def test_sweep_names_each_weight_where_the_order_changes() -> None:
    swept = sweep(PLAIN, 3)

    assert swept.weights == (0, Fraction(1, 4), Fraction(2, 3), 1)
    assert swept.orders[1::2].tolist() == [[0, 2, 1], [0, 1, 2], [1, 0, 2]]


def test_sweep_of_the_top_ignores_changes_below_it() -> None:
    assert sweep(PLAIN, 1).weights == (0, Fraction(2, 3), 1)


def test_lines_meeting_at_one_weight_tie_in_natural_order() -> None:
    swept = sweep(BUNDLE, 3)

    assert swept.weights == (0, HALF, 1)
    assert swept.orders.tolist() == [[0, 2, 1], [0, 2, 1], [0, 1, 2], [1, 2, 0], [1, 2, 0]]


def test_ties_at_the_ends_of_the_scale_follow_natural_order() -> None:
    swept = sweep(weighted_lines([0.5, 0.5], [0.1, 0.2]), 2)

    assert swept.orders.tolist() == [[0, 1], [1, 0], [1, 0]]


def test_pools_without_a_choice_have_one_cell() -> None:
    for values in [[], [0.3], [0.0, 0.0, 0.0]]:
        swept = sweep(weighted_lines(values, values), 5)

        assert swept.weights == (0, 1), values
        assert swept.orders.tolist() == [list(range(len(values)))] * 3, values


def test_weight_is_looked_up_without_ranking() -> None:
    swept = sweep(PLAIN, 3)

    assert [piece_at(swept, w) for w in (0, 0.2, 0.25, 0.3, Fraction(2, 3), 0.7, 1)] == [0, 1, 2, 3, 4, 5, 6]
    assert top_at(swept, 0.25) == [0, 1, 2]


def test_float_means_the_decimal_it_prints() -> None:
    assert exact(0.1) == Fraction(1, 10)
    with pytest.raises(UsageError, match="between 0 and 1"):
        exact(1.5)


def test_member_intervals_join_cells_with_equal_members() -> None:
    assert stretches(sweep(PLAIN, 2), members=True) == [
        (Interval(Fraction(0), Fraction(1, 4), high_open=True), (0, 2)),
        (Interval(Fraction(1, 4), Fraction(1)), (0, 1)),
    ]


def test_lines_give_the_pool_under_its_settings() -> None:
    for fusion in ["weighted", "rrf"]:
        for lexical, semantic in [
            ((5.0, None, 2.5, 9.0), (0.9, 0.1, None, -0.3)),
            ((1.0, 3.0), ()),
            ((), (0.2, None, 0.4)),
            ((), ()),
        ]:
            given, config = pool(lexical, semantic), Config(fusion=fusion)

            swept = sweep(lines_of(given, config), 4)

            for weight in (0.05, 0.31, 0.97):
                again = rank(given, config._replace(bm25_weight=1 - weight, vector_weight=weight)).order
                assert top_at(swept, weight) == again, (fusion, lexical, semantic)


def test_settings_map_to_the_share_of_the_semantic_weight() -> None:
    assert weight_of(Config(bm25_weight=0.9, vector_weight=0.1)) == Fraction(1, 10)
    assert weight_of(Config(bm25_weight=3.0, vector_weight=1.0)) == Fraction(1, 4)


def test_reciprocal_ranks_are_exact() -> None:
    lines = reciprocal_lines([1, 2, None], [3, 1, 2], 60)

    assert Fraction(lines.a[0], lines.scale) == Fraction(1, 61)
    assert Fraction(lines.b[0], lines.scale) == Fraction(1, 63)
    assert lines.a[2] == 0


def test_fractions_that_round_to_one_float_stay_distinct() -> None:
    large = 10**20
    numerators, denominators = integers([large + 1, 1, 2, large]), integers([3 * large, 3, 6, 3 * large + 1])

    assert groups(numerators, denominators) == ([3, 1, 2, 0], [0, 1, 3])


def test_crossing_is_where_two_scores_are_equal() -> None:
    assert crossing(PLAIN, 0, 1) == crossing(PLAIN, 1, 0) == Fraction(2, 3)
    assert crossing(PLAIN, 0, 2) is None
    assert crossing(PLAIN, 0, 0) is None


def test_winning_weights_distinguish_open_from_closed_ends() -> None:
    assert winning_weights(PLAIN, 1, 2).intervals == (Interval(Fraction(1, 4), Fraction(1)),)
    assert winning_weights(PLAIN, 2, 2).intervals == (Interval(Fraction(0), Fraction(1, 4), high_open=True),)


def test_single_weight_can_be_the_whole_interval() -> None:
    found = winning_weights(weighted_lines([0.5, 0.8, 0.2], [0.5, 0.2, 0.8]), 0, 1)

    assert found.intervals == (Interval(HALF, HALF),)


def test_never_winning_row_reports_best_rank_and_rows_ahead() -> None:
    found = winning_weights(PLAIN, 2, 1)

    assert found.intervals == ()
    assert (found.best_rank, found.always_ahead) == (2, (0,))
    assert found.best_at == (Interval(Fraction(0), Fraction(1, 4), high_open=True),)


def test_fix_is_the_nearest_weight_with_few_decimals_inside() -> None:
    found = winning_weights(PLAIN, 1, 1).intervals

    assert found == (Interval(Fraction(2, 3), Fraction(1), low_open=True),)
    assert weight_inside(found[0], 0.1) == 0.667
    assert weight_inside(found[0], 0.9) == 0.9


def test_fix_avoids_an_open_end_and_takes_a_closed_one() -> None:
    assert weight_inside(Interval(Fraction(0), HALF, high_open=True), 0.7) == 0.499
    assert weight_inside(Interval(Fraction(0), HALF), 0.7) == 0.5
    assert weight_inside(Interval(HALF, Fraction(1), low_open=True), 0.2) == 0.501


def test_narrow_interval_gets_its_middle_and_a_third_none() -> None:
    narrow = Interval(Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**9), low_open=True, high_open=True)
    third = Interval(Fraction(1, 3), Fraction(1, 3))

    weight = weight_inside(narrow, 0.1)

    assert weight is not None
    assert narrow.holds(weight)
    assert weight_inside(third, 0.1) is None


def test_nearest_interval_has_a_length_if_any_has() -> None:
    point, near, far = (Interval(Fraction(low, 10), Fraction(high, 10)) for low, high in ((3, 3), (5, 6), (8, 9)))

    assert nearest([point, near, far], 0.3) == near
    assert nearest([point], 0.9) == point
    assert nearest([], 0.9) is None


def test_stability_measures_distance_to_other_orders_and_members() -> None:
    found = stability(sweep(PLAIN, 2), 0.65)

    assert found.order_distance == pytest.approx(2 / 3 - 0.65)
    assert found.members_distance == pytest.approx(0.4)
    assert found.fragile


def test_answer_that_no_weight_changes_is_stable() -> None:
    found = stability(sweep(weighted_lines([0.5, 0.2], [0.5, 0.2]), 2), 0.0)

    assert (found.order_distance, found.members_distance, found.fragile) == (None, None, False)
