"""Shapley values: a difference split among what caused it, so that the shares add up to it."""

from __future__ import annotations

from collections.abc import Callable
from math import factorial, fsum

MOST = 12
"""Players up to which every coalition is looked at."""


def shapley(worth: Callable[[int], float], players: int) -> list[float]:
    """Each player's share of worth(all) - worth(none), exact over all 2 ** players coalitions (Shapley 1953).

    worth: of a coalition, a bit mask in which bit i stands for player i; asked once each. The shares add up to the
    difference but for the rounding of floats; a player who never matters gets exactly 0.
    """
    if players > MOST:
        raise ValueError(f"{players} players make too many coalitions")
    worths = [worth(coalition) for coalition in range(1 << players)]
    # How many orders of the players put this many of them before a given one, over all orders.
    chance = [factorial(size) * factorial(players - 1 - size) / factorial(players) for size in range(players)]
    return [
        fsum(
            chance[coalition.bit_count()] * (worths[coalition | 1 << player] - worths[coalition])
            for coalition in range(1 << players)
            if not coalition >> player & 1
        )
        for player in range(players)
    ]
