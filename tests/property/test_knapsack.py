"""The knapsack is exact: brute force finds nothing better, and the bound is never too low."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from recall_core.pack.optimal import Thing, bound, choose

things = st.lists(st.builds(Thing, st.integers(0, 9), st.integers(0, 12), st.sampled_from("abc")), max_size=9)


def brute(among: list[Thing], capacity: int, cap: int) -> int:
    best = 0
    for size in range(len(among) + 1):
        for chosen in combinations(among, size):
            if sum(thing.cost for thing in chosen) > capacity:
                continue
            if cap and any(n > cap for n in Counter(thing.group for thing in chosen).values()):
                continue
            best = max(best, sum(thing.value for thing in chosen))
    return best


@given(things, st.integers(0, 40), st.integers(0, 3))
def test_no_valid_choice_is_worth_more(among: list[Thing], capacity: int, cap: int) -> None:
    chosen = [among[position] for position in choose(among, capacity=capacity, cap=cap)]

    assert sum(thing.cost for thing in chosen) <= capacity
    assert not cap or all(n <= cap for n in Counter(thing.group for thing in chosen).values())
    assert sum(thing.value for thing in chosen) == brute(among, capacity, cap)
    assert sum(thing.value for thing in chosen) <= bound(among, capacity=capacity) + 1e-9


@given(st.lists(st.integers(1, 5), min_size=1, max_size=8), st.integers(0, 20))
def test_earliest_of_equal_choices_is_taken(costs: list[int], capacity: int) -> None:
    among = [Thing(1, costs[0]) for _ in costs]

    taken = choose(among, capacity=capacity)

    assert taken == tuple(range(len(taken)))
