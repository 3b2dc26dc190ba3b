"""Why a chunk scores what it scores and stands where it stands, alone or beside another one.

Its ledger whatever its rank, its neighbours, and the weights at which two chunks change places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from typing import Literal, NamedTuple, TypeAlias

from recall_core.contract.ledger import (
    CopyView,
    DifferenceView,
    ExplanationView,
    LeafView,
    LedgerView,
    NeighbourView,
    PassageView,
    StabilityView,
    SubtotalView,
    VersusView,
)
from recall_core.errors import UnknownTarget
from recall_core.explain.in_words import Among, sentence
from recall_core.explain.intervals import interval_view
from recall_core.explain.ledger import MOST_WORDS, largest, leaves, lexical_contributions, total, weighed
from recall_core.explain.lines import Lines, crossing, lines_of, weight_of
from recall_core.explain.stability import ROWS, stability
from recall_core.explain.sweep import sweep
from recall_core.explain.whynot.target import identify
from recall_core.ports import Embedder
from recall_core.retrieve import targets
from recall_core.retrieve.answer import Answer, hits, is_distant, standing_for
from recall_core.retrieve.asking import Asker
from recall_core.retrieve.passage import passages
from recall_core.shell import Hint
from recall_core.store.port import Store
from recall_core.types import SIGNALS, Hit, Row, Signal
from recall_core.views import Leaves, explain_view, recall_view


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


def named_chunk(asker: Asker, found: Answer, target: str | None) -> Row:
    """Return the chunk of an id, of those at `path:line` or another place the one that ranks first, or the first hit.

    target: None for the first hit.  Raises UnknownTarget, UsageError.
    """
    store, base = asker.store, asker.base
    if target is None:
        return _first_chunk(found, store)
    if not targets.PART.fullmatch(target) or targets.one(store, target, base=base) is not None:
        return targets.chunk(store, target, base=base)
    place = identify(asker, target)
    if not place.rows or place.kind == "text":
        raise targets.unknown(target, store)
    by_rowid = {row.rowid: row for row in place.rows}
    if len(by_rowid) > 1 and found.pool is not None and found.ranked is not None:
        rowids = (found.pool.keys[position].rowid for position in found.ranked.order)
        first = next((rowid for rowid in rowids if rowid in by_rowid), place.rows[0].rowid)
        return by_rowid[first]
    return place.rows[0]


def _first_chunk(found: Answer, store: Store) -> Row:
    start = found.plan.offset
    if start < found.total and found.pool is not None and found.ranked is not None:
        return store.fetch([found.pool.keys[found.ranked.order[start]].rowid])[0]
    for hit in hits(found, store, start=start, stop=start + 1):
        if hit.chunk is not None:
            return store.fetch([store.rowid("chunk", hit.chunk.id)])[0]
    hint = Hint("trace", found.plan.text) if found.plan.rql is None else Hint("trace", rql=found.plan.rql)
    raise UnknownTarget("unknown_target", "The answer has no chunk to explain.", hint=hint)


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
    has_more_to_it = plan.order or plan.config.rerank or plan.config.min_cosine or plan.table == "doc"
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


MOST_DIFFERENCES = 30

"""Leaves that are compared one by one; the smaller ones of each signal are one difference together."""

_SIDES: tuple[Literal["points"], Literal["other_points"]] = ("points", "other_points")

_Key: TypeAlias = tuple[Signal, str, str]


def versus(found: Answer, one: Standing, other: Standing, lines: Lines | None) -> VersusView | None:
    """The first chunk against the second; None when one of them has no score. lines: see `weight_lines`."""
    left, right = one.scored, other.scored
    if left is None or right is None:
        return None
    leads = _order(one, left) <= _order(other, right)
    higher, lower = (left, right) if leads else (right, left)
    view = VersusView(
        winner=(one if leads else other).row.chunk.id,
        margin=higher.score - lower.score,
        decided_by=decided_by(found, higher.position, lower.position),
        differences=_differences(_points(left), _points(right)),
        subtotals=list(_subtotals(left, right)),
    )
    if lines is not None and view["decided_by"] != "recall":
        view["flips_at"] = flips_at(lines, left.position, right.position)
    return view


def _order(standing: Standing, scored: Scored) -> tuple[bool, int, float, int]:
    """What is in the list comes first, by place; the rest by score and in natural order."""
    return (standing.place is None, standing.place or 0, -scored.score, scored.position)


def _points(scored: Scored) -> dict[_Key, float]:
    """Every leaf's points; a part without leaves is its own. Leaves that look the same are added up."""
    points: dict[_Key, float] = {}
    for part in scored.hit.parts:
        whole = LeafView(kind="residual", text="", points=part.points)
        for leaf in scored.leaves.get(part.signal, [whole]):
            key = (part.signal, leaf["kind"], leaf["text"])
            points[key] = points.get(key, 0.0) + leaf["points"]
    return points


