"""The exact 0/1 knapsack with a cap on every group, and the bound that no choice can exceed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from recall_core._lazy import np
from recall_core.deadline import check

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Thing(NamedTuple):
    """Something that may be packed. group: things of one group count against the same cap."""

    value: int
    cost: int
    group: str = ""


class _Layer(NamedTuple):
    """The best values behind a group, and for each thing of it where taking it was at least as good,
    a bit for every room left in the group (rows) and every capacity left (columns)."""

    members: list[int]
    taken: list[NDArray[np.uint8]]


def choose(things: Sequence[Thing], *, capacity: int, cap: int = 0) -> tuple[int, ...]:
    """Positions of the things that together are worth most, in order; costs add up to no more than capacity.

    cap: most things of one group, 0 for no cap. Among choices of equal value, that which takes the earlier things.
    Dynamic programming over capacity (Bellman 1957), one layer a thing and, under a cap, a count within its group:
    O(things x capacity x cap) time, a bit for each of these in memory.
    """
    capacity = min(capacity, sum(thing.cost for thing in things))
    if capacity < 0:
        return ()
    if cap <= 0 and sum(thing.cost for thing in things) <= capacity:
        return tuple(range(len(things)))
    groups: dict[object, list[int]] = {}
    for position, thing in enumerate(things):
        groups.setdefault(thing.group if cap > 0 else position, []).append(position)
    return _chosen(things, list(groups.values()), capacity, cap if cap > 0 else 1)


def bound(things: Sequence[Thing], *, capacity: int) -> float:
    """What no choice is worth more than: the best value when things may be cut (Dantzig 1957). Caps are ignored."""
    left, value = capacity, 0.0
    for thing in sorted(things, key=_density, reverse=True):
        if thing.cost > left:
            return value + thing.value * left / thing.cost
        left -= thing.cost
        value += thing.value
    return value


def _density(thing: Thing) -> float:
    return thing.value / thing.cost if thing.cost > 0 else float("inf")


def _chosen(things: Sequence[Thing], groups: Sequence[Sequence[int]], capacity: int, cap: int) -> tuple[int, ...]:
    """Layers are built from the last group to the first, so that walking back decides the earliest things first."""

    best = np.zeros(capacity + 1, np.int64)
    layers: list[_Layer] = []
    for members in reversed(groups):
        allowed = min(cap, len(members))
        counted = [best] + [best] * allowed  # counted[c]: at most c things of this group so far
        taken: list[NDArray[np.uint8]] = []
        for position in reversed(members):
            check()
            thing = things[position]
            bits = np.zeros((allowed + 1, capacity + 1), np.bool_)
            following = list(counted)
            for room in range(1, allowed + 1):
                if thing.cost <= capacity:
                    with_it = counted[room - 1][: capacity + 1 - thing.cost] + thing.value
                    without = counted[room]
                    wins = with_it >= without[thing.cost :]
                    bits[room, thing.cost :] = wins
                    grown = without.copy()
                    grown[thing.cost :] = np.where(wins, with_it, without[thing.cost :])
                    following[room] = grown
            counted = following
            taken.append(np.packbits(bits, axis=1))
        best = counted[allowed]
        layers.append(_Layer(list(members), taken[::-1]))
    return tuple(sorted(_walk(things, layers[::-1], capacity, cap)))


def _walk(things: Sequence[Thing], layers: Sequence[_Layer], capacity: int, cap: int) -> list[int]:
    chosen: list[int] = []
    left = capacity
    for layer in layers:
        room = min(cap, len(layer.members))
        for position, bits in zip(layer.members, layer.taken, strict=True):
            if room and bits[room, left >> 3] >> (7 - (left & 7)) & 1:
                chosen.append(position)
                left -= things[position].cost
                room -= 1
    return chosen
