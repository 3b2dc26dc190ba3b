"""Packing for value: the choice of whole chunks whose scores add up to the most that fits the budget."""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, count, islice
from typing import TYPE_CHECKING, NamedTuple

from recall_core._lazy import np
from recall_core.config import OPTIMAL_ROWS, Config
from recall_core.deadline import check
from recall_core.pack.layout import (
    ALONE,
    Alike,
    Draft,
    Layout,
    Taker,
    chunk_of,
    fits,
    layout,
    omission,
    render,
    whole,
)
from recall_core.pack.reserve import context, fill, reserve, unseen_pins
from recall_core.text import Counter
from recall_core.types import Hit, Omission, Packed

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
    return _choose(things, list(groups.values()), capacity, cap if cap > 0 else 1)


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


def _choose(things: Sequence[Thing], groups: Sequence[Sequence[int]], capacity: int, cap: int) -> tuple[int, ...]:
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


VALUE_SCALE = 10**9
"""Scores are whole multiples of 1e-9 here, so that sums do not depend on their order."""


def pack_optimal(
    candidates: Iterable[Hit],
    *,
    total: int,
    budget_tokens: int,
    counter: Counter,
    config: Config,
    pinned: frozenset[str] = frozenset(),
    dropped: frozenset[str] = frozenset(),
    injected: Sequence[Hit] = (),
    alike: Alike = ALONE,
) -> Packed:
    """The most valuable context of whole, unmerged chunks among the best 200 candidates and the pinned ones below.

    Arguments as for `greedy.pack`. Where all that the cap allows of those fit together, the candidates below follow
    in rank order, up to the first that does not fit.

    A hit is worth its score (1 without one) and costs its header, its text and a separator. An exact 0/1 knapsack;
    ties go to the better ranks. Pinned hits go in first, in rank order, as far as they fit. Blocks stand in rank
    order. Nothing is cut, so a larger budget may show other chunks; raising it never lowers the value. injected: hits
    that have a part of the budget to themselves, see `reserve`; they stand last, and of them one may be cut.

    Of candidates with one text the first that is not dropped is looked at, and no other.

    Where a counter does not add up over blocks, the choice is made again with less room until the text fits.
    """
    sheet = layout(config, counter)
    takers, passed_over = dict[int, Taker](), list[Omission]()
    stream = _skip_dropped(candidates, dropped, alike, takers, passed_over)
    hits = list(islice(stream, OPTIMAL_ROWS))
    last = hits[-1].rank if hits else 0
    pins, passed = _further_pins(stream, pinned - dropped - {chunk_of(hit).id for hit in hits})
    hits += pins
    fixed = [hit for hit in hits if chunk_of(hit).id in pinned - dropped]
    settled = pinned | dropped
    own = reserve(injected, budget_tokens=budget_tokens, config=config, settled=settled, pins=fixed)
    apart = own.ranks
    hits = [hit for hit in hits if hit.rank not in apart]
    free = [hit for hit in hits if _is_free(hit, settled)]
    below = _Below((hit for hit in chain(passed, stream) if hit.rank not in apart), settled)
    room = budget_tokens - own.tokens
    chosen = _settle(sheet, fixed, free, below, own.hits, budget_tokens=room, diversity=config.diversity)
    hits += below.read
    ranked = _drafts(sheet, chosen)
    least = config.min_fragment
    added = fill(sheet, own, ranked, budget_tokens=budget_tokens, min_fragment=least, widest=total, may_cut=True)
    drafts = [*ranked, *added.drafts]
    left_out = _left_out(hits, chosen, own.hits, config.diversity, dropped)
    omitted = [*left_out, *added.omitted, *_copies([*hits, *own.hits], drafts, takers, alike), *passed_over]
    unread = total - sum(each.chunks for each in omitted) - sum(len(each.block.ranks) for each in drafts)
    if unread:
        known = {hit.rank for hit in hits} | apart
        first = next(rank for rank in count(last + 1) if rank not in known)
        omitted.append(Omission("budget", first, unread, "", ""))
    warnings = unseen_pins(pinned - dropped - {chunk_of(hit).id for hit in hits})
    if hits and not drafts:
        warnings.append(f"W_BUDGET: no whole chunk fits into {budget_tokens} tokens; pack = rank cuts one")
    return context(
        sheet, drafts, own, added, total=total, budget_tokens=budget_tokens, omitted=omitted, warnings=warnings
    )


