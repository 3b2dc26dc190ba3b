"""Explanations of a chunk's score and rank, alone or compared with another chunk.

They contain its ledger (at any rank), its neighbours, and the weights at which two chunks swap places.
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
from recall_core.explain.ledger import (
    MOST_WORDS,
    Among,
    largest,
    leaves,
    lexical_contributions,
    row_to_explain,
    sentence,
    total,
)
from recall_core.explain.lines import Lines, crossing, lines_of, weight_of
from recall_core.explain.sweep import ROWS, interval_view, stability, sweep
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
    """A chunk of the pool, by its position there. hit: its rank counts only if the list contains the chunk."""

    position: int
    score: float
    hit: Hit
    leaves: Leaves


class Standing(NamedTuple):
    """A chunk and its place in an answer."""

    row: Row
    place: int | None
    """From 0 in the ranked list; None if the list does not contain the chunk."""
    scored: Scored | None
    """None if no signal proposed the chunk."""


def named_chunk(asker: Asker, answer: Answer, target: str | None) -> Row:
    """Return the chunk with this id, the best-ranked chunk at `path:line` or another place, or the first hit.

    target: None for the first hit. Raises UnknownTarget, UsageError.
    """
    store, base = asker.store, asker.base
    if target is None:
        return _first_chunk(answer, store)
    if not targets.PART.fullmatch(target) or targets.one(store, target, base=base) is not None:
        return targets.chunk(store, target, base=base)
    place = identify(asker, target)
    if not place.rows or place.kind == "text":
        raise targets.unknown(target, store)
    by_rowid = {row.rowid: row for row in place.rows}
    if len(by_rowid) > 1 and answer.pool is not None and answer.ranked is not None:
        rowids = (answer.pool.keys[position].rowid for position in answer.ranked.order)
        first = next((rowid for rowid in rowids if rowid in by_rowid), place.rows[0].rowid)
        return by_rowid[first]
    return place.rows[0]


def _first_chunk(answer: Answer, store: Store) -> Row:
    start = answer.plan.offset
    if start < answer.total and answer.pool is not None and answer.ranked is not None:
        return store.fetch([answer.pool.keys[answer.ranked.order[start]].rowid])[0]
    for hit in hits(answer, store, start=start, stop=start + 1):
        if hit.chunk is not None:
            return store.fetch([store.rowid("chunk", hit.chunk.id)])[0]
    hint = Hint("trace", answer.plan.text) if answer.plan.rql is None else Hint("trace", rql=answer.plan.rql)
    raise UnknownTarget("unknown_target", "The answer has no chunk to explain.", hint=hint)


def standings(answer: Answer, rows: Sequence[Row], store: Store, embedder: Embedder | None) -> list[Standing]:
    """Return the place of each chunk in the answer, with every leaf of its score.

    A black-box embedder embeds every sentence of these chunks.
    """
    pool, ranked = answer.pool, answer.ranked
    if pool is None or ranked is None:
        return [Standing(row, None, None) for row in rows]
    asked = {row.rowid for row in rows}
    positions = {key.rowid: position for position, key in enumerate(pool.keys) if key.rowid in asked}
    held = set(positions.values())
    places = {position: place for place, position in enumerate(ranked.order[: answer.total]) if position in held}
    standing: list[Standing] = []
    for row in rows:
        position = positions.get(row.rowid)
        if position is None:
            standing.append(Standing(row, None, None))
            continue
        place = places.get(position)
        if place is None:
            (alone,) = ranked.reorder([position], kept=1)
            hit = Hit(0, alone.score, row.doc, row.chunk, alone.parts)
        else:
            (hit,) = hits(answer, store, start=place, stop=place + 1)
        (made,) = leaves(answer, [row_to_explain(row.rowid, hit)], store=store, embedder=embedder, by_sentence=True)
        standing.append(Standing(row, place, Scored(position, ranked.scores[position], hit, made)))
    return standing


def weight_lines(answer: Answer) -> Lines | None:
    """Return the candidates as lines over the weights, or None where the weights alone do not decide the order."""
    pool, plan = answer.pool, answer.plan
    if pool is None or not (pool.lexical and pool.semantic):
        return None
    has_more_to_it = plan.order or plan.config.rerank or plan.config.min_cosine or plan.table == "doc"
    return None if has_more_to_it else lines_of(pool, plan.config)


def neighbours(answer: Answer, standing: Standing, lines: Lines | None, store: Store) -> Iterator[NeighbourView]:
    """Yield the rows directly above and below, and what decided their order. lines: see `weight_lines`."""
    place, ranked = standing.place, answer.ranked
    if place is None or ranked is None:
        return
    for beside in (place - 1, place + 1):
        if not 0 <= beside < answer.total:
            continue
        (hit,) = hits(answer, store, start=beside, stop=beside + 1)
        upper, lower = ranked.order[min(place, beside)], ranked.order[max(place, beside)]
        view = NeighbourView(
            side="above" if beside < place else "below",
            rank=beside + 1,
            id=hit.doc.id if hit.chunk is None else hit.chunk.id,
            path=hit.doc.path,
            margin=ranked.scores[upper] - ranked.scores[lower],
            decided_by=decided_by(answer, upper, lower),
        )
        if lines is not None and view["decided_by"] != "recall":  # recall orders rows without their scores
            view["flips_at"] = flips_at(lines, upper, lower)
        yield view


def decided_by(answer: Answer, upper: int, lower: int) -> str:
    """Return what put one position of the pool above another: see NeighbourView."""
    pool, ranked = answer.pool, answer.ranked
    if pool is None or ranked is None or answer.plan.order:
        return "order_by"
    given = answer.recall.given if answer.recall is not None else {}
    if ranked.scores[upper] < ranked.scores[lower] or upper in given or lower in given:
        return "recall"
    if ranked.scores[upper] > ranked.scores[lower]:
        return "score"
    if answer.plan.config.rerank:
        return "fused"
    return "path" if pool.keys[upper].path != pool.keys[lower].path else "offset"


def flips_at(lines: Lines, upper: int, lower: int) -> float | None:
    """Return the semantic weight at which two positions swap places; None if one always leads."""
    weight = crossing(lines, upper, lower)
    return None if weight is None else float(weight)


MOST_DIFFERENCES = 30
"""Leaves compared one by one. The smaller leaves of each signal become one difference."""

_SIDES: tuple[Literal["points"], Literal["other_points"]] = ("points", "other_points")
_Key: TypeAlias = tuple[Signal, str, str]


def versus(answer: Answer, one: Standing, other: Standing, lines: Lines | None) -> VersusView | None:
    """Compare the first chunk with the second; None if either has no score. lines: see `weight_lines`."""
    left, right = one.scored, other.scored
    if left is None or right is None:
        return None
    leads = _order(one, left) <= _order(other, right)
    higher, lower = (left, right) if leads else (right, left)
    view = VersusView(
        winner=(one if leads else other).row.chunk.id,
        margin=higher.score - lower.score,
        decided_by=decided_by(answer, higher.position, lower.position),
        differences=_differences(_points(left), _points(right)),
        subtotals=list(_subtotals(left, right)),
    )
    if lines is not None and view["decided_by"] != "recall":
        view["flips_at"] = flips_at(lines, left.position, right.position)
    return view


def _order(standing: Standing, scored: Scored) -> tuple[bool, int, float, int]:
    """Return the sort key: rows of the list by place, then other rows by score and natural order."""
    return (standing.place is None, standing.place or 0, -scored.score, scored.position)


def _points(scored: Scored) -> dict[_Key, float]:
    """Return the points of every leaf. A part without leaves counts as one leaf; leaves that look the same are added
    up.
    """
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
    """Yield one difference per signal that replaces all of these."""
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
    """The part of an explanation that all chunks of one answer share. None where no weight changes the order."""

    lines: Lines | None
    stability: StabilityView | None


def ground_of(answer: Answer) -> Ground:
    """Return the answer's candidates over all weights, and how far the weights are from changing its list."""
    lines = weight_lines(answer)
    return Ground(lines, _stability(answer, lines) if lines is not None and answer.plan.limit > 0 else None)


