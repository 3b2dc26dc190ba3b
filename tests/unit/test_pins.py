from __future__ import annotations

from fractions import Fraction

from recall_core.explain.intervals import Interval
from recall_core.explain.lines import weighted_lines
from recall_core.explain.winning import Pin, pin_weights, pinned, pins

# 0 leads on words, 1 on meaning, 2 is good in both and first from 3/8 to 5/8; 3 is nowhere.
LINES = weighted_lines([0.9, 0.1, 0.6, 0.0], [0.1, 0.9, 0.6, 0.0])
MIDDLE = Interval(Fraction(3, 8), Fraction(5, 8), low_open=True, high_open=True)


def test_wishes_become_pins_in_the_order_given() -> None:
    assert pins([2], [0, 1], [(3, 1)]) == (Pin("in", 2), Pin("out", 0), Pin("out", 1), Pin("above", 3, 1))


def test_no_wish_leaves_every_weight() -> None:
    assert pinned(LINES, (), 1).intervals == (Interval(Fraction(0), Fraction(1)),)


def test_good_and_bad_together_leave_the_weights_that_suit_both() -> None:
    assert pinned(LINES, pins([2], []), 1).intervals == (MIDDLE,)
    assert pinned(LINES, pins([2], [0]), 2).intervals == (Interval(Fraction(1, 2), Fraction(1), low_open=True),)


def test_above_is_a_matter_of_two() -> None:
    assert pin_weights(LINES, Pin("above", 1, 0), 1) == (Interval(Fraction(1, 2), Fraction(1), low_open=True),)
    assert pin_weights(LINES, Pin("above", 0, 1), 1) == (Interval(Fraction(0), Fraction(1, 2)),)


def test_the_union_of_several_intervals_is_kept() -> None:
    assert [each.holds(0.5) for each in pinned(LINES, pins([], [2]), 1).intervals] == [False, False]


def test_a_conflict_names_only_the_pins_that_need_each_other() -> None:
    found = pinned(LINES, pins([1, 2], [3], [(0, 1)]), 1)

    assert found.intervals == ()
    assert found.conflict == (Pin("in", 1), Pin("in", 2))


def test_a_wish_that_no_weight_grants_is_a_conflict_of_its_own() -> None:
    assert pinned(LINES, pins([3, 2], []), 1).conflict == (Pin("in", 3),)
