"""Weights that satisfy wishes about single candidates, and contradictory wishes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from recall_core.explain.lines import weighted_lines
from recall_core.explain.sweep import Interval
from recall_core.explain.winning import pin_weights, together

# 0 leads on words, 1 on meaning, 2 is good in both and first from 3/8 to 5/8; 3 ranks nowhere.
LINES = weighted_lines([0.9, 0.1, 0.6, 0.0], [0.1, 0.9, 0.6, 0.0])
MIDDLE = Interval(Fraction(3, 8), Fraction(5, 8), low_open=True, high_open=True)


def grant(
    good: Sequence[int], bad: Sequence[int], k: int
) -> tuple[tuple[Interval, ...], tuple[tuple[str, int], ...]]:
    wishes = {("in", x): pin_weights(LINES, x, k, "in") for x in good}
    return together(wishes | {("out", x): pin_weights(LINES, x, k, "out") for x in bad})


def test_no_wish_allows_every_weight() -> None:
    assert grant((), (), 1) == ((Interval(Fraction(0), Fraction(1)),), ())


def test_good_and_bad_together_allow_weights_that_suit_both() -> None:
    assert grant([2], [], 1) == ((MIDDLE,), ())
    assert grant([2], [0], 2) == ((Interval(Fraction(1, 2), Fraction(1), low_open=True),), ())


def test_wish_for_out_can_allow_two_intervals() -> None:
    intervals, _ = grant([], [2], 1)
    assert [each.holds(0.5) for each in intervals] == [False, False]


def test_contradictory_wishes_give_a_minimal_conflict() -> None:
    assert grant([1, 2], [3], 1) == ((), (("in", 1), ("in", 2)))


def test_impossible_wish_is_the_conflict() -> None:
    assert grant([3, 2], [], 1) == ((), (("in", 3),))