def explanation(
    answer: Answer,
    row: Row,
    other: Row | None = None,
    *,
    store: Store,
    embedder: Embedder | None,
    ground: Ground | None = None,
) -> ExplanationView:
    """Return the ledger of a chunk and of an optional second one, and how far the weights are from changing the list.

    Leaves are exact for lexical scores and for embedders that separate words. Other embedders embed every sentence.
    ground: `ground_of` this answer, to share between several chunks.
    """
    lines, stable = ground or ground_of(answer)
    rows = [row] if other is None else [row, other]
    views = [None] * len(rows) if answer.pool is None else passages(answer, rows, store=store, embedder=embedder)
    first, *rest = standings(answer, rows, store, embedder)
    view = ExplanationView(chunk=_ledger(answer, first, lines, store, views[0]))
    for second in rest:
        view["other"] = _ledger(answer, second, lines, store, views[1])
        compared = versus(answer, first, second, lines)
        if compared is not None:
            view["versus"] = compared
    if stable is not None:
        view["stability"] = stable
    return view


def _ledger(
    answer: Answer, standing: Standing, lines: Lines | None, store: Store, passage: PassageView | None
) -> LedgerView:
    doc, chunk = standing.row.doc, standing.row.chunk
    view = LedgerView(
        id=chunk.id,
        path=doc.path,
        line_start=chunk.line_start,
        line_end=chunk.line_end,
        rank=None if standing.place is None else standing.place + 1,
        of=answer.total,
    )
    if chunk.heading is not None:
        view["heading"] = chunk.heading
    if chunk.place is not None:
        view["place"] = chunk.place
    if passage is not None:
        view["passage"] = passage
    if standing.place is None:
        view["absent"] = _why_absent(answer, standing, store)
        text, target, is_rql = answer.plan.text, chunk.id[:12], answer.plan.rql is not None
        view["hint"] = Hint("whynot", rql=text, target=target) if is_rql else Hint("whynot", text, target=target)
        if view["absent"] == "copy" and standing.scored is not None:
            view["copy_of"] = _copy_of(answer, standing.scored.position, store)
    if standing.scored is None:
        return view
    _, score, hit, made = standing.scored
    shown = {name: largest(each, _SHOWN_WORDS) if name == "semantic" else each for name, each in made.items()}
    view["score"] = score
    view["explain"] = explain_view(hit, answer.plan, shown)
    view["residual"] = score - fsum(total(part, made) for part in hit.parts)
    view["neighbours"] = list(neighbours(answer, standing, lines, store))
    view["explain"]["summary"] = sentence(view["explain"], _among(answer, standing, view, store))
    if hit.injection is not None:
        view["recall"] = recall_view(hit.injection, chunk)
    return view


