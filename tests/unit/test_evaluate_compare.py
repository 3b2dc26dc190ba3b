"""Intervals and paired tests: reproducible, exact for few queries, and right in known cases."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from recall_core.evaluate.figures import compare_columns, intervals, sign_flip


def test_interval_contains_the_mean_and_is_reproducible() -> None:
    draw = np.random.default_rng(1)
    columns = draw.random((3, 60)).tolist()

    found = intervals(columns)

    assert found == intervals(columns)
    assert all(low < np.mean(column) < high for (low, high), column in zip(found, columns, strict=True))


def test_interval_is_as_wide_as_the_standard_error() -> None:
    column = np.random.default_rng(2).normal(size=400)

    low, high = intervals([column.tolist()])[0]

    assert high - low == pytest.approx(2 * 1.96 * column.std() / 20, rel=0.08)


def test_equal_values_have_no_width() -> None:
    assert intervals([[0.5, 0.5, 0.5]]) == [(0.5, 0.5)]
    assert intervals([[0.25]]) == [(0.25, 0.25)]


def test_p_of_few_queries_counts_all_sign_assignments() -> None:
    differences = np.array([0.3, -0.1, 0.2, 0.05, 0.0])
    sums = [abs(sum(s * d for s, d in zip(signs, differences, strict=True))) for signs in product((1, -1), repeat=5)]

    found = sign_flip(differences[:, None])

    assert found == [round(sum(total >= 0.45 - 1e-9 for total in sums) / 32, 6)]


def test_p_of_many_queries_separates_real_differences() -> None:
    noise = np.random.default_rng(3).normal(size=200)

    real, none = sign_flip(np.stack([noise + 1, noise - noise.mean()], axis=1))

    assert real == round(1 / 10_001, 6)
    assert none > 0.9


def test_p_is_uniform_without_a_difference() -> None:
    draw = np.random.default_rng(4)

    chances = sign_flip(draw.normal(size=(40, 300)))

    assert 0.02 <= np.mean(np.array(chances) < 0.05) <= 0.09


def test_wins_losses_and_verdicts() -> None:
    before = [0.0] * 12
    better, worse, mixed = [1.0] * 12, [-1.0] * 11 + [1e-12], [1.0, -1.0] * 6

    found = compare_columns([better, worse, mixed, before], [before] * 4)

    assert [each.verdict for each in found] == [
        "better",
        "worse",
        "no significant difference",
        "no significant difference",
    ]
    assert [(each.wins, each.losses, each.ties) for each in found] == [(12, 0, 0), (0, 11, 1), (6, 6, 0), (0, 0, 12)]
    assert [each.p for each in found][2:] == [1.0, 1.0]
    assert str(found[3].difference) == "0.0"
