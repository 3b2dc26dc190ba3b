"""Figures shown with three decimals add up to their shown total, and each is near its value."""

from __future__ import annotations

from math import fsum

from hypothesis import given
from hypothesis import strategies as st

from recall_tui.widgets.draw import keep_sign, number, round_to_total

POINTS = st.floats(-0.5, 1.0, allow_nan=False).map(lambda value: round(value, 9))


@given(st.lists(POINTS, min_size=1, max_size=12))
def test_shown_parts_add_up_to_shown_total(values: list[float]) -> None:
    total = fsum(values)

    shown = round_to_total(values, total)

    assert f"{fsum(shown):.3f}" == f"{round(total * 1_000) / 1_000:.3f}"
    assert all(abs(one - other) < 0.001 + 1e-8 for one, other in zip(values, shown, strict=True))


@given(st.lists(st.lists(POINTS, min_size=1, max_size=6), min_size=1, max_size=3))
def test_nested_parts_add_up(groups: list[list[float]]) -> None:
    sums = [fsum(group) for group in groups]

    for group, total in zip(groups, round_to_total(sums, fsum(sums)), strict=True):
        assert f"{fsum(round_to_total(group, total)) + 0.0:.3f}" == f"{total + 0.0:.3f}"


@given(POINTS)
def test_value_that_rounds_to_zero_keeps_its_sign(value: float) -> None:
    said = number(keep_sign(value, round_to_total([value], value)[0]))

    assert said not in ("0.000", "-0.000") or value == 0


def test_values_that_miss_their_total_are_rounded_separately() -> None:
    assert round_to_total([0.1234, 0.2], 0.9) == [0.123, 0.2]
