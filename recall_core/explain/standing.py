"""Where chunks stand in an answer, on the page or off it, and what put one above another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from recall_core.contract.ledger import NeighbourView
from recall_core.explain.ledger import leaves, weighed
from recall_core.explain.lines import Lines, crossing, lines_of
from recall_core.ports import Embedder, Store
from recall_core.retrieve import Answer
from recall_core.retrieve.answer import hits
from recall_core.scored import Leaves
from recall_core.types import Hit, Row


class Scored(NamedTuple):
    """A chunk of the pool, by its position there. hit: its rank counts only where the list holds it."""

    position: int
    score: float
    hit: Hit
    leaves: Leaves


class Standing(NamedTuple):
    """A chunk in an answer."""

    row: Row
    place: int | None
    """From 0 in the ranked list; None when that does not hold the chunk."""
    scored: Scored | None
    """None when no signal proposed the chunk."""


def standings(found: Answer, rows: Sequence[Row], store: Store, embedder: Embedder | None) -> list[Standing]:
    """Where these chunks stand, with every leaf of their scores.

    A black-box embedder is asked about every sentence of theirs.
    """
    pool, ranked = found.pool, found.ranked
    if pool is None or ranked is None:
        return [Standing(row, None, None) for row in rows]
    asked = {row.rowid for row in rows}
    positions = {key.rowid: position for position, key in enumerate(pool.keys) if key.rowid in asked}
    held = set(positions.values())
    places = {position: place for place, position in enumerate(ranked.order[: found.total]) if position in held}
    standing: list[Standing] = []
    for row in rows:
        position = positions.get(row.rowid)
        if position is None:
            standing.append(Standing(row, None, None))
            continue
        place = places.get(position)
        if place is None:
            (alone,) = ranked.reordered([position], kept=1)
            hit = Hit(0, alone.score, row.doc, row.chunk, alone.parts)
        else:
            (hit,) = hits(found, store, start=place, stop=place + 1)
        (made,) = leaves(found, [weighed(row.rowid, hit)], store=store, embedder=embedder, by_sentence=True)
        standing.append(Standing(row, place, Scored(position, ranked.scores[position], hit, made)))
    return standing


def weight_lines(found: Answer) -> Lines | None:
    """The candidates as lines over the weights, where those alone decide the order of chunks."""
    pool, plan = found.pool, found.plan
    if pool is None or not (pool.lexical and pool.semantic):
        return None
    has_more_to_it = plan.order or plan.config.rerank or plan.table == "doc"
    return None if has_more_to_it else lines_of(pool, plan.config)


def neighbours(found: Answer, standing: Standing, lines: Lines | None, store: Store) -> Iterator[NeighbourView]:
    """The rows right above and below, and what settled the order. lines: see `weight_lines`."""
    place, ranked = standing.place, found.ranked
    if place is None or ranked is None:
        return
    for beside in (place - 1, place + 1):
        if not 0 <= beside < found.total:
            continue
        (hit,) = hits(found, store, start=beside, stop=beside + 1)
        upper, lower = ranked.order[min(place, beside)], ranked.order[max(place, beside)]
        view = NeighbourView(
            side="above" if beside < place else "below",
            rank=beside + 1,
            id=hit.doc.id if hit.chunk is None else hit.chunk.id,
            path=hit.doc.path,
            margin=ranked.scores[upper] - ranked.scores[lower],
            decided_by=decided_by(found, upper, lower),
        )
        if lines is not None and view["decided_by"] != "recall":  # that order is not the scores'
            view["flips_at"] = flips_at(lines, upper, lower)
        yield view


def decided_by(found: Answer, upper: int, lower: int) -> str:
    """What put one position of the pool above another: see NeighbourView."""
    pool, ranked = found.pool, found.ranked
    if pool is None or ranked is None or found.plan.order:
        return "order_by"
    given = found.recall.given if found.recall is not None else {}
    if ranked.scores[upper] < ranked.scores[lower] or upper in given or lower in given:
        return "recall"
    if ranked.scores[upper] > ranked.scores[lower]:
        return "score"
    if found.plan.config.rerank:
        return "fused"
    return "path" if pool.keys[upper].path != pool.keys[lower].path else "offset"


def flips_at(lines: Lines, upper: int, lower: int) -> float | None:
    """The semantic share of the weights at which two positions change places; None when one leads at every weight."""
    weight = crossing(lines, upper, lower)
    return None if weight is None else float(weight)