def _among(answer: Answer, standing: Standing, view: LedgerView, store: Store) -> Among:
    """Return the facts that the summary sentence needs about the other rows shown."""
    assert standing.scored is not None  # noqa: S101 - the caller checked
    hit, others = standing.scored.hit, _others_shown(answer, standing)
    return Among(
        rank=view["rank"],
        of=answer.total,
        chunks=store.info().chunks,
        shown=len(others) + 1,
        terms_of_others=None if view["rank"] is None else _terms_of(answer, others, store),
        lead=next((each["margin"] for each in view["neighbours"] if each["decided_by"] == "score"), None),
        distance=None if hit.injection is None else hit.injection.distance,
    )


def _others_shown(answer: Answer, standing: Standing) -> list[int]:
    """Return the rowids of the other rows on the page; empty if the chunk is not on it, or if rows are documents."""
    plan, place = answer.plan, standing.place
    if answer.pool is None or answer.ranked is None or place is None or plan.table == "doc":
        return []
    page = range(plan.offset, min(plan.offset + plan.limit, answer.total))
    if place not in page:
        return []
    return [answer.pool.keys[answer.ranked.order[at]].rowid for at in page if at != place]


def _terms_of(answer: Answer, rowids: Sequence[int], store: Store) -> set[str]:
    """Return the phrases for which any of these rows has points."""
    if answer.plan.config.fusion == "rrf":
        return set()
    made = lexical_contributions(answer, rowids, store)
    return {each.text for contributions in made.values() for each in contributions}


def _copy_of(answer: Answer, position: int, store: Store) -> CopyView:
    """Return the row that represents the text of this copy."""
    assert answer.ranked is not None  # noqa: S101 - it has copies
    place = answer.ranked.order.index(standing_for(answer).first(position))
    (hit,) = hits(answer, store, start=place, stop=place + 1)
    return CopyView(rank=hit.rank, id="" if hit.chunk is None else hit.chunk.id, path=hit.doc.path)


def _why_absent(answer: Answer, standing: Standing, store: Store) -> WhyAbsent:
    if answer.pool is None:
        return "no_score"
    if standing.scored is None:
        passes = store.candidates(answer.plan.where, rowids=[standing.row.rowid])
        return "not_in_pool" if passes else "filtered"
    if standing.scored.score < answer.plan.config.min_score:
        return "below_min_score"
    position = standing.scored.position
    if answer.ranked is not None and position in answer.ranked.order and is_distant(answer, position):
        return "below_min_cosine"
    return "document" if answer.plan.table == "doc" else "copy"


def _stability(answer: Answer, lines: Lines) -> StabilityView:
    weight, groups = weight_of(answer.plan.config), None if answer.copies is None else answer.copies.text_numbers
    swept = sweep(lines, min(answer.plan.limit, ROWS), groups)
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
