"""Two answers to one query, row by row: moves, arrivals, departures, their causes, and the overlap of the lists."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Literal, NamedTuple

from recall_core.explain.ledger import FactorShare, Inputs, causes, inputs_at, points_of
from recall_core.rank.columns import positions_of
from recall_core.retrieve.answer import Answer, is_distant, standing_for
from recall_core.retrieve.copies import list_rows, scan
from recall_core.store.port import Store
from recall_core.types import SIGNALS, Row, Signal, Table

PERSISTENCE = 0.9
"""The chance that a reader continues to the next row: ten rows on average (Webber, Moffat and Zobel 2010)."""


def rbo(a: Sequence[Hashable], b: Sequence[Hashable], *, p: float = PERSISTENCE) -> float:
    """Return the rank-biased overlap of two lists without repeats, 0 (disjoint) to 1 (equal).

    Top rows weigh most. This is the extrapolated form for lists of any length (Webber, Moffat and Zobel 2010,
    equation 32): it assumes that agreement continues past the ends. Two empty lists give 1; one empty list gives 0.
    """
    short, long = sorted((a, b), key=len)
    if list(a) == list(b):
        return 1.0
    if not short:
        return 0.0
    s, length = len(short), len(long)
    seen: set[Hashable] = set()
    common = [0]
    for depth in range(length):
        fresh = {long[depth], *short[depth : depth + 1]}
        new = [each for each in (long[depth], *short[depth : depth + 1]) if each in seen]
        equal = len(fresh) == 1 and depth < s
        common.append(common[-1] + len(new) + equal)
        seen |= fresh
    series = sum(common[depth] / depth * p**depth for depth in range(1, length + 1))
    series += sum(common[s] * (depth - s) / (s * depth) * p**depth for depth in range(s + 1, length + 1))
    value = (1 - p) / p * series + ((common[length] - common[s]) / length + common[s] / s) * p**length
    return min(1.0, value)


def jaccard(a: Sequence[Hashable], b: Sequence[Hashable]) -> float:
    """Return the size of the intersection over the size of the union; 1 if both lists are empty."""
    union = {*a, *b}
    return len(set(a) & set(b)) / len(union) if union else 1.0


class RowPair(NamedTuple):
    """The rowid of a row on each side (a chunk's, or a document's where rows are documents); None if absent."""

    a: int | None
    b: int | None


def same(a: Iterable[int], b: Iterable[int]) -> list[RowPair]:
    """Return the rows of two lists from one store, where each row matches itself; rows of a first."""
    return [RowPair(rowid, rowid) for rowid in dict.fromkeys((*a, *b))]


def across(a: Sequence[int], b: Sequence[int], stores: tuple[Store, Store], *, table: Table) -> list[RowPair]:
    """Return the rows of either list with the matching row of the other store; rows of a first.

    Documents match by path. Chunks match within documents of equal path: by text, else by offset.
    """
    wanted = [_places_of_rows(rowids, store, table) for rowids, store in zip((a, b), stores, strict=True)]
    paths = list(dict.fromkeys([*wanted[0].values(), *wanted[1].values()]))
    pairs = [pair for path in paths for pair in _alike(path, stores, table)]
    of_a = {pair.a: pair for pair in pairs if pair.a is not None}
    of_b = {pair.b: pair for pair in pairs if pair.b is not None}
    return list(dict.fromkeys([*(of_a[rowid] for rowid in a), *(of_b[rowid] for rowid in b)]))


def alike_chunks(a: Sequence[Row], b: Sequence[Row]) -> list[RowPair]:
    """Pair the chunks of two versions of a document: equal texts, then equal offsets; the rest stay alone.

    Rows come in order of offset. Repeated texts pair up in that order.
    """
    waiting: dict[str, list[Row]] = {}
    for row in reversed(b):
        waiting.setdefault(row.chunk.text, []).append(row)
    found = {row.rowid: waiting[row.chunk.text].pop() for row in a if waiting.get(row.chunk.text)}
    taken = {row.rowid for row in found.values()}
    by_offset = {row.chunk.offset: row for row in b if row.rowid not in taken}
    for row in a:
        if row.rowid not in found and row.chunk.offset in by_offset:
            found[row.rowid] = by_offset.pop(row.chunk.offset)
    taken = {row.rowid for row in found.values()}
    pairs = [RowPair(row.rowid, found[row.rowid].rowid if row.rowid in found else None) for row in a]
    return pairs + [RowPair(None, row.rowid) for row in b if row.rowid not in taken]


def _places_of_rows(rowids: Sequence[int], store: Store, table: Table) -> dict[int, str]:
    """Return the path of each row, by its rowid."""
    if table == "doc":
        return {rowid: document.path for rowid, document in store.documents(rowids).items()}
    return {row.rowid: row.doc.path for row in store.fetch(rowids)}


def _alike(path: str, stores: tuple[Store, Store], table: Table) -> list[RowPair]:
    ids = [_document(path, store) for store in stores]
    if table == "doc":
        a, b = (None if each is None else store.rowid("doc", each) for each, store in zip(ids, stores, strict=True))
        return [RowPair(a, b)]
    rows = [[] if each is None else store.chunks_of(each) for each, store in zip(ids, stores, strict=True)]
    return alike_chunks(*rows)


def _document(path: str, store: Store) -> str | None:
    """Return the live document at exactly this path."""
    found = [full for kind, full in store.resolve(path) if kind == "doc"]
    if len(found) != 1:
        return None
    rowid = store.rowid("doc", found[0])
    return found[0] if store.documents([rowid])[rowid].path == path else None


DEPTH = 100
"""Rows of each list that rank-biased overlap compares. Rows below weigh 0.9 ** 100, less than 0.0001."""

Kind = Literal["same", "moved", "new", "gone"]
AbsenceCause = Literal["store", "filter", "no_match", "pool", "min_score", "min_cosine", "copy"]
"""Why a row is absent from a list.

