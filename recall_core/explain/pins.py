"""Tuning without judgements: the weights that keep what must be in the answer in it, and the rest out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Literal, NamedTuple, TypeVar

from recall_core.explain.intervals import Interval, intersect
from recall_core.explain.lines import Lines
from recall_core.explain.winning import ranked_where

Wish = TypeVar("Wish")

_ALL = (Interval(Fraction(0), Fraction(1)),)


class Pin(NamedTuple):
    """One wish about a candidate: in the top k, out of it, or above another candidate."""

    want: Literal["in", "out", "above"]
    candidate: int
    other: int | None = None
    """Whom it shall stand above."""


class Pinned(NamedTuple):
    """The weights that fulfil every pin; when there are none, pins of which no proper part is impossible."""

    intervals: tuple[Interval, ...]
    conflict: tuple[Pin, ...] = ()


def pins(good: Iterable[int], bad: Iterable[int], above: Iterable[tuple[int, int]] = ()) -> tuple[Pin, ...]:
    """Wishes as pins: good in the top k, bad out of it, the first of each pair above the second."""
    return (
        *(Pin("in", each) for each in good),
        *(Pin("out", each) for each in bad),
        *(Pin("above", upper, lower) for upper, lower in above),
    )


def pinned(lines: Lines, wanted: Sequence[Pin], k: int) -> Pinned:
    """The exact weights under which all pins hold together, or why there are none.

    The conflict is minimal, not smallest: take any one of its pins away and a weight exists for the others.
    """
    return Pinned(*together({pin: pin_weights(lines, pin, k) for pin in wanted}))


def pin_weights(lines: Lines, pin: Pin, k: int) -> tuple[Interval, ...]:
    """The weights under which one pin holds."""
    if pin.want == "in":
        return ranked_where(lines, pin.candidate, lambda ranks: ranks <= k)
    if pin.want == "out":
        return ranked_where(lines, pin.candidate, lambda ranks: ranks > k)
    x, y = pin.candidate, pin.candidate if pin.other is None else pin.other
    # In a pool of the two alone, natural order kept, above is first.
    first, second = sorted((x, y))
    pair = Lines((lines.a[first], lines.a[second]), (lines.b[first], lines.b[second]), lines.scale)
    return ranked_where(pair, int(x > y), lambda ranks: ranks == 1)


def together(where: Mapping[Wish, tuple[Interval, ...]]) -> tuple[tuple[Interval, ...], tuple[Wish, ...]]:
    """The weights that every wish allows; where there are none, wishes of which no proper part is impossible."""
    intervals = _shared(where.values())
    return (intervals, ()) if intervals else ((), _conflict(where))


def _shared(sets: Iterable[tuple[Interval, ...]]) -> tuple[Interval, ...]:
    return reduce(intersect, sets, _ALL)


def _conflict(where: Mapping[Wish, tuple[Interval, ...]]) -> tuple[Wish, ...]:
    """Drops each wish, last first, that the conflict does not need."""
    kept = dict(where)
    for wish in reversed(list(where)):
        rest = {each: sets for each, sets in kept.items() if each != wish}
        if not _shared(rest.values()):
            kept = rest
    return tuple(kept)
