"""Packing for value: the whole chunks within the budget whose scores have the highest sum."""

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
    """A packable item. group: items of one group count against the same cap."""

    value: int
    cost: int
    group: str = ""


class _Layer(NamedTuple):
    """The best values after a group, and for each of its items where taking it was at least as good.

    The latter is one bit for every room left in the group (rows) and every capacity left (columns).
    """

    members: list[int]
    taken: list[NDArray[np.uint8]]


def choose(things: Sequence[Thing], *, capacity: int, cap: int = 0) -> tuple[int, ...]:
    """Return the positions of the most valuable choice, in order; its costs add up to at most capacity.

    Ties go to the choice that takes earlier items. Dynamic programming over capacity (Bellman 1957), one layer per
    item and, with a cap, a count within its group: O(things x capacity x cap) time, and one bit of memory for each.
    cap: the most items of one group, 0 for no cap.
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
    """Return an upper bound of any choice's value: the best if items may be cut (Dantzig 1957). Ignores caps."""
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
    """Return the best choice. Layers go from the last group to the first, so walking back decides the earliest items
    first.
    """
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
    """Return the most valuable context of whole, unmerged chunks from the best 200 candidates and later pinned ones.

    A hit is worth its score (1 without one) and costs its header, text and separator. This is an exact 0/1 knapsack;
    ties go to better ranks. Pinned hits go in first, in rank order, while they fit. Blocks are in rank order. No
    chunk is cut, so a larger budget may show other chunks, but never lowers the value. If everything that the cap
    allows fits, later candidates follow in rank order up to the first misfit. Of candidates with the same text, only
    the first that is not dropped counts. If a counter does not add up over blocks, the choice repeats with less room
    until the text fits. Arguments as for `greedy.pack`. injected: hits with a reserved budget, see `reserve`; they
    come last, and one of them may be cut.
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
    """Yield for each text the first candidate that is not dropped, else the first. takers: by rank."""
    for first in candidates:
        takers[first.rank] = taker = Taker(first, alike)
        skipped: list[Omission] = []
        while taker.hit is not None and chunk_of(taker.hit).id in dropped:
            skipped.append(omission("dropped", taker.hit))
            taker.pass_over()
        passed_over += skipped if taker.hit is not None else skipped[1:]
        yield first if taker.hit is None else taker.hit


class _Below:
    """The candidates after the best, without pinned ones, read on demand.

    read: those read so far, in rank order.
    """

    def __init__(self, stream: Iterator[Hit], settled: frozenset[str]) -> None:
        self.read: list[Hit] = []
        self._stream = stream
        self._settled = settled

    def free(self) -> Iterator[Hit]:
        """Yield the packable candidates, from the first one on each call."""
        for place in count():
            if place == len(self.read):
                hit = next(self._stream, None)
                if hit is None:
                    return
                self.read.append(hit)
            if _is_free(self.read[place], self._settled):
                yield self.read[place]


def _is_free(hit: Hit, settled: frozenset[str]) -> bool:
    """Return True for a hit with text that is neither pinned nor dropped."""
    return bool(chunk_of(hit).text) and chunk_of(hit).id not in settled


def _further_pins(stream: Iterator[Hit], waiting: frozenset[str]) -> tuple[list[Hit], list[Hit]]:
    """Return the pinned hits after the best, read up to the last of them, and the other hits on the way."""
    found: list[Hit] = []
    passed: list[Hit] = []
    while len(found) < len(waiting) and (hit := next(stream, None)) is not None:
        (found if chunk_of(hit).id in waiting else passed).append(hit)
    return found, passed


def value_of(hit: Hit) -> int:
    """Return a hit's value in units of 1e-9. A hit without a score counts as 1."""
    return VALUE_SCALE if hit.score is None else max(0, round(hit.score * VALUE_SCALE))


def cost_of(sheet: Layout, hit: Hit, *, number: int) -> int:
    """Return a hit's cost in a block of its own, including the separator."""
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
    """Return the choice for the most room that lets the text fit. apart: hits packed elsewhere, which count for the
    cap.
    """
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
    number = len(fixed) + len(free)  # the widest number in a header
    capacity = budget_tokens + sheet.gap_tokens  # the first block has no separator
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
    """Return the choice without a budget: the most valuable items of each document, as many as the cap allows."""
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
    """Return the next hits in rank order, without those over the cap, up to the first misfit.

    Added to a choice that no larger budget changes, this list too only grows with the budget.
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
    """Return the best choice after the pinned hits.

    Pinned hits use up part of their documents' share. They join as items of cost 0 that are worth more than all
    others together, so they are always chosen.
    """
    precious = sum(thing.value for thing in things) + 1
    pinned = [Thing(precious, 0, hit.doc.path) for hit in kept]
    taken = choose([*pinned, *things], capacity=capacity, cap=diversity)
    return tuple(position - len(pinned) for position in taken if position >= len(pinned))


def _drafts(sheet: Layout, hits: Sequence[Hit]) -> list[Draft]:
    return [whole(sheet, hit, number=number) for number, hit in enumerate(hits, 1)]


def _left_out(
    hits: Iterable[Hit], chosen: Sequence[Hit], apart: Sequence[Hit], diversity: int, dropped: frozenset[str]
) -> list[Omission]:
    """Return why each other hit was not chosen, by rank. apart: hits packed elsewhere, which count for the cap."""
    ranks = {hit.rank for hit in chosen}
    left = sorted((hit for hit in hits if hit.rank not in ranks), key=lambda hit: hit.rank)
    return [_omission(hit, [*chosen, *apart], diversity, dropped) for hit in left]


def _copies(
    hits: Iterable[Hit], drafts: Iterable[Draft], takers: Mapping[int, Taker], alike: Alike
) -> Iterator[Omission]:
    """Yield candidates whose text is packed whole with another candidate."""
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