store: the store has no matching row.
filter: the filter removes it.
no_match: it contains no query word, and only the lexical signal is in use.
pool: a bounded pool does not contain it.
min_score: its score is below min_score.
min_cosine: it contains no query word, and its cosine is below min_cosine.
copy: an earlier row has the same text."""


class Side(NamedTuple):
    """An answer and its store."""

    answer: Answer
    store: Store


class RowStanding(NamedTuple):
    """A row's place in one answer. rank: from 1 in the full list; None if absent.

    score, inputs: None if no signal is in use or the row is not in the pool.
    injected: sparse-document recall gave it the rank.
    displaced: sparse-document recall took its row.
    """

    rank: int | None
    score: float | None
    inputs: Inputs | None
    absent: AbsenceCause | None
    injected: bool = False
    displaced: bool = False


class Move(NamedTuple):
    """A row in the first k of either list. causes: of the change in score, if both sides have one."""

    pair: RowPair
    kind: Kind
    a: RowStanding
    b: RowStanding
    causes: tuple[FactorShare, ...]
    subtotals: tuple[SignalShare, ...] = ()
    """The points of each signal on either side, if both scores are known."""


class SignalShare(NamedTuple):
    """A signal's points in a row's score on either side."""

    signal: Signal
    a: float
    b: float


class Diff(NamedTuple):
    """A comparison of two answers. rbo: over the first `depth` rows; jaccard: over the first k.

    moves: rows in the first k of b in its order, then rows that left, in the order of a.
    """

    rbo: float
    depth: int
    jaccard: float
    k: int
    moves: tuple[Move, ...]

    @property
    def first_changed(self) -> bool:
        """True if the first row is another one, is gone, or is new."""
        return any(1 in (move.a.rank, move.b.rank) and move.a.rank != move.b.rank for move in self.moves)


def diff(a: Side, b: Side, *, k: int) -> Diff:
    """Compare the first k rows of two answers. Read each store inside one read transaction."""
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
    """Return the rowids of the first rows."""
    answer = side.answer
    if answer.pool is None or answer.ranked is None:
        return _scan(side, depth)
    keys, order = answer.pool.keys, answer.ranked.order[: min(depth, answer.total)]
    return [keys[position].doc_rowid if answer.plan.table == "doc" else keys[position].rowid for position in order]


def _scan(side: Side, depth: int | None) -> list[int]:
    rows = list_rows(side.answer.plan, side.store, start=0, stop=depth)
    return [doc if chunk is None else chunk for doc, chunk in rows]


def _standings(side: Side, rowids: Sequence[int | None]) -> list[RowStanding]:
    """Return the standing of each row, in order."""
    answer = side.answer
    if answer.pool is None or answer.ranked is None:
        ranks = {rowid: rank for rank, rowid in enumerate(_scan(side, None), start=1)}
        struck = scan(answer.plan, side.store).first if answer.struck else {}
        unranked: list[RowStanding] = []
        for rowid in rowids:
            rank = None if rowid is None or rowid in struck else ranks.get(rowid)
            cause: AbsenceCause = "store" if rowid is None else "copy" if rowid in struck else "filter"
            unranked.append(RowStanding(rank, None, None, cause if rank is None else None))
        return unranked
    places = _places(answer)
    missing = [rowid for rowid in rowids if rowid is not None and rowid not in places]
    passing = _passing(side, missing)
    struck = _struck_positions(answer, missing)
    displaced = set() if answer.recall is None else {each.displaced for each in answer.recall.given.values()}
    standings = []
    for rowid in rowids:
        if rowid is None:
            standings.append(RowStanding(None, None, None, "store"))
        elif rowid in places:
            standings.append(_placed_standing(answer, places[rowid], displaced))
        elif rowid in struck:
            inputs = inputs_at(struck[rowid], answer.ranked, answer.pool, answer.plan.config)
            standings.append(RowStanding(None, answer.ranked.scores[struck[rowid]], inputs, "copy"))
        else:
            unscored: AbsenceCause = "no_match" if answer.exact else "pool"
            standings.append(RowStanding(None, None, None, unscored if rowid in passing else "filter"))
    return standings


def _struck_positions(answer: Answer, rowids: Sequence[int]) -> dict[int, int]:
    """Return the position of each of these rows that is a copy of a listed row, by its rowid."""
    if answer.copies is None or answer.pool is None:
        return {}
    copies = standing_for(answer)
    held = positions_of(answer.pool.keys, rowids)
    return {rowid: position for rowid, position in held.items() if copies.is_struck(position)}


def _places(answer: Answer) -> dict[int, int]:
    """Return each row's place in the full order, from 0, by its rowid."""
    assert answer.pool is not None and answer.ranked is not None  # noqa: S101, PT018 - the caller has looked
    keys, by_document = answer.pool.keys, answer.plan.table == "doc"
    return {
        keys[position].doc_rowid if by_document else keys[position].rowid: place
        for place, position in enumerate(answer.ranked.order)
    }


