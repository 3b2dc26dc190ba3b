"""The chart says at every weight what ranking at that weight says."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as some

from recall_core.config import Config
from recall_core.rank.fuse import rank
from recall_core.types import Key, Pool
from recall_tui.panes.weights.ranks import rank_lines, scale, verdict
from recall_tui.state.chart import DEPTH, chart_of, flips, gauge_at, top_at, tops_over
from recall_tui.widgets.draw import ASCII, UNICODE

VALUES = some.lists(
    some.tuples(some.none() | some.integers(0, 8), some.none() | some.integers(-2, 8)), min_size=1, max_size=14
)


def pool_of(values: list[tuple[int | None, int | None]]) -> Pool:
    keys = tuple(Key(at, at, f"{at:03}.txt", 0, 1) for at in range(len(values)))
    lexical = tuple(None if value is None else value / 8 for value, _ in values)
    semantic = tuple(None if value is None else value / 8 for _, value in values)
    return Pool(keys, lexical, semantic, 1.0, (), exact=True, index_kind="scan")


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
@given(values=VALUES, hundredths=some.integers(0, 100))
def test_the_chart_has_the_order_of_the_ranking_between_its_break_points(
    fusion: str, values: list[tuple[int | None, int | None]], hundredths: int
) -> None:
    pool, weight = pool_of(values), Fraction(hundredths, 100)
    config = Config(fusion=fusion, bm25_weight=round(1 - hundredths / 100, 2), vector_weight=hundredths / 100)

    chart = chart_of(pool, config)

    if weight not in chart.weights:  # on one, floats may round what is a tie in fractions
        assert list(top_at(chart, weight)) == rank(pool, config).order[:DEPTH]


@given(values=VALUES, hundredths=some.integers(0, 100))
def test_the_gauge_spans_the_weights_that_keep_the_order_and_those_that_keep_the_set(
    values: list[tuple[int | None, int | None]], hundredths: int
) -> None:
    weight = Fraction(hundredths, 100)
    chart = chart_of(pool_of(values), Config())

    gauge = gauge_at(chart, weight)

    assert gauge.order.holds(weight)
    assert gauge.members.low <= gauge.order.low <= gauge.order.high <= gauge.members.high
    middle = (gauge.order.low + gauge.order.high) / 2
    assert top_at(chart, middle) == top_at(chart, weight)
    assert gauge.fragile == (gauge.distance is not None and gauge.distance < 0.02)


@given(values=VALUES, columns=some.integers(1, 40))
def test_what_is_drawn_is_the_order_in_the_middle_of_each_column(
    values: list[tuple[int | None, int | None]], columns: int
) -> None:
    chart = chart_of(pool_of(values), Config())

    middles = [Fraction(2 * column + 1, 2 * columns) for column in range(columns)]

    assert tops_over(chart, columns) == [top_at(chart, middle) for middle in middles]


def crossing() -> Pool:
    """Two candidates that change places at 1/2."""
    return pool_of([(8, 0), (0, 8)])


def test_a_narrow_stretch_is_called_fragile_by_a_word_and_a_sign() -> None:
    chart = chart_of(crossing(), Config())

    near, far = (verdict(chart, gauge_at(chart, Fraction(at, 100)), 80, UNICODE) for at in (49, 20))
    narrow, narrower = (verdict(chart, gauge_at(chart, Fraction(1, 5)), cells, UNICODE) for cells in (38, 34))

    assert flips(chart) == (Fraction(1, 2),)
    assert near == ["✗ top 2 fragile, 0.010 from a flip · █ order 0.00-0.50 · ▒ set 0.00-1.00"]
    assert far == ["✓ top 2 steady, 0.300 from a flip · █ order 0.00-0.50 · ▒ set 0.00-1.00"]
    assert narrow == ["✓ top 2 steady, 0.300 from a flip", "█ order 0.00-0.50 · ▒ set 0.00-1.00"]
    assert narrower[-2:] == ["█ order 0.00-0.50", "▒ set 0.00-1.00"]


def test_where_rows_are_few_the_first_ranks_have_one_each() -> None:
    chart = chart_of(pool_of([(9, 1), (8, 2), (7, 3), (6, 4)]), Config())

    drawn = [line.plain for line in rank_lines(chart, Fraction(0), None, (12, 3), UNICODE)]

    assert [line[:2] for line in drawn] == ["1 ", "2 ", "3 "]


def test_a_rank_that_one_of_the_first_takes_over_goes_on_where_rows_are_fewer_than_ranks() -> None:
    chart = chart_of(crossing(), Config())

    (drawn,) = rank_lines(chart, Fraction(1, 5), None, (12, 1), ASCII)

    assert drawn.plain.startswith("1 ")
    assert " " not in drawn.plain[2:]


def test_ticks_and_band_share_a_line_where_lines_are_short() -> None:
    chart = chart_of(pool_of([(9, 1), (8, 2), (1, 9)]), Config())
    weight = Fraction(1, 20)

    ticks, band = (line.plain for line in scale(chart, weight, 42, ASCII))
    (joint,) = (line.plain for line in scale(chart, weight, 42, ASCII, joint=True))

    inside = [at for at, mark in enumerate(ticks) if mark == "'" and band[at] == "#"]
    assert ticks.count("'") - len(inside) == joint.count("'") > 0
    assert [mark for mark in joint if mark != "'"] == [mark for at, mark in enumerate(band) if joint[at] != "'"]


def test_lines_that_cross_change_rows_at_their_break_point() -> None:
    chart = chart_of(crossing(), Config())

    drawn = [line.plain for line in rank_lines(chart, Fraction(1, 5), None, (12, 2), ASCII)]

    assert [line[:2] for line in drawn] == ["1 ", "2 "]
    assert [line[4] for line in drawn] == ["|", "|"]  # the weight as it is
    assert {line[7] for line in drawn} <= {"|", "+"}
    assert all(line[at] == "-" for line in drawn for at in (2, 3, 5, 9, 11))
