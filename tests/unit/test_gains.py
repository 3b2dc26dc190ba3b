"""The value of a gain: formulas against hand-computed numbers, and simulated queries with a known truth."""

from __future__ import annotations

import os
from fractions import Fraction
from math import sqrt
from statistics import NormalDist, fmean

import numpy as np
import pytest

from recall_core.explain import advice as gains
from recall_core.explain.advice import (
    Advice,
    SureChange,
    advise_among,
    chance,
    draws,
    expected_gain,
    largest_by_chance,
    more_queries,
    power,
    shrunk,
    sure_change,
)
from recall_core.explain.curve import Step, StepCurve, means, step_curve, values_at

CELLS = 20
NORMAL = NormalDist()
TIMES = 4 if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else 1
"""How many times more queries are simulated at night."""


def step_of(cells: list[float]) -> Step:
    """Return a query with these values in cells of equal width."""
    weights = tuple(Fraction(place, len(cells)) for place in range(len(cells) + 1))
    pieces = [cells[0], *(value for cell in cells for value in (cell, cell))]
    exact = [round(value * 2**30) / 2**30 for value in pieces]
    return Step(weights, np.array([float(each) for each in weights]), np.array(exact))


def curve_of(values: np.ndarray) -> StepCurve:
    """Return (queries, cells) as a curve."""
    return step_curve([step_of(row) for row in values.tolist()])


def advise_on(values: np.ndarray) -> Advice:
    """Return the advice against the first cell."""
    curve = curve_of(values)
    return advise_among(curve, values_at(curve, 0.01), ())


def simulate(seed: int, *, queries: int, gain: float = 0.0, deviation: float = 0.2) -> np.ndarray:
    """Return queries whose cells rise from zero to this gain, with individual noise that grows with the distance."""
    rng = np.random.default_rng(seed)
    slope = np.linspace(0, 1, CELLS)
    luck = np.cumsum(rng.normal(0, deviation / sqrt(CELLS), (queries, CELLS)), axis=1)
    luck[:, 0] = 0
    return 0.5 + gain * slope + luck


def test_detectable_gain_follows_the_formula() -> None:
    found = power(np.array([0.1, -0.1, 0.3, 0.1]), 0.05)

    deviation = sqrt((0.0 + 0.04 + 0.04 + 0.0) / 3)
    assert found.deviation == pytest.approx(deviation)
    assert found.detectable == pytest.approx((1.959964 + 0.841621) * deviation / 2, abs=1e-6)
    assert found.more_queries == 21 - 4  # (2.801585 * .163299 / .1) ** 2 = 20.93


def test_required_queries_follow_the_formula() -> None:
    for gain, deviation, queries, more in [
        (0.02, 0.1, 50, 147),  # (2.801585 * .1 / .02) ** 2 = 196.22
        (0.02, 0.1, 196, 1),
        (0.02, 0.1, 197, 0),
        (0.02, 0.1, 500, 0),
        (0.1, 0.0, 12, 0),
        (0.0, 0.1, 50, None),
        (-0.02, 0.1, 50, None),
        (1e-5, 0.2, 50, None),  # thousands of millions
    ]:
        assert more_queries(gain, deviation, queries) == more, (gain, deviation, queries, more)


def test_single_or_equal_queries_give_no_power() -> None:
    assert power(np.array([0.3]), 0.3) == (None, None, None, None)
    assert power(np.zeros(12), 0.0) == (0.0, None, None, None)


def test_required_queries_find_the_gain_in_80_percent() -> None:
    gain, deviation, queries = 0.03, 0.15, 40
    more = more_queries(gain, deviation, queries)
    assert more is not None
    drawn = np.random.default_rng(3).normal(gain, deviation, (20_000, queries + more))

    found = drawn.mean(axis=1) > NORMAL.inv_cdf(0.975) * deviation / sqrt(queries + more)

    assert found.mean() == pytest.approx(0.8, abs=0.01)


def likelihood(mean: float, statistic: float, critical: float) -> float:
    passes = NORMAL.cdf(mean - critical) + NORMAL.cdf(-mean - critical)
    return NORMAL.pdf(statistic - mean) / passes


def test_statistic_at_the_threshold_shrinks_between_two_figures() -> None:
    for statistic, critical in ((2.0, 1.96), (2.5, 2.4), (3.0, 2.4), (3.2, 1.2), (4.5, 2.7)):
        means = np.arange(-6, 12, 0.002)
        values = np.array([likelihood(each, statistic, critical) for each in means.tolist()])
        likeliest, average = means[values.argmax()], (means * values).sum() / values.sum()

        shrunken = shrunk(statistic, critical)

        assert shrunken == pytest.approx((likeliest + average) / 2, abs=0.002), (statistic, critical)
        assert 0 < shrunken < statistic, (statistic, critical)


def test_statistic_far_above_the_threshold_stays() -> None:
    assert shrunk(9.0, 2.4) == pytest.approx(9.0, abs=1e-5)
    assert shrunk(2.5, 2.4) < 2.5 / 1.5


def passing_statistics(truth: float, critical: float) -> list[float]:
    """Return fifty evenly spaced statistics of this mean above the threshold."""
    drawn = np.random.default_rng(5).normal(truth, 1, 100_000)
    found: list[float] = np.quantile(drawn[drawn > critical], (np.arange(50) + 0.5) / 50).tolist()
    return found