def _placed_standing(answer: Answer, place: int, displaced: Iterable[int | None]) -> RowStanding:
    assert answer.pool is not None and answer.ranked is not None  # noqa: S101, PT018 - the caller has looked
    position = answer.ranked.order[place]
    is_listed = place < answer.total
    return RowStanding(
        rank=place + 1 if is_listed else None,
        score=answer.ranked.scores[position],
        inputs=inputs_at(position, answer.ranked, answer.pool, answer.plan.config),
        absent=None if is_listed else "min_cosine" if is_distant(answer, position) else "min_score",
        injected=answer.recall is not None and position in answer.recall.given,
        displaced=position in displaced,
    )


def _passing(side: Side, rowids: Sequence[int]) -> set[int]:
    """Return the rows that pass the filter."""
    if not rowids:
        return set()
    plan = side.answer.plan
    if plan.table == "chunk":
        return {key.rowid for key in side.store.candidates(plan.where, rowids=rowids)}
    return {key.doc_rowid for key in side.store.candidates(plan.where)} & set(rowids)


def _move(pair: RowPair, a: RowStanding, b: RowStanding, *, k: int) -> Move:
    inside = [each.rank is not None and each.rank <= k for each in (a, b)]
    kind: Kind = "moved"
    if not all(inside):
        kind = "new" if inside[1] else "gone"
    elif a.rank == b.rank:
        kind = "same"
    if a.inputs is None or b.inputs is None:
        return Move(pair, kind, a, b, ())
    of_a, of_b = points_of(a.inputs), points_of(b.inputs)
    shares = tuple(
        SignalShare(signal, of_a.get(signal, 0.0), of_b.get(signal, 0.0))
        for signal in SIGNALS
        if signal in of_a or signal in of_b
    )
    return Move(pair, kind, a, b, causes(a.inputs, b.inputs), shares)