def _skip_dropped(
    candidates: Iterable[Hit],
    dropped: frozenset[str],
    alike: Alike,
    takers: dict[int, Taker],
    passed_over: list[Omission],
) -> Iterator[Hit]:
    """Of candidates with one text the first that is not dropped; where all are, the first. takers: by rank."""
    for first in candidates:
        takers[first.rank] = taker = Taker(first, alike)
        skipped: list[Omission] = []
        while taker.hit is not None and chunk_of(taker.hit).id in dropped:
            skipped.append(omission("dropped", taker.hit))
            taker.pass_over()
        passed_over += skipped if taker.hit is not None else skipped[1:]
        yield first if taker.hit is None else taker.hit


class _Below:
    """The candidates below the best, without the pinned ones, read as far as they are asked for.

    read: those that were, in rank order.
    """

    def __init__(self, stream: Iterator[Hit], settled: frozenset[str]) -> None:
        self.read: list[Hit] = []
        self._stream = stream
        self._settled = settled

    def free(self) -> Iterator[Hit]:
        """Those that may be packed, from the first one on each time."""
        for place in count():
            if place == len(self.read):
                hit = next(self._stream, None)
                if hit is None:
                    return
                self.read.append(hit)
            if _is_free(self.read[place], self._settled):
                yield self.read[place]


def _is_free(hit: Hit, settled: frozenset[str]) -> bool:
    """True for a hit with a text that is neither pinned nor dropped."""
    return bool(chunk_of(hit).text) and chunk_of(hit).id not in settled


def _further_pins(stream: Iterator[Hit], waiting: frozenset[str]) -> tuple[list[Hit], list[Hit]]:
    """The pinned hits below the best, read no further than the last of them, and the others on the way."""
    found: list[Hit] = []
    passed: list[Hit] = []
    while len(found) < len(waiting) and (hit := next(stream, None)) is not None:
        (found if chunk_of(hit).id in waiting else passed).append(hit)
    return found, passed


def value_of(hit: Hit) -> int:
    """A hit's worth in units of 1e-9; a hit without a score is worth 1."""
    return VALUE_SCALE if hit.score is None else max(0, round(hit.score * VALUE_SCALE))


def cost_of(sheet: Layout, hit: Hit, *, number: int) -> int:
    """What a hit costs in a block of its own, the separator included."""
    own = whole(sheet, hit, number=number)
    return own.lead_tokens + own.text_tokens + sheet.gap_tokens


def _settle(
    sheet: Layout,
    fixed: Sequence[Hit],
    free: Sequence[Hit],
    below: _Below,
    apart: Sequence[Hit],
    *,
    budget_tokens: int,
    diversity: int,
) -> list[Hit]:
    """The choice, for as much room as lets the text fit. apart: hits packed elsewhere, which count for the cap."""
    room = budget_tokens
    while room >= 0:
        check()
        chosen = _choice(sheet, fixed, free, below, apart, budget_tokens=room, diversity=diversity)
        if fits(sheet, _drafts(sheet, chosen), budget_tokens):
            return chosen
        room -= max(1, sheet.count(render(sheet, _drafts(sheet, chosen))) - budget_tokens)
    return []


