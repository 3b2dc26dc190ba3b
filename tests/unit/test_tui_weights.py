"""The figures of the weights pane are never rounded to values that do not hold."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from hypothesis import assume, given
from hypothesis import strategies as some

from recall_core.explain.sweep import Interval
from recall_tui.panes.plot import around, describe_curve, span
from recall_tui.panes.weights import form_lines, move, summary
from recall_tui.state.records import WeightsState
from recall_tui.state.session import Session
from recall_tui.state.tuning import Compared, ComparedRow, Curve
from recall_tui.widgets.draw import ASCII, UNICODE
from recall_tui.widgets.slider import in_hundredths

SHARES = some.fractions(0, 1, max_denominator=10**6)


def ends(text: str) -> tuple[Fraction, Fraction]:
    low, _, high = text.partition(" to ")
    return Fraction(low), Fraction(high or low)


def test_a_weight_range_uses_the_fewest_decimals_that_fit() -> None:
    for low, high, said in [
        (Fraction(0), Fraction(1), "0.00 to 1.00"),
        (Fraction("0.950792"), Fraction("0.954268"), "0.951 to 0.954"),
        (Fraction("0.319176"), Fraction("0.3191812"), "0.319176 to 0.319181"),
        (0.7266, 0.7744, "0.73 to 0.77"),
        (0.3, 0.7, "0.30 to 0.70"),
        (Fraction(1, 2), Fraction(1, 2), "0.50"),
        (Fraction("0.3175"), Fraction("0.3175"), "0.3175"),
        (Fraction(1, 3), Fraction(1, 3), "0.333333"),
    ]:
        assert span(low, high) == said, low


def test_an_open_end_is_excluded_from_a_range() -> None:
    assert span(Fraction("0.5"), Fraction("0.6"), low_open=True) == "0.51 to 0.60"
    assert span(Fraction("0.5"), Fraction("0.52"), low_open=True, high_open=True) == "0.501 to 0.519"
    assert span(Fraction(0), Fraction(1), high_open=True) == "0.00 to 0.99"


@given(one=SHARES, other=SHARES, low_open=some.booleans(), high_open=some.booleans())
def test_every_weight_in_a_range_lies_inside(one: Fraction, other: Fraction, low_open: bool, high_open: bool) -> None:
    assume(one != other)
    stretch = Interval(min(one, other), max(one, other), low_open, high_open)

    low, high = ends(span(stretch.low, stretch.high, low_open=low_open, high_open=high_open))

    assert stretch.holds(low)
    assert stretch.holds(high)


@given(one=some.floats(0, 1), other=some.floats(0, 1))
def test_a_confidence_interval_is_rounded_outwards(one: float, other: float) -> None:
    low, high = ends(around(min(one, other), max(one, other)))

    assert low <= Fraction(str(min(one, other)))
    assert Fraction(str(max(one, other))) <= high


def of_two(now: float, best: float, stretch: tuple[float, float] = (0.319176, 0.319181)) -> Curve:
    """Return a curve with this value at 0, and its best one in this interval."""
    places = (Fraction(0), *(Fraction(str(end)) for end in stretch), Fraction(1))
    values = (now, now, now, best, now, now, now)
    return Curve(1, ((places, values),), tuple(map(float, places)), (now, best, now), best, (stretch,), (stretch,))


def test_a_measure_is_best_only_if_it_reads_equal() -> None:
    for now, best, said in [
        (0.4034, 0.4036, "nDCG@10 (docs) 0.403, best 0.404 at 0.31918"),
        (0.4036, 0.4036, "nDCG@10 (docs) 0.404, the best"),
        (0.4036, 0.40364, "nDCG@10 (docs) 0.404, the best"),
        (0.3926, 0.4034, "nDCG@10 (docs) 0.393, best 0.403 at 0.31918"),
        (0.4026, 0.4034, "nDCG@10 (docs) 0.4026, best 0.4034 at 0.31918"),
        (0.5, 0.4, "nDCG@10 (docs) 0.500, the best"),
    ]:
        assert describe_curve(of_two(now, best), Fraction(0)) == said, (now, best, said)


def test_the_best_weight_is_exact_with_two_places() -> None:
    assert describe_curve(of_two(0.3, 0.4, (0.2, 0.4)), Fraction(0)) == "nDCG@10 (docs) 0.300, best 0.400 at 0.30"
    assert describe_curve(of_two(0.3, 0.4, (0.318, 0.321)), Fraction(0)) == "nDCG@10 (docs) 0.300, best 0.400 at 0.32"
    assert (
        describe_curve(of_two(0.3, 0.4, (0.318, 0.319)), Fraction(0)) == "nDCG@10 (docs) 0.300, best 0.400 at 0.3185"
    )


@given(share=some.floats(0, 1))
def test_the_weights_of_the_slider_sum_to_one(share: float) -> None:
    lexical, semantic = in_hundredths(share)

    assert Decimal(lexical) + Decimal(semantic) == 1
    assert abs(float(semantic) - share) <= 0.005 + 1e-9


def rows_of(others: list[int | None]) -> tuple[ComparedRow, ...]:
    return tuple(ComparedRow(rank, other, None) for rank, other in enumerate(others, start=1))


def test_the_counts_of_moved_rows_add_up() -> None:
    for saved, now, said in [
        ([1, 3, None], [1, None, 2], "top 3: 1 same, 1 moved, 1 new, 1 gone"),
        ([1, 2, 3], [1, 2, 3], "top 3: 3 same, 0 moved, 0 new, 0 gone"),
        ([7, 1, 2], [2, 3, 9], "top 3: 0 same, 2 moved, 1 new, 1 gone"),
    ]:
        shown = summary(Compared(rows_of(saved), rows_of(now)), 60, UNICODE).plain

        assert shown == said, saved
        _, same, moved, came, _ = map(int, re.findall(r"[0-9]+", shown))
        assert same + moved + came == len(now), saved


def test_a_move_is_described_in_the_row_s_direction() -> None:
    for rank, other, then, now in [
        (2, 2, "=", "="),
        (2, 5, "▼3", "▲3"),
        (5, 2, "▲3", "▼3"),
        (1, None, "gone", "new"),
    ]:
        row = ComparedRow(rank, other, None)

        assert (move(row, UNICODE, is_now=False), move(row, UNICODE, is_now=True)) == (then, now), then
        assert move(row, ASCII, is_now=True).isascii(), then


def test_a_setting_lists_its_choices_and_marks_one() -> None:
    session = Session(weights=WeightsState(tweaks={"normalize": "max"}))

    wide = {line.plain.strip("▶ ").split()[0]: line.plain for line in form_lines(session, (44, 99), UNICODE)}
    narrow = {line.plain.strip("▶ ").split()[0]: line.plain for line in form_lines(session, (30, 99), UNICODE)}

    assert wide["sparse_recall"].endswith("○ off  ● on")
    assert wide["normalize"].endswith("○ bound  ● max*  ○ minmax")
    assert narrow["normalize"].endswith("max*      ○●○")
    assert set("●○").isdisjoint(wide["min_score"])
