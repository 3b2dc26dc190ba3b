"""For any lines, depth and ties, the sweep equals a new ranking at every weight."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise, product
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.config import Config
from recall_core.explain.lines import (
    Lines,
    contenders,
    lines_of,
    order_at,
    reciprocal_lines,
    scores_at,
    weight_of,
    weighted_lines,
)
from recall_core.explain.sweep import Interval, intersect, nearest, stability, stretches, sweep, top_at, weight_inside
from recall_core.explain.winning import pin_weights, rank_line, ranked_where, together, winning_weights
from recall_core.rank.fuse import rank
from recall_core.types import Key, Pool
from tests.examples import examples

# Few distinct values, so that ties, doubles and coincident crossings are common; and fine ones as in practice.
coarse = st.integers(0, 6).map(lambda tenths: tenths / 10)
fine = st.integers(0, 1_000_000).map(lambda millionths: millionths / 1_000_000)
values = st.one_of(coarse, fine)


@st.composite
def any_lines(draw: st.DrawFn) -> Lines:
    column = draw(st.sampled_from([coarse, fine, values]))
    n = draw(st.integers(0, 9))
    if draw(st.booleans()):
        return reciprocal_lines(draw(ranks(n)), draw(ranks(n)), draw(st.sampled_from([0, 1, 60])))
    return weighted_lines(*(draw(st.lists(column, min_size=n, max_size=n)) for _ in range(2)))


@st.composite
def ranks(draw: st.DrawFn, n: int) -> list[int | None]:
    return [draw(st.sampled_from([each, each, None])) for each in draw(st.permutations(range(1, n + 1)))]


depths = st.integers(1, 11)
WANTS: tuple[Literal["in", "out"], ...] = ("in", "out")


def ranked_again(lines: Lines, w: Fraction) -> list[int]:
    scores = [(1 - w) * a + w * b for a, b in zip(lines.a, lines.b, strict=True)]
    return sorted(range(len(scores)), key=lambda i: (-scores[i], i))


def every_crossing(lines: Lines) -> list[Fraction]:
    """Return 0, 1 and each weight between them at which two candidates have equal scores."""
    found = {Fraction(0), Fraction(1)}
    for i in range(len(lines.a)):
        for j in range(i):
            da, db = lines.a[i] - lines.a[j], lines.b[i] - lines.b[j]
            if da != db and 0 < Fraction(da, da - db) < 1:
                found.add(Fraction(da, da - db))
    return sorted(found)


def every_piece(lines: Lines) -> list[Fraction]:
    """Return all crossings and one weight between each two."""
    crossings = every_crossing(lines)
    return sorted([*crossings, *((low + high) / 2 for low, high in pairwise(crossings))])


@given(any_lines(), depths)
def test_sweep_matches_ranking_at_every_weight(lines: Lines, k: int) -> None:
    swept = sweep(lines, k)

    for w in every_piece(lines):
        assert top_at(swept, w) == ranked_again(lines, w)[:k]


@given(any_lines(), depths)
def test_every_break_point_changes_something(lines: Lines, k: int) -> None:
    swept = sweep(lines, k)
    rows = swept.orders.tolist()

    assert all(low < high for low, high in pairwise(swept.weights))
    for at in range(1, len(swept.weights) - 1):
        assert rows[2 * at - 1] != rows[2 * at + 1]


@given(any_lines(), depths)
def test_only_contenders_reach_the_top(lines: Lines, k: int) -> None:
    seen = {i for w in every_piece(lines) for i in ranked_again(lines, w)[:k]}

    assert seen <= set(contenders(lines, k))


@examples(20)
@given(any_lines(), depths)
def test_winning_weights_are_exact(lines: Lines, k: int) -> None:
    for x in range(len(lines.a)):
        found = winning_weights(lines, x, k)
        ranks = {w: ranked_again(lines, w).index(x) + 1 for w in every_piece(lines)}
        for w, rank_there in ranks.items():
            assert any(each.holds(w) for each in found.intervals) == (rank_there <= k)
            assert any(each.holds(w) for each in found.best_at) == (rank_there == found.best_rank)
        assert found.best_rank == min(ranks.values())
        always = [y for y in range(len(lines.a)) if all(leads(lines, w, y, x) for w in ranks)]
        assert list(found.always_ahead) == always


def leads(lines: Lines, w: Fraction, y: int, x: int) -> bool:
    order = ranked_again(lines, w)
    return order.index(y) < order.index(x)


@given(any_lines())
def test_rank_line_changes_at_every_step(lines: Lines) -> None:
    for x in range(len(lines.a)):
        steps = rank_line(lines, x).steps
        for w in every_piece(lines):
            assert [rank for where, rank in steps if where.holds(w)] == [ranked_again(lines, w).index(x) + 1]
        assert all(left != right for (_, left), (_, right) in pairwise(steps))


@examples(40)
@given(any_lines(), depths, st.data())
def test_text_ranks_as_its_best_copy_at_every_weight(lines: Lines, k: int, data: st.DataObject) -> None:
    texts = [data.draw(st.integers(0, 3)) for _ in lines.a]
    standing = {w: firsts_of_texts(lines, texts, w) for w in every_piece(lines)}
    for x, text in enumerate(texts):
        ranks = {w: list(firsts).index(text) + 1 for w, firsts in standing.items()}
        found, steps = winning_weights(lines, x, k, texts), rank_line(lines, x, texts).steps
        on_page = ranked_where(lines, x, lambda ranks: ranks <= k, texts)
        for w, rank_there in ranks.items():
            where = (x, w, texts)
            assert [rank for each, rank in steps if each.holds(w)] == [rank_there], where
            assert any(each.holds(w) for each in found.intervals) == (rank_there <= k), where
            assert any(each.holds(w) for each in found.best_at) == (rank_there == found.best_rank), where
            assert any(each.holds(w) for each in on_page) == (x in list(standing[w].values())[:k]), where
        assert found.best_rank == min(ranks.values())
        ahead = [set(list(firsts)[: ranks[w] - 1]) for w, firsts in standing.items()]
        assert list(found.always_ahead) == sorted(texts.index(each) for each in set.intersection(*ahead))


def firsts_of_texts(lines: Lines, texts: list[int], w: Fraction) -> dict[int, int]:
    """Return the best-ranked candidate of each text, best first."""
    firsts: dict[int, int] = {}
    for position in ranked_again(lines, w):
        firsts.setdefault(texts[position], position)
    return firsts


@given(any_lines(), depths, st.data())
def test_pins_hold_exactly_where_all_wishes_hold(lines: Lines, k: int, data: st.DataObject) -> None:
    if not lines.a:
        return
    pin = st.tuples(st.sampled_from(WANTS), st.integers(0, len(lines.a) - 1))
    where = {(want, x): pin_weights(lines, x, k, want) for want, x in data.draw(st.lists(pin, max_size=5))}

    intervals, conflict = together(where)

    for w in every_piece(lines):
        top = ranked_again(lines, w)[:k]
        holds = all((x in top) == (want == "in") for want, x in where)
        assert any(each.holds(w) for each in intervals) == holds
    if not intervals:
        assert together({each: where[each] for each in conflict})[0] == ()
        for each in conflict:
            assert together({other: where[other] for other in conflict if other != each})[0]


@given(any_lines(), depths, st.integers(0, 100))
def test_stability_is_the_distance_to_the_nearest_other_answer(lines: Lines, k: int, percent: int) -> None:
    w0 = Fraction(percent, 100)
    found = stability(sweep(lines, k), w0)

    for where, distance, view in (
        (found.order, found.order_distance, tuple[int, ...]),
        (found.members, found.members_distance, frozenset[int]),
    ):
        here = view(ranked_again(lines, w0)[:k])
        others = [w for w in every_piece(lines) if view(ranked_again(lines, w)[:k]) != here]
        assert where.holds(w0)
        assert not any(where.holds(w) for w in others)
        assert (distance is None) == (not others)
        if distance is not None and distance > 0:
            inside = [w0 - Fraction(distance) * 99 / 100, w0 + Fraction(distance) * 99 / 100]
            assert all(view(ranked_again(lines, w)[:k]) == here for w in inside if 0 <= w <= 1)


@given(any_lines(), depths, st.integers(0, 100))
def test_suggested_weight_wins(lines: Lines, k: int, percent: int) -> None:
    for x in range(len(lines.a)):
        found = winning_weights(lines, x, k)
        where = nearest(found.intervals, percent / 100)
        assert (where is None) == (found.intervals == ())
        weight = where and weight_inside(where, percent / 100)
        assert weight is not None or where is None or where.low == where.high
        if weight is not None:
            assert x in ranked_again(lines, Fraction(str(weight)))[:k]


@given(any_lines(), depths)
def test_member_intervals_join_order_intervals(lines: Lines, k: int) -> None:
    swept = sweep(lines, k)
    members = stretches(swept, members=True)

    assert all(left != right for (_, left), (_, right) in pairwise(members))
    for where, order in stretches(swept):
        middle = (where.low + where.high) / 2
        assert [m for there, m in members if there.holds(middle)] == [tuple(sorted(order))]


@st.composite
def unions(draw: st.DrawFn) -> tuple[Interval, ...]:
    """Return ascending intervals that do not touch."""
    lines = weighted_lines(*(draw(st.lists(coarse, min_size=4, max_size=4)) for _ in range(2)))
    return pin_weights(lines, draw(st.integers(0, 3)), 2, draw(st.sampled_from(WANTS)))


@given(unions(), unions())
def test_intersection_contains_what_both_contain(left: tuple[Interval, ...], right: tuple[Interval, ...]) -> None:
    both = intersect(left, right)

    marks = sorted({Fraction(0), Fraction(1), *(end for each in (*left, *right) for end in (each.low, each.high))})
    for w in [*marks, *((low + high) / 2 for low, high in pairwise(marks))]:
        held = [any(each.holds(w) for each in union) for union in (left, right, both)]
        assert held[2] == (held[0] and held[1])


def random_pool(rng: random.Random, n: int, decimals: int) -> Pool:
    keys = tuple(Key(i, i, f"{i:05}.txt", 0, 1) for i in range(n))
    lexical = tuple(round(rng.random() ** 2 * 10, decimals) if rng.random() < 0.7 else None for _ in range(n))
    semantic = tuple(round(rng.random(), decimals) if rng.random() < 0.95 else None for _ in range(n))
    return Pool(keys, lexical, semantic, 10.0, (), exact=True, index_kind="exact")


@pytest.mark.parametrize(("fusion", "decimals"), [("weighted", 6), ("weighted", 2), ("rrf", 6)])
def test_real_ranking_agrees_in_every_cell(fusion: str, decimals: int) -> None:
    """More than 2,000 cells for each of three kinds of pool, without a difference."""
    rng = random.Random(7)
    cells = 0
    while cells < 2_000:
        config = Config(fusion=fusion, normalize=rng.choice(["bound", "max", "minmax"]))
        pool = random_pool(rng, rng.randint(20, 120), decimals)
        swept = sweep(lines_of(pool, config), 10)
        for at, (low, high) in enumerate(pairwise(swept.weights)):
            w = float((low + high) / 2)
            again = rank(pool, config._replace(bm25_weight=1 - w, vector_weight=w)).order[:10]
            assert again == swept.orders[2 * at + 1].tolist(), (low, high)
            cells += 1


@pytest.mark.parametrize("whole", [10, 4, 7])
def test_real_ranking_agrees_at_every_crossing_of_tenths(whole: int) -> None:
    """All candidates with values in tenths, in one pool: at weights in tenths most of them tie."""
    tenths = [tenth / 10 for tenth in range(11)]
    columns = [tuple(column) for column in zip(*product(tenths, tenths), strict=True)]
    keys = tuple(Key(i, i, f"{i:05}.txt", 0, 1) for i in range(len(columns[0])))
    pool = Pool(keys, columns[0], columns[1], 1.0, (), exact=True, index_kind="exact")

    for lexical in range(whole + 1):
        config = Config(bm25_weight=lexical / 10, vector_weight=(whole - lexical) / 10)
        found, (scores, _) = rank(pool, config), scores_at(lines_of(pool, config), weight_of(config))
        assert list(found.order) == order_at(lines_of(pool, config), weight_of(config))
        assert len(set(found.scores)) == len(set(scores))


def test_sweep_repeats_to_the_byte() -> None:
    lines = lines_of(random_pool(random.Random(3), 150, 2), Config())

    one, two = sweep(lines, 10), sweep(lines, 10)

    assert (one.weights, one.orders.tobytes()) == (two.weights, two.orders.tobytes())
