from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise, product
from math import log2

import numpy as np
import pytest

from recall_core.explain import advice, curve
from recall_core.explain.advice import Advice, Band, advise
from recall_core.explain.curve import JudgedQuery, StepCurve, columns, means, step, step_curve, values_at
from recall_core.explain.lines import Lines, order_at, weighted_lines
from recall_core.explain.sweep import sweep

K = 3


def query(rng: random.Random, n: int, lift: float) -> tuple[Lines, JudgedQuery]:
    """Return a pool in which cosines separate the relevant candidates by `lift`, and words do not."""
    gains = tuple(float(rng.choice([0, 0, 0, 1, 2])) for _ in range(n))
    lexical = [round(rng.random(), 2) for _ in range(n)]
    semantic = [round(min(1, rng.random() * (1 - lift) + lift * gain / 2), 2) for gain in gains]
    return weighted_lines(lexical, semantic), JudgedQuery(gains, tuple(sorted((*gains, 2.0), reverse=True)))


def queries(count: int, *, lift: float = 0.5, n: int = 12, seed: int = 1) -> list[tuple[Lines, JudgedQuery]]:
    rng = random.Random(seed)
    return [query(rng, n, lift) for _ in range(count)]


def curve_of(given: list[tuple[Lines, JudgedQuery]]) -> StepCurve:
    return step_curve([step(sweep(lines, K), judged, curve.ndcg, K) for lines, judged in given])


def ndcg_by_hand(judged: JudgedQuery, order: list[int]) -> float:
    def discounted(gains: list[float]) -> float:
        return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains[:K], start=1))

    best = discounted(list(judged.ideal))
    return discounted([judged.gains[i] for i in order]) / best if best else 0.0


def test_metrics_match_their_definitions() -> None:
    gains, ideal = np.array([[0.0, 2.0, 1.0], [0.0, 0.0, 0.0]]), np.array([2.0, 1.0, 1.0, 0.0])

    found = {name: metric(gains, ideal, 3).tolist() for name, metric in curve.METRICS.items()}

    best = 2 + 1 / log2(3) + 1 / 2
    assert found["ndcg"] == pytest.approx([(2 / log2(3) + 1 / 2) / best, 0])
    assert found["recall"] == pytest.approx([2 / 3, 0])
    assert found["precision"] == pytest.approx([2 / 3, 0])
    assert found["mrr"] == pytest.approx([1 / 2, 0])


def test_metrics_of_empty_input_are_zero() -> None:
    for name in curve.METRICS:
        assert curve.METRICS[name](np.zeros((3, 0)), np.zeros(0), 10).tolist() == [0, 0, 0], name


def test_curve_is_the_mean_at_every_weight() -> None:
    given = queries(6)
    found = curve_of(given)

    for mean, (low, high) in zip(means(found), pairwise(found.places.tolist()), strict=True):
        weight = (Fraction(low) + Fraction(high)) / 2
        by_hand = [ndcg_by_hand(judged, order_at(lines, weight)) for lines, judged in given]
        assert mean == pytest.approx(sum(by_hand) / len(by_hand), abs=1e-9)


def test_adjacent_cells_differ() -> None:
    found = curve_of(queries(6))
    values = columns(found, slice(0, found.cells))

    assert found.cells > 20
    assert (values[:, 1:] != values[:, :-1]).any(axis=0).all()


def test_value_at_a_break_point_follows_the_natural_order() -> None:
    lines, judged = weighted_lines([0.5, 0.8, 0.2], [0.5, 0.2, 0.8]), JudgedQuery((1.0, 0.0, 0.0), (1.0,))
    found = step_curve([step(sweep(lines, 1), judged, curve.precision, 1)])

    assert [values_at(found, w).tolist() for w in (0.4, 0.5, 0.6)] == [[0.0], [1.0], [0.0]]
    assert means(found).tolist() == [0.0]


def test_block_size_does_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    found = curve_of(queries(12))
    whole = advise(found, 0.1)

    monkeypatch.setattr(curve, "BLOCK", 7)

    assert advise(found, 0.1) == whole


def test_order_of_queries_changes_no_sum() -> None:
    given = queries(9)

    assert means(curve_of(given)).tolist() == means(curve_of(given[::-1])).tolist()


def dense(found: StepCurve) -> np.ndarray:
    return columns(found, slice(0, found.cells))


def test_best_weights_are_all_cells_of_the_highest_mean() -> None:
    found = curve_of(queries(5))
    mean = means(found)

    told = advise(found, 0.0)

    assert told.best == mean.max()
    middles = (found.places[:-1] + found.places[1:]) / 2
    inside = [any(band.low < w < band.high for band in told.best_weights) for w in middles]
    assert inside == (mean == mean.max()).tolist()


def test_plateau_is_within_one_standard_error_of_the_best() -> None:
    found = curve_of(queries(20))
    told = advise(found, 0.0)
    values, widths = dense(found), np.diff(found.places)
    best = max(range(found.cells), key=lambda c: (means(found)[c], widths[c], -c))

    for cell, weight in enumerate((found.places[:-1] + found.places[1:]) / 2):
        behind = values[:, best] - values[:, cell]
        near = behind.mean() <= behind.std(ddof=1) / np.sqrt(len(behind))
        assert any(band.low < weight < band.high for band in told.plateau) == near
    assert all(left.high < right.low for left, right in pairwise(told.plateau))