def _choice(
    sheet: Layout,
    fixed: Sequence[Hit],
    free: Sequence[Hit],
    below: _Below,
    apart: Sequence[Hit],
    *,
    budget_tokens: int,
    diversity: int,
) -> list[Hit]:
    number = len(fixed) + len(free)  # the widest number that a header can show
    capacity = budget_tokens + sheet.gap_tokens  # the first block has no separator above it
    kept: list[Hit] = []
    for hit in fixed:
        cost = cost_of(sheet, hit, number=number)
        if cost <= capacity:
            kept.append(hit)
            capacity -= cost
    things = [Thing(value_of(hit), cost_of(sheet, hit, number=number), hit.doc.path) for hit in free]
    counted = [*kept, *apart]
    taken = _allow(counted, things, diversity)
    left = capacity - sum(things[position].cost for position in taken)
    if left < 0:
        taken = _beside(counted, things, capacity, diversity)
    chosen = [*kept, *(free[position] for position in taken)]
    if left >= 0:
        chosen += _following(sheet, [*chosen, *apart], below.free(), left, diversity)
    return sorted(chosen, key=lambda hit: hit.rank)


def _allow(kept: Sequence[Hit], things: Sequence[Thing], diversity: int) -> tuple[int, ...]:
    """What would be chosen without a budget: the most valuable things of each document, all that the cap allows."""
    shares = Counts(hit.doc.path for hit in kept)
    taken = []
    for position in sorted(range(len(things)), key=lambda position: (-things[position].value, position)):
        group = things[position].group
        if diversity <= 0 or shares[group] < diversity:
            shares[group] += 1
            taken.append(position)
    return tuple(sorted(taken))


def _following(
    sheet: Layout, counted: Sequence[Hit], below: Iterator[Hit], capacity: int, diversity: int
) -> list[Hit]:
    """The next ones in rank order, over the cap left out, up to the first that does not fit.

    Beside a choice that no larger budget changes, this too only grows with the budget.
    """
    shares = Counts(hit.doc.path for hit in counted)
    found: list[Hit] = []
    for hit in below:
        if 0 < diversity <= shares[hit.doc.path]:
            continue
        capacity -= cost_of(sheet, hit, number=len(counted) + len(found) + 1)
        if capacity < 0:
            break
        shares[hit.doc.path] += 1
        found.append(hit)
    return found


def _beside(kept: Sequence[Hit], things: Sequence[Thing], capacity: int, diversity: int) -> tuple[int, ...]:
    """The best choice beside the pinned hits. These use up some of their documents' share: they join as things that
    cost nothing and are worth more than all the others together, so that they are always chosen."""
    precious = sum(thing.value for thing in things) + 1
    pinned = [Thing(precious, 0, hit.doc.path) for hit in kept]
    taken = choose([*pinned, *things], capacity=capacity, cap=diversity)
    return tuple(position - len(pinned) for position in taken if position >= len(pinned))


def _drafts(sheet: Layout, hits: Sequence[Hit]) -> list[Draft]:
    return [whole(sheet, hit, number=number) for number, hit in enumerate(hits, 1)]


def _left_out(
    hits: Iterable[Hit], chosen: Sequence[Hit], apart: Sequence[Hit], diversity: int, dropped: frozenset[str]
) -> list[Omission]:
    """Why each hit that was not chosen is not, by rank. apart: hits packed elsewhere, which count for the cap."""
    ranks = {hit.rank for hit in chosen}
    left = sorted((hit for hit in hits if hit.rank not in ranks), key=lambda hit: hit.rank)
    return [_omission(hit, [*chosen, *apart], diversity, dropped) for hit in left]


def _copies(
    hits: Iterable[Hit], drafts: Iterable[Draft], takers: Mapping[int, Taker], alike: Alike
) -> Iterator[Omission]:
    """Candidates whose text is packed, whole, with another."""
    packed = {rank for each in drafts if not each.block.truncated for rank in each.block.ranks}
    for hit in hits:
        if hit.rank in packed:
            yield from (takers.get(hit.rank) or Taker(hit, alike)).copies()


def _omission(hit: Hit, chosen: Sequence[Hit], diversity: int, dropped: frozenset[str]) -> Omission:
    check()
    chunk = chunk_of(hit)
    if not chunk.text:
        return omission("empty", hit)
    if chunk.id in dropped:
        return omission("dropped", hit)
    if 0 < diversity <= sum(other.doc.path == hit.doc.path for other in chosen):
        return omission("diversity", hit)
    return omission("budget", hit)