def _subtotals(left: Scored, right: Scored) -> Iterator[SubtotalView]:
    sides = [{part.signal: part.points for part in scored.hit.parts} for scored in (left, right)]
    for signal in SIGNALS:
        if any(signal in side for side in sides):
            points, other_points = (side.get(signal, 0.0) for side in sides)
            yield SubtotalView(signal=signal, points=points, other_points=other_points, delta=points - other_points)


def _differences(left: Mapping[_Key, float], right: Mapping[_Key, float]) -> list[DifferenceView]:
    views = [_difference(key, left.get(key, 0.0), right.get(key, 0.0)) for key in {**left, **right}]
    views.sort(key=lambda view: -abs(view["delta"]))
    return [*views[:MOST_DIFFERENCES], *_others(views[MOST_DIFFERENCES:])]


def _difference(key: _Key, points: float, other_points: float) -> DifferenceView:
    signal, kind, text = key
    return DifferenceView(
        signal=signal, kind=kind, text=text, points=points, other_points=other_points, delta=points - other_points
    )


def _others(views: Sequence[DifferenceView]) -> Iterator[DifferenceView]:
    """One for each signal in place of all of its own."""
    for signal in SIGNALS:
        same = [view for view in views if view["signal"] == signal]
        if same:
            points, others = (fsum(view[side] for view in same) for side in _SIDES)
            yield _difference((signal, "other", f"{len(same)} smaller"), points, others)


WhyAbsent: TypeAlias = Literal[
    "not_in_pool", "filtered", "below_min_score", "below_min_cosine", "copy", "document", "no_score"
]

_SHOWN_WORDS = 3 * MOST_WORDS


class Ground(NamedTuple):
    """What every explanation of one answer stands on, whichever chunk it is of; None where no weight moves it."""

    lines: Lines | None
    stability: StabilityView | None


def ground_of(found: Answer) -> Ground:
    """The answer's candidates over all weights, and how far the weights are from changing its list."""
    lines = weight_lines(found)
    return Ground(lines, _stability(found, lines) if lines is not None and found.plan.limit > 0 else None)


def explanation(
    found: Answer,
    row: Row,
    other: Row | None = None,
    *,
    store: Store,
    embedder: Embedder | None,
    ground: Ground | None = None,
) -> ExplanationView:
    """The ledger of a chunk, of another to compare it with, and how far the weights are from changing the list.

    Leaves are exact for words, and for embedders that tell words apart; others are asked about every sentence.
    ground: `ground_of` this answer, for who explains several of its chunks.
    """
    lines, stable = ground or ground_of(found)
    rows = [row] if other is None else [row, other]
    told = [None] * len(rows) if found.pool is None else passages(found, rows, store=store, embedder=embedder)
    first, *rest = standings(found, rows, store, embedder)
    view = ExplanationView(chunk=_ledger(found, first, lines, store, told[0]))
    for second in rest:
        view["other"] = _ledger(found, second, lines, store, told[1])
        compared = versus(found, first, second, lines)
        if compared is not None:
            view["versus"] = compared
    if stable is not None:
        view["stability"] = stable
    return view