def test_honest_gain_leaves_each_query_out_of_its_choice() -> None:
    found = curve_of(queries(8, lift=0.0))
    values, current, widths = dense(found), values_at(found, 0.3), np.diff(found.places)

    gains = []
    for left_out in range(8):
        others = np.delete(values, left_out, axis=0).sum(axis=0)
        best = max(range(found.cells), key=lambda c: (others[c], widths[c], -c))
        gains.append(values[left_out, best] - current[left_out])

    told = advise(found, 0.3)
    assert told.honest_gain == pytest.approx(np.mean(gains), abs=1e-12)
    assert told.honest_gain < told.gain


def test_few_queries_are_flipped_in_every_way() -> None:
    found = curve_of(queries(6))
    told = advise(found, 0.0)

    changes = dense(found) - values_at(found, 0.0)[:, None]
    flipped = [np.array(signs) @ changes for signs in product([1, -1], repeat=6)]
    gains = np.array(told.gains)
    alone = [abs(np.array(signs) @ gains) >= abs(gains.sum()) for signs in product([1, -1], repeat=6)]
    assert told.p_picked == np.mean([each.max() >= gains.sum() for each in flipped])
    assert told.p == np.mean(alone)


def test_helpful_signal_is_found_and_recommended() -> None:
    told = advise(curve_of(queries(40)), 0.0)

    assert told.refusal is None
    assert told.recommended is not None
    assert any(band.low < told.recommended < band.high for band in told.plateau)
    assert told.gain > 0.1
    assert told.gain_ci.low > 0
    assert told.best_weight_ci.low > 0.2
    assert told.p_picked <= 0.05


def test_winners_and_losers_are_sorted_by_gain_and_loss() -> None:
    told = advise(curve_of(queries(40, lift=0.2)), 0.5)

    won, lost = ([told.gains[query] for query in side] for side in (told.winners, told.losers))
    assert won == sorted((gain for gain in told.gains if gain > 0), reverse=True)
    assert lost == sorted(gain for gain in told.gains if gain < 0)
    assert won
    assert lost


def test_nothing_is_recommended_from_few_queries() -> None:
    told = advise(curve_of(queries(9)), 0.0)

    assert (told.recommended, told.refusal) == (None, "few_queries")


def test_nothing_is_recommended_when_chance_does_as_well() -> None:
    told = advise(curve_of(queries(20, lift=0.0)), 0.5)

    assert told.gain > 0
    assert (told.recommended, told.refusal) == (None, "not_significant")


def test_flat_curve_keeps_the_current_weight() -> None:
    flat = [(weighted_lines([0.5, 0.2], [0.5, 0.2]), JudgedQuery((1.0, 0.0), (1.0,)))] * 12

    told = advise(curve_of(flat), 0.4)

    assert (told.current, told.best, told.gain, told.p, told.p_picked) == (1, 1, 0, 1, 1)
    assert told.plateau == told.best_weights == (Band(0.0, 1.0),)
    assert told.refusal == "not_significant"


def test_one_query_draws_a_curve_but_gives_no_advice() -> None:
    told = advise(curve_of(queries(1)), 0.0)

    assert told.refusal == "few_queries"
    assert told.plateau == told.best_weights


def test_advice_is_reproducible() -> None:
    def once() -> Advice:
        return advise(curve_of(queries(15)), 0.2)

    assert once() == once()


def test_refusal_reasons_are_sorted_by_importance() -> None:
    refusal = advice._refusal

    assert refusal(9, 0.5, -1.0, -1.0) == "few_queries"
    assert refusal(10, 0.051, -1.0, -1.0) == "not_significant"
    assert refusal(10, 0.05, 0.0, -1.0) == "no_honest_gain"
    assert refusal(10, 0.05, 0.1, 0.0) == "plateau_not_better"
    assert refusal(10, 0.05, 0.1, 0.1) is None


def test_pick_among_curves_is_tested_against_all_curves() -> None:
    current, better, rival = (curve_of(queries(14, lift=lift, seed=3)) for lift in (0.0, 0.6, 0.5))
    before = values_at(current, 0.5)

    found = advice.advise_among(better, before, (current, rival))
    alone = advice.advise_among(better, before, ())

    cells = np.concatenate([dense(each) for each in (better, current, rival)], axis=1)
    others = cells.sum(axis=0) - cells
    left_out = [row[np.flatnonzero(rest == rest.max())].tolist() for row, rest in zip(cells, others, strict=True)]
    least, most = (np.mean([pick(values) for values in left_out]) - before.mean() for pick in (min, max))
    assert least - 1e-12 <= found.honest_gain <= most + 1e-12
    assert found.p_picked >= alone.p_picked
    assert (found.gain, found.p) == (alone.gain, alone.p)


def test_wild_weight_does_not_hide_a_sure_gain() -> None:
    spread = [0.9 if number % 2 else 0.0 for number in range(20)]
    sure = [step_of([0.45, 0.5, wild]) for wild in spread]

    found = advise(step_curve(sure), 0.1)

    assert found.gain == pytest.approx(0.05)
    assert found.p_picked < 0.05


def step_of(cells: list[float]) -> curve.Step:
    """Return a query with these values in three cells of equal width."""
    weights = tuple(Fraction(place, 3) for place in range(4))
    pieces = [cells[0], *(value for cell in cells for value in (cell, cell))]
    exact = [round(value * 2**30) / 2**30 for value in pieces]
    return curve.Step(weights, np.array([float(each) for each in weights]), np.array(exact))
