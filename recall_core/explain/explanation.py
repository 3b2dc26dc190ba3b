"""Why a chunk scores what it scores for a question, whatever its rank: its ledger, and how firm its place is."""

from __future__ import annotations

from math import fsum
from typing import Literal, NamedTuple, TypeAlias

from recall_core import shell
from recall_core.contract.ledger import ExplanationView, LedgerView, StabilityView, WeightsView
from recall_core.explain.intervals import Interval
from recall_core.explain.ledger import MOST_WORDS, largest, total
from recall_core.explain.lines import Lines, weight_of
from recall_core.explain.stability import stability
from recall_core.explain.standing import Standing, neighbours, standings, weight_lines
from recall_core.explain.sweep import sweep
from recall_core.explain.versus import versus
from recall_core.ports import Embedder, Store
from recall_core.retrieve import Answer
from recall_core.scored import explain_view, recall_view
from recall_core.types import Row

Absence: TypeAlias = Literal["not_in_pool", "filtered", "below_min_score", "document", "no_score"]

_DEEPEST = 20
"""Rows whose order at every weight is looked at; a page of hundreds would take seconds."""

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
    first, *rest = standings(found, rows, store, embedder)
    view = ExplanationView(chunk=_ledger(found, first, lines, store))
    for second in rest:
        view["other"] = _ledger(found, second, lines, store)
        compared = versus(found, first, second, lines)
        if compared is not None:
            view["versus"] = compared
    if stable is not None:
        view["stability"] = stable
    return view


def _ledger(found: Answer, standing: Standing, lines: Lines | None, store: Store) -> LedgerView:
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
    if standing.place is None:
        view["absent"] = _absence(found, standing, store)
        view["hint"] = f"recall whynot {_question(found)} --target {chunk.id[:12]}"
    if standing.scored is None:
        return view
    _, score, hit, made = standing.scored
    shown = {name: largest(each, _SHOWN_WORDS) if name == "semantic" else each for name, each in made.items()}
    view["score"] = score
    view["explain"] = explain_view(hit, found.plan, shown)
    view["residual"] = score - fsum(total(part, made) for part in hit.parts)
    view["neighbours"] = list(neighbours(found, standing, lines, store))
    if hit.injection is not None:
        view["recall"] = recall_view(hit.injection, chunk)
    return view


def _absence(found: Answer, standing: Standing, store: Store) -> Absence:
    if found.pool is None:
        return "no_score"
    if standing.scored is None:
        passes = store.candidates(found.plan.where, rowids=[standing.row.rowid])
        return "not_in_pool" if passes else "filtered"
    return "below_min_score" if standing.scored.score < found.plan.config.min_score else "document"


def _question(found: Answer) -> str:
    text = shell.quote(found.plan.text)
    return text if found.plan.rql is None else f"--rql {text}"


def _stability(found: Answer, lines: Lines) -> StabilityView:
    weight, k = weight_of(found.plan.config), min(found.plan.limit, _DEEPEST)
    held = stability(lines, sweep(lines, k), weight)
    return StabilityView(
        k=k,
        weight=float(weight),
        order=_weights(held.order),
        members=_weights(held.members),
        order_distance=held.order_distance,
        members_distance=held.members_distance,
        fragile=held.fragile,
    )


def _weights(interval: Interval) -> WeightsView:
    return WeightsView(low=float(interval.low), high=float(interval.high))