def _ledger(
    found: Answer, standing: Standing, lines: Lines | None, store: Store, passage: PassageView | None
) -> LedgerView:
    doc, chunk = standing.row.doc, standing.row.chunk
    view = LedgerView(
        id=chunk.id,
        path=doc.path,
        line_start=chunk.line_start,
        line_end=chunk.line_end,
        rank=None if standing.place is None else standing.place + 1,
        of=found.total,
    )
    if chunk.heading is not None:
        view["heading"] = chunk.heading
    if chunk.place is not None:
        view["place"] = chunk.place
    if passage is not None:
        view["passage"] = passage
    if standing.place is None:
        view["absent"] = _why_absent(found, standing, store)
        view["hint"] = _why_not(found, chunk.id[:12])
        if view["absent"] == "copy" and standing.scored is not None:
            view["copy_of"] = _copy_of(found, standing.scored.position, store)
    if standing.scored is None:
        return view
    _, score, hit, made = standing.scored
    shown = {name: largest(each, _SHOWN_WORDS) if name == "semantic" else each for name, each in made.items()}
    view["score"] = score
    view["explain"] = explain_view(hit, found.plan, shown)
    view["residual"] = score - fsum(total(part, made) for part in hit.parts)
    view["neighbours"] = list(neighbours(found, standing, lines, store))
    view["explain"]["summary"] = sentence(view["explain"], _among(found, standing, view, store))
    if hit.injection is not None:
        view["recall"] = recall_view(hit.injection, chunk)
    return view


def _among(found: Answer, standing: Standing, view: LedgerView, store: Store) -> Among:
    """What its sentence needs to know of the rows that are shown beside it."""
    assert standing.scored is not None  # noqa: S101 - the caller looked
    hit, others = standing.scored.hit, _others_shown(found, standing)
    return Among(
        rank=view["rank"],
        of=found.total,
        chunks=store.info().chunks,
        shown=len(others) + 1,
        terms_of_others=None if view["rank"] is None else _terms_of(found, others, store),
        lead=next((each["margin"] for each in view["neighbours"] if each["decided_by"] == "score"), None),
        distance=None if hit.injection is None else hit.injection.distance,
    )


def _others_shown(found: Answer, standing: Standing) -> list[int]:
    """The rowids of the other rows of its page; none where it is not on it, or where rows are documents."""
    plan, place = found.plan, standing.place
    if found.pool is None or found.ranked is None or place is None or plan.table == "doc":
        return []
    page = range(plan.offset, min(plan.offset + plan.limit, found.total))
    if place not in page:
        return []
    return [found.pool.keys[found.ranked.order[at]].rowid for at in page if at != place]


def _terms_of(found: Answer, rowids: Sequence[int], store: Store) -> set[str]:
    """The phrases for which any of these rows has points."""
    if found.plan.config.fusion == "rrf":
        return set()
    made = lexical_contributions(found, rowids, store)
    return {each.text for contributions in made.values() for each in contributions}


def _copy_of(found: Answer, position: int, store: Store) -> CopyView:
    """The row that stands for a chunk that does not."""
    assert found.ranked is not None  # noqa: S101 - it has copies
    place = found.ranked.order.index(standing_for(found).first(position))
    (hit,) = hits(found, store, start=place, stop=place + 1)
    return CopyView(rank=hit.rank, id="" if hit.chunk is None else hit.chunk.id, path=hit.doc.path)


def _why_absent(found: Answer, standing: Standing, store: Store) -> WhyAbsent:
    if found.pool is None:
        return "no_score"
    if standing.scored is None:
        passes = store.candidates(found.plan.where, rowids=[standing.row.rowid])
        return "not_in_pool" if passes else "filtered"
    if standing.scored.score < found.plan.config.min_score:
        return "below_min_score"
    position = standing.scored.position
    if found.ranked is not None and position in found.ranked.order and is_distant(found, position):
        return "below_min_cosine"
    return "document" if found.plan.table == "doc" else "copy"


def _why_not(found: Answer, target: str) -> Hint:
    text = found.plan.text
    return Hint("whynot", text, target=target) if found.plan.rql is None else Hint("whynot", rql=text, target=target)


def _stability(found: Answer, lines: Lines) -> StabilityView:
    weight, groups = weight_of(found.plan.config), None if found.copies is None else found.copies.text_numbers
    swept = sweep(lines, min(found.plan.limit, ROWS), groups)
    held = stability(swept, weight)
    return StabilityView(
        k=swept.orders.shape[1],
        weight=float(weight),
        order=interval_view(held.order),
        members=interval_view(held.members),
        order_distance=held.order_distance,
        members_distance=held.members_distance,
        fragile=held.fragile,
    )
