"""Copies: rows of a ranking with byte-equal texts. The first in order represents all; the others are collapsed.

Rows do not change otherwise: each keeps its score and its ledger, and the remaining rows keep their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Any, overload

from recall_core import rank
from recall_core.named import NamedTuple
from recall_core.rank.weighing import Ranking

_FIRST = 24  # positions looked at first, usually a page


class RepeatedTexts(NamedTuple):
    """Texts that appear more than once in a pool, regardless of its order."""

    numbers: Mapping[int, int]
    """Position to the number of its text; unique texts are left out."""
    rows: Mapping[int, Sequence[int]]
    """Number of a text to all of its positions, ascending."""

    @property
    def doubles(self) -> int:
        """Maximum number of rows that can be collapsed."""
        return len(self.numbers) - len(self.rows)


def texts_among(numbers: Mapping[int, int]) -> RepeatedTexts:
    """Return the repeated texts. numbers: position to the number of a text, some of which appear only once."""
    rows: dict[int, list[int]] = {}
    for position in sorted(numbers):
        rows.setdefault(numbers[position], []).append(position)
    rows = {text: alike for text, alike in rows.items() if len(alike) > 1}
    return RepeatedTexts({position: text for text, alike in rows.items() for position in alike}, rows)


class Copies:
    """The rows of a list that represent copies.

    ranking: all rows; the first `kept` are the list.
    least: min_score, below which a row is not in the list.
    leading: positions that represent their texts, each instead of the first row with the text.
    """

    def __init__(self, ranking: Ranking, texts: RepeatedTexts, *, least: float, leading: Sequence[int] = ()) -> None:
        self.ranking = ranking
        self._all = texts
        self._texts = texts.numbers
        self._least = least
        self._rows, doubles = texts.rows, texts.doubles
        if ranking.kept < len(ranking.scores):
            listed = self._listed(list(texts.numbers))
            self._rows = {text: [each for each in rows if each in listed] for text, rows in texts.rows.items()}
            doubles = sum(max(0, len(rows) - 1) for rows in self._rows.values())
        self._places: dict[int, int] | None = None
        self._leading = tuple(leading)
        self._instead: dict[int, int] = {}
        for position in leading:
            if (first := self._first(position)) is not None:
                self._instead.setdefault(first, position)
        come = sum(position not in self._of_text(position) for position in self._instead.values())
        self.kept = ranking.kept - doubles
        """Number of rows that are not collapsed."""
        self.struck = doubles + come
        """Number of collapsed rows of the list."""
        holds_all = len(ranking) == len(ranking.scores)  # a leading row from below min_score had followed the list
        self.size = len(ranking) - doubles - (come if holds_all else 0)
        """Number of rows that are not collapsed or are below min_score."""

    def led_by(self, positions: Iterable[int]) -> Copies:
        """Return the same list with these rows representing their texts; of two with one text, the first."""
        more = [position for position in positions if position in self._texts]
        if not more:
            return self
        return Copies(self.ranking, self._all, least=self._least, leading=(*self._leading, *more))

    def standing(self) -> Ranking:
        """Return the rows that are not collapsed, then those below min_score. Collapsed rows are left out."""
        if not self.struck:
            return self.ranking
        return self.ranking.reorder(_StandingPositions(self), kept=self.kept)

    def alike(self, position: int) -> Sequence[int]:
        """Return all candidates with the row's text, including itself, in the list or not."""
        text = self._texts.get(position)
        return (position,) if text is None else self._all.rows[text]

    @cached_property
    def text_numbers(self) -> Sequence[int]:
        """Number of each candidate's text, in the list or not: equal for copies."""
        return [self._texts.get(position, -1 - position) for position in range(len(self.ranking.scores))]

    def first(self, position: int) -> int:
        """Return the row that represents the row's text: the row itself if no row of the list does."""
        found = self._first(position)
        return position if found is None else self._instead.get(found, found)

    def is_struck(self, position: int) -> bool:
        """Return True if the row is in the list and another row represents it."""
        return position in self._of_text(position) and self.first(position) != position

    def behind(self, position: int) -> list[int]:
        """Return the rows collapsed into this row, in order."""
        if self.first(position) != position:
            return []
        return [each for each in self._in_order(self._of_text(position)) if each != position]

    def count_behind(self, position: int) -> int:
        """Return the number of rows collapsed into this row."""
        rows = self._of_text(position)
        if not rows or self.first(position) != position:
            return 0
        return len(rows) - (position in rows)

    def walk(self) -> Iterator[int]:
        """Yield the rows that are not collapsed, best first, reading the order only as far as needed."""
        order, kept = self.ranking.order, self.ranking.kept
        seen: set[int] = set()
        start, size = 0, _FIRST
        while start < kept:
            for position in order[start : min(kept, start + size)]:
                text = self._texts.get(position)
                if text is None:
                    yield position
                elif text not in seen:
                    seen.add(text)
                    yield self._instead.get(position, position)
            start, size = start + size, 2 * size

    def rest(self) -> Iterator[int]:
        """Yield the rows below min_score, computed on demand."""
        leading = frozenset(self._instead.values())
        yield from (each for each in self.ranking.order[self.ranking.kept :] if each not in leading)

    def _of_text(self, position: int) -> Sequence[int]:
        text = self._texts.get(position)
        return () if text is None else self._rows[text]

    def _first(self, position: int) -> int | None:
        rows = self._of_text(position)
        return self._in_order(rows)[0] if rows else None

    def _listed(self, positions: list[int]) -> frozenset[int]:
        """Return those of the positions that are in the list."""
        ranking = self.ranking
        is_short = ranking.kept <= len(positions)  # few rows are listed, so no score need be computed
        if is_short or isinstance(ranking.order, list):  # the order may come from ORDER BY and ignore scores
            return frozenset(ranking.order[: ranking.kept]).intersection(positions)
        scores = _values_at(ranking.scores, positions)
        return frozenset(each for each in positions if scores[each] >= self._least)

    def _in_order(self, positions: Sequence[int]) -> Sequence[int]:
        """Return rows of the list in ranking order. positions: in natural order."""
        if len(positions) < 2:
            return positions
        order = self.ranking.order
        if isinstance(order, list):
            if self._places is None:
                self._places = {each: at for at, each in enumerate(order) if each in self._texts}
            return sorted(positions, key=self._places.__getitem__)
        scores = _values_at(self.ranking.scores, positions)  # any other order is by score
        return sorted(positions, key=scores.__getitem__, reverse=True)


def _values_at(column: Sequence[float], positions: Sequence[int]) -> dict[int, float]:
    """Return the values at these positions; values on demand are computed together."""
    if isinstance(column, rank.estimates.OnDemand):
        column.prepare(sorted(positions))
    return {position: column[position] for position in positions}


class _StandingPositions(Sequence[int]):
    """Positions of `Copies.standing`, computed as far as they are read. Equal to the list of them."""

    __slots__ = ("_copies", "_known", "_walk")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, copies: Copies) -> None:
        self._copies = copies
        self._known: list[int] = []
        self._walk = chain(copies.walk(), copies.rest())

    def __len__(self) -> int:
        return self._copies.size

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, slice):
            places = range(len(self))[index]
            known = self._upto(max(places, default=-1) + 1)
            return [known[place] for place in places]
        place = range(len(self))[index]
        return self._upto(place + 1)[place]

    def __iter__(self) -> Iterator[int]:
        return iter(self[:])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Return the index of a value, like list.index."""
        return self[:].index(value, start, len(self) if stop is None else stop)

    def _upto(self, k: int) -> list[int]:
        """Return at least the first k positions."""
        self._known += islice(self._walk, max(0, k - len(self._known)))
        return self._known
