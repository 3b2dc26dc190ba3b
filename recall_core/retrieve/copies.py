"""Rows of an answer whose texts are equal, as the store reports them, and other places of such a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from recall_core.named import NamedTuple
from recall_core.rank.copies import Copies, RepeatedTexts, texts_among
from recall_core.rank.fuse import Same
from recall_core.rank.weighing import Ranking
from recall_core.retrieve.plan import Plan
from recall_core.store.port import Store
from recall_core.types import Twins

PLACES = 10
"""Number of other places that are reported for a text."""


def collapse(ranking: Ranking, numbers: Mapping[int, int], plan: Plan) -> Copies | None:
    """Return the copies among the rows of a ranking, or None if there are none or copies are shown.

    numbers: position to the number of a text, for texts that appear more than once in the store.
    """
    texts = _among(Same(numbers)) if plan.collapses else None
    return Copies(ranking, texts, least=plan.config.min_score) if texts is not None and texts.rows else None


@lru_cache(maxsize=2)
def _among(numbers: Same[Mapping[int, int]]) -> RepeatedTexts:
    """Return the repeated texts of a pool. Cached, because a new weight may bring the same numbers."""
    return texts_among(numbers.value)


class Scanned(NamedTuple):
    """Rows of a list without scores, in order, each text once. rows: (doc rowid, chunk rowid or None)."""

    rows: list[tuple[int, int | None]]
    first: Mapping[int, int]
    """chunk rowid of a collapsed row to that of the row that represents it."""

    def behind(self, rank: int) -> list[int]:
        """Return the chunk rowids of the copies collapsed into the row of this rank, in order."""
        own = self.rows[rank - 1][1]
        return [struck for struck, first in self.first.items() if first == own]


def scan(plan: Plan, store: Store) -> Scanned:
    """Return the whole list of a plan without signals, each text once."""
    _, rows = store.scan(plan.where, table=plan.table, order=plan.order, limit=None, offset=0)
    texts = store.same_texts([chunk or 0 for _, chunk in rows])
    shown: list[tuple[int, int | None]] = []
    of_text: dict[int, int] = {}
    first: dict[int, int] = {}
    for place, row in enumerate(rows):
        text, chunk = texts.get(place), row[1] or 0
        if text is None or text not in of_text:
            shown.append(row)
            if text is not None:
                of_text[text] = chunk
        else:
            first[chunk] = of_text[text]
    return Scanned(shown, first)


def list_rows(plan: Plan, store: Store, *, start: int, stop: int | None) -> list[tuple[int, int | None]]:
    """Return rows start + 1 to stop, or to the end, of a list without scores: (doc rowid, chunk rowid or None)."""
    if plan.collapses:
        return scan(plan, store).rows[start:stop]
    limit = None if stop is None else stop - start
    return store.scan(plan.where, table=plan.table, order=plan.order, limit=limit, offset=start)[1]


def twins_of(rowids: Sequence[int], plan: Plan, store: Store) -> dict[int, Twins | None]:
    """Return for each chunk the number of other passing chunks with its text, and the first ones; None for none."""
    twins: dict[int, Twins | None] = dict.fromkeys(rowids)
    alike = {own: frozenset(listed) - {own} for own, listed in store.twins(rowids).items()} if rowids else {}
    others = sorted(frozenset[int]().union(*alike.values()))
    passing = [key.rowid for key in store.candidates(plan.where, rowids=others)] if others else []
    found = {own: [each for each in passing if each in listed] for own, listed in alike.items()}
    first = list(dict.fromkeys(each for listed in found.values() for each in listed[:PLACES]))
    rows = {row.rowid: row for row in store.fetch(first)} if first else {}
    for own, listed in found.items():
        if listed:
            twins[own] = Twins(len(listed), tuple(rows[each] for each in listed[:PLACES]))
    return twins