def test_small_passed_effects_are_reported_less_exaggerated() -> None:
    for truth in (0.0, 0.5, 1.0, 2.0):
        looks = passing_statistics(truth, 2.4)

        reported = fmean(shrunk(each, 2.4) for each in looks)

        assert abs(reported - truth) < 0.6 * (fmean(looks) - truth), truth


def test_large_effects_lose_less_than_half_a_standard_error() -> None:
    for truth in (3.0, 4.0, 6.0):
        reported = fmean(shrunk(each, 2.4) for each in passing_statistics(truth, 2.4))

        assert -0.5 < reported - truth < 0.1, truth


def test_lower_of_two_corrections_applies() -> None:
    lucky = expected_gain(0.06, 0.05, statistic=2.5, critical=2.4)

    assert lucky == pytest.approx(0.06 * shrunk(2.5, 2.4) / 2.5)
    assert lucky < 0.05
    assert expected_gain(0.06, 0.05, statistic=9.0, critical=2.4) == 0.05
    assert expected_gain(0.06, 0.05, statistic=2.3, critical=None) == 0.05
    assert expected_gain(0.06, -0.01, statistic=9.0, critical=2.4) == -0.01


def test_pure_noise_has_no_expected_gain() -> None:
    advice = [advise_on(simulate(seed, queries=16)) for seed in range(20 * TIMES)]

    seen, expected = ([getattr(each, name) for each in advice] for name in ("gain", "expected_gain"))
    error = np.std(expected, ddof=1) / sqrt(len(advice))
    assert abs(fmean(expected)) < 2 * error
    assert fmean(seen) > 2.5 * sqrt(TIMES) * error


def test_expected_gains_match_true_gains() -> None:
    gain, seeds = 0.05, range(20, 40) if TIMES == 1 else range(120)
    advice = [advise_on(simulate(seed, queries=30, gain=gain)) for seed in seeds]
    recommended = [each for each in advice if each.refusal is None]

    seen, expected = (fmean(getattr(each, name) for each in recommended) for name in ("gain", "expected_gain"))
    assert len(recommended) > len(seeds) / 8
    assert seen > 1.5 * gain
    assert abs(expected - gain) < abs(seen - gain) / 3


def sure_change_of(
    curves: list[StepCurve], settings: list[int], *, weight: float = 0.025
) -> tuple[SureChange | None, np.ndarray]:
    current = values_at(curves[0], weight)
    largest = largest_by_chance(curves, current, draws(len(current)).signs)
    return sure_change(curves, current, weight, changed=settings, largest=largest.tolist()), largest


def test_smallest_sure_change_is_the_nearest_sure_weight() -> None:
    curve = curve_of(simulate(11, queries=60, gain=0.2))

    found, largest = sure_change_of([curve], [0])

    assert found is not None
    current = values_at(curve, 0.025)
    for hundredths in range(3, 100):
        gained = values_at(curve, hundredths / 100) - current
        size = sqrt((gained**2).sum())
        is_sure = hundredths % 5 and size > 0 and chance(largest, gained.sum() / size) <= 0.05
        if is_sure:
            break
    assert found.weight == hundredths / 100
    assert found.gains == tuple(gained.tolist())
    assert found.gain == pytest.approx(gained.mean())
    assert found.gain_ci.low > 0
    assert found.p <= 0.05
    assert 0 < found.expected_gain < found.gain
    best = (curve.places[:-1] + curve.places[1:])[means(curve).argmax()] / 2
    assert found.weight < best


def test_fewer_settings_precede_a_nearer_weight() -> None:
    rng = np.random.default_rng(2)
    now = rng.normal(0.5, 0.1, (30, 1)) + np.zeros((30, CELLS))
    far = now.copy()
    far[:, CELLS // 2 :] += 0.1 + rng.normal(0, 0.01, (30, 1))
    other = now + 0.1 + rng.normal(0, 0.01, (30, 1))

    def smallest(*curves: np.ndarray, settings: list[int]) -> tuple[int, float]:
        found, _ = sure_change_of([curve_of(each) for each in curves], settings)
        assert found is not None
        return found.curve, found.weight

    assert smallest(now, other, settings=[0, 1]) == (1, 0.025)
    assert smallest(far, other, settings=[0, 2]) == (0, 0.51)
    assert smallest(far, other, settings=[0, 1]) == (1, 0.025)
    assert smallest(now, other, other, settings=[0, 2, 1]) == (2, 0.025)


def test_noise_shows_no_more_sure_changes_than_chance() -> None:
    changes = [sure_change_of([curve_of(simulate(seed, queries=16))], [0])[0] for seed in range(25 * TIMES)]

    # Every twentieth is expected; more than this many come in 1 % of all cases.
    assert sum(each is not None for each in changes) <= (4 if TIMES == 1 else 11)


def test_same_judgements_give_the_same_figures() -> None:
    values = simulate(4, queries=30, gain=0.1)

    assert advise_on(values) == advise_on(values)
    assert sure_change_of([curve_of(values)], [0])[0] == sure_change_of([curve_of(values)], [0])[0]
    assert gains.POWER == 0.8
