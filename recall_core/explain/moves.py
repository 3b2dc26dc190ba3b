"""Two answers to one question, row by row: who moved, who came, who went, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from recall_core.explain.factors import Cause, Inputs, causes, inputs_at
from recall_core.explain.matching import Pair, across, same
from recall_core.explain.overlap import jaccard, rbo
from recall_core.ports import Store
from recall_core.retrieve import Answer

DEPTH = 100
"""Rows of each list that rank-biased overlap looks at: what lies below weighs 0.9 ** 100, less than 0.0001."""

Kind = Literal["same", "moved", "new", "gone"]
Absence = Literal["store", "filter", "no_match", "pool", "min_score"]
"""Why a row is not in a list: the store has none like it; the filter removes it; it has no word of the question, and
nothing else was asked; a bounded pool left it out; its score is below min_score."""


class Side(NamedTuple):
    """An answer and the store that gave it."""

    answer: Answer
    store: Store


class Standing(NamedTuple):
    """Where a row stands in one answer. rank: from 1 in the full list; None where it is absent.

    score, inputs: None where nothing was asked of a signal, or the row is not in the pool. injected: sparse-document
    recall gave it the rank; displaced: took its row away.
    """

    rank: int | None
    score: float | None
    inputs: Inputs | None
    absent: Absence | None
    injected: bool = False
    displaced: bool = False


class Move(NamedTuple):
    """A row in the first k of either list. causes: of the change of its score, where it has one on both sides."""

    pair: Pair
    kind: Kind
    a: Standing
    b: Standing
    causes: tuple[Cause, ...]


class Diff(NamedTuple):
    """Two answers compared. rbo: over the first `depth` rows; jaccard: over the first k.

    moves: rows in the first k of b in its order, then those that left, in the order of a.
    """

    rbo: float
    depth: int
    jaccard: float
    k: int
    moves: tuple[Move, ...]

    @property
    def first_changed(self) -> bool:
        """Another row is first, or there is none any more, or only now."""
        return any(1 in (move.a.rank, move.b.rank) and move.a.rank != move.b.rank for move in self.moves)


def diff(a: Side, b: Side, *, k: int) -> Diff:
    """The answer of b beside that of a, in their first k rows. Read both stores at one state."""
    depth = max(DEPTH, k)
    lists = [_first(side, depth) for side in (a, b)]
    table = a.answer.plan.table
    pairs = same(*lists) if a.store is b.store else across(lists[0], lists[1], (a.store, b.store), table=table)
    number_a = {pair.a: number for number, pair in enumerate(pairs) if pair.a is not None}
    number_b = {pair.b: number for number, pair in enumerate(pairs) if pair.b is not None}
    ranked_a, ranked_b = [number_a[rowid] for rowid in lists[0]], [number_b[rowid] for rowid in lists[1]]
    shown = dict.fromkeys([*ranked_b[:k], *ranked_a[:k]])
    chosen = [pairs[number] for number in shown]
    standings = _standings(a, [pair.a for pair in chosen]), _standings(b, [pair.b for pair in chosen])
    return Diff(
        rbo=rbo(ranked_a, ranked_b),
        depth=depth,
        jaccard=jaccard(ranked_a[:k], ranked_b[:k]),
        k=k,
        moves=tuple(_move(pair, *both, k=k) for pair, *both in zip(chosen, *standings, strict=True)),
    )


def _first(side: Side, depth: int) -> list[int]:
    """The rowids of the first rows."""
    found = side.answer
    if found.pool is None or found.ranked is None:
        return _scanned(side, depth)
    keys, order = found.pool.keys, found.ranked.order[: min(depth, found.total)]
    return [keys[position].doc_rowid if found.plan.table == "doc" else keys[position].rowid for position in order]


def _scanned(side: Side, depth: int | None) -> list[int]:
    plan = side.answer.plan
    _, rows = side.store.scan(plan.where, table=plan.table, order=plan.order, limit=depth, offset=0)
    return [doc if chunk is None else chunk for doc, chunk in rows]


def _standings(side: Side, rowids: Sequence[int | None]) -> list[Standing]:
    """The standing of each row, in order."""
    found = side.answer
    if found.pool is None or found.ranked is None:
        ranks = {rowid: rank for rank, rowid in enumerate(_scanned(side, None), start=1)}
        return [_unscored(rowid, ranks) for rowid in rowids]
    places = _places(found)
    missing = [rowid for rowid in rowids if rowid is not None and rowid not in places]
    passing = _passing(side, missing)
    displaced = set() if found.recall is None else {each.displaced for each in found.recall.given.values()}
    listed = []
    for rowid in rowids:
        if rowid is None:
            listed.append(Standing(None, None, None, "store"))
        elif rowid in places:
            listed.append(_placed(found, places[rowid], displaced))
        else:
            listed.append(Standing(None, None, None, _why_absent(found, rowid in passing)))
    return listed


def _unscored(rowid: int | None, ranks: dict[int, int]) -> Standing:
    if rowid is None:
        return Standing(None, None, None, "store")
    rank = ranks.get(rowid)
    return Standing(rank, None, None, "filter" if rank is None else None)


def _places(found: Answer) -> dict[int, int]:
    """rowid to its place in the full order, from 0."""
    assert found.pool is not None and found.ranked is not None  # noqa: S101, PT018 - the caller has looked
    keys, by_document = found.pool.keys, found.plan.table == "doc"
    return {
        keys[position].doc_rowid if by_document else keys[position].rowid: place
        for place, position in enumerate(found.ranked.order)
    }


def _placed(found: Answer, place: int, displaced: Iterable[int | None]) -> Standing:
    assert found.pool is not None and found.ranked is not None  # noqa: S101, PT018 - the caller has looked
    position = found.ranked.order[place]
    is_listed = place < found.total
    return Standing(
        rank=place + 1 if is_listed else None,
        score=found.ranked.scores[position],
        inputs=inputs_at(position, found.ranked, found.pool, found.plan.config),
        absent=None if is_listed else "min_score",
        injected=found.recall is not None and position in found.recall.given,
        displaced=position in displaced,
    )


def _passing(side: Side, rowids: Sequence[int]) -> set[int]:
    """Those of these rows that the filter lets through."""
    if not rowids:
        return set()
    plan = side.answer.plan
    if plan.table == "chunk":
        return {key.rowid for key in side.store.candidates(plan.where, rowids=rowids)}
    return {key.doc_rowid for key in side.store.candidates(plan.where)} & set(rowids)


def _why_absent(found: Answer, passes: bool) -> Absence:
    """Why a live row is not in the pool."""
    if not passes:
        return "filter"
    return "no_match" if found.exact else "pool"


def _move(pair: Pair, a: Standing, b: Standing, *, k: int) -> Move:
    inside = [each.rank is not None and each.rank <= k for each in (a, b)]
    kind: Kind = "moved"
    if not all(inside):
        kind = "new" if inside[1] else "gone"
    elif a.rank == b.rank:
        kind = "same"
    split = () if a.inputs is None or b.inputs is None else causes(a.inputs, b.inputs)
    return Move(pair, kind, a, b, split)
