"""One answer at every weight: where its first rows change, and which weights satisfy pins."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from recall_core.config import Config
from recall_core.contract.judging import (
    BreakPointView,
    PinnedView,
    ProposedView,
    ShiftView,
    SweepView,
    TuningView,
    WishView,
)
from recall_core.errors import UsageError, expect_choice
from recall_core.evaluate.tune import weights
from recall_core.explain.lines import exact, lines_of, weight_of
from recall_core.explain.sweep import (
    Interval,
    Sweep,
    interval_view,
    nearest,
    runs,
    stability,
    stretches,
    sweep,
    tops,
    weight_inside,
)
from recall_core.explain.winning import together
from recall_core.retrieve import targets as finding
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.asking import Asker
from recall_core.shell import Hint, Verbatim
from recall_core.store.port import Store
from recall_core.types import Pool, Row

_LINES = re.compile(r"(?P<path>.+):(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9}))?")
Want = Literal["in", "out"]


class PinTarget(NamedTuple):
    """A target that must be in the first rows (in: one of its chunks) or not (out: none of them)."""

    want: Want
    target: str


def tuning_view(answer: Answer, wishes: Sequence[PinTarget], asker: Asker, *, breaks: bool) -> TuningView:
    """Return one answer at every weight; with wishes, the weights that satisfy them."""
    view = TuningView(weight=float(weight_of(answer.plan.config)))
    if wishes:
        view["pinned"] = pinned_view(answer, wishes, asker.store, base=asker.base, weigh=asker.weigh)
    else:
        view["sweep"] = swept_view(answer, asker.store, breaks=breaks)
    return view


def swept_view(answer: Answer, store: Store, *, breaks: bool) -> SweepView:
    """Return the first rows of an answer at every weight. breaks: also return every weight at which they change, and
    how.

    The sweep uses fused ranks: before a reranker, sparse-document recall, min_score and min_cosine.
    Raises UsageError `one_signal` if the answer has no weight to move.
    """
    pool, k = _both(answer), max(1, answer.plan.limit)
    swept = _sweep(answer, pool, k)
    steady = stability(swept, weight_of(answer.plan.config))
    view = SweepView(
        k=k,
        candidates=len(pool.keys),
        orders=len(stretches(swept)),
        sets=len(stretches(swept, members=True)),
        order=interval_view(steady.order),
        members=interval_view(steady.members),
        order_distance=steady.order_distance,
        members_distance=steady.members_distance,
        fragile=steady.fragile,
    )
    if answer.copies is not None:
        view["texts"] = len(set(answer.copies.text_numbers))
    if breaks:
        view["break_points"] = _break_points(pool, swept, store)
    return view


def pinned_view(
    answer: Answer,
    wishes: Sequence[PinTarget],
    store: Store,
    *,
    base: Path,
    weigh: Callable[[Answer, Config], Answer],
) -> PinnedView:
    """Return the exact weights that satisfy all wishes at once, or the wishes that exclude each other.

    Raises UsageError `one_signal`, `bad_value`, UnknownTarget.
    """
    pool, k, config = _both(answer), max(1, answer.plan.limit), answer.plan.config
    for wish in wishes:
        expect_choice("want", wish.want, get_args(Want))
    targets = {wish: _rows(store, wish.target, base=base) for wish in wishes}
    swept = _sweep(answer, pool, k)
    granted = {wish: _granting_weights(wish, targets[wish], swept, answer) for wish in targets}
    shared, conflict = together(granted)
    current = weight_of(config)
    proposed = None
    interval = nearest(shared, current)
    weight = None if interval is None else weight_inside(interval, current)
    if weight is not None:
        share = exact(weight)
        again = weigh(answer, config._replace(bm25_weight=float(1 - share), vector_weight=float(share)))
        confirmed = all(_holds(wish, targets[wish], again, k) for wish in targets)
        proposed = ProposedView(weight=weight, settings=weights(weight), confirmed=confirmed)
    return PinnedView(
        k=k,
        wishes=[
            WishView(
                want=wish.want,
                target=wish.target,
                chunks=len(chunks),
                candidates=sum(key.rowid in chunks for key in pool.keys),
                weights=[interval_view(each) for each in granted[wish]],
                holds=_holds(wish, chunks, answer, k),
            )
            for wish, chunks in targets.items()
        ],
        weights=[interval_view(each) for each in shared],
        conflict=[list(targets).index(wish) for wish in conflict],
        proposed=proposed,
    )


def _both(answer: Answer) -> Pool:
    """Return the pool if both signals rank it."""
    pool = answer.pool
    if pool is None or answer.plan.order or not (pool.lexical and pool.semantic):
        raise UsageError(
            "one_signal",
            "The weight has no effect here, because only one signal or ORDER BY ranks the rows.",
            hint=Hint("tune", Verbatim('"words"'), sweep=True),
        )
    return pool


def _sweep(answer: Answer, pool: Pool, k: int) -> Sweep:
    groups = None if answer.copies is None else answer.copies.text_numbers
    if answer.plan.table == "doc":
        groups = [key.doc_rowid for key in pool.keys]
    return sweep(lines_of(pool, answer.plan.config), k, groups)


def _break_points(pool: Pool, swept: Sweep, store: Store) -> list[BreakPointView]:
    """Return every weight at which the rows change."""
    rows = [tuple(row) for row in swept.orders.tolist()]
    # The open cells in turn, with the single weights 0 and 1 at the ends.
    weights_at = [Fraction(0), *swept.weights[1:-1], Fraction(1)]
    sides = [rows[0], *rows[1:-1:2], rows[-1]]
    points = [(w, *pair) for w, pair in zip(weights_at, pairwise(sides), strict=True) if pair[0] != pair[1]]
    moved = {position for _, before, after in points for position in (*before, *after)}
    named = {row.rowid: row for row in store.fetch(sorted(pool.keys[position].rowid for position in moved))}
    return [
        BreakPointView(weight=float(w), changes=list(_moves(before, after, pool, named)))
        for w, before, after in points
    ]


def _moves(before: Sequence[int], after: Sequence[int], pool: Pool, named: Mapping[int, Row]) -> Iterable[ShiftView]:
    was = {position: rank for rank, position in enumerate(before, start=1)}
    becomes = {position: rank for rank, position in enumerate(after, start=1)}
    for position in dict.fromkeys((*after, *before)):
        if was.get(position) != becomes.get(position):
            row = named[pool.keys[position].rowid]
            view = ShiftView(
                id=row.chunk.id,
                path=row.doc.path,
                line_start=row.chunk.line_start,
                line_end=row.chunk.line_end,
                before=was.get(position),
                after=becomes.get(position),
            )
            if row.chunk.place is not None:
                view["place"] = row.chunk.place
            yield view


def _rows(store: Store, target: str, *, base: Path) -> frozenset[int]:
    """Return the rowids of the chunks that a path, `path:first-last` or an id names."""
    kind, full_id = finding.one(store, target, base=base) or ("", "")
    if kind == "chunk":
        return frozenset({store.rowid("chunk", full_id)})
    if kind == "doc":
        return frozenset(row.rowid for row in store.chunks_of(full_id))
    lines = _LINES.fullmatch(target)
    if lines is None:
        raise finding.unknown(target, store)
    part = target[lines.end("path") :]
    kind, full_id = finding.one(store, lines["path"], base=base, part=part) or ("", "")
    if kind != "doc":
        raise finding.unknown(target, store)
    first, last = int(lines["first"]), int(lines["last"] or lines["first"])
    rows = [row for row in store.chunks_of(full_id) if row.chunk.line_start <= last and first <= row.chunk.line_end]
    if not rows:
        raise finding.no_such_lines(lines["path"], finding.lines_in(store.text_of(full_id)))
    return frozenset(row.rowid for row in rows)


def _granting_weights(wish: PinTarget, chunks: frozenset[int], swept: Sweep, answer: Answer) -> tuple[Interval, ...]:
    """Return the weights that satisfy the wish."""
    positions = _positions(chunks, answer)
    labels = [_comes_true(wish, positions.intersection(row)) for row in tops(swept)]
    return tuple(interval for interval, holds in runs(swept.weights, labels) if holds)


def _holds(wish: PinTarget, chunks: frozenset[int], answer: Answer, k: int) -> bool:
    """Return True if the final answer, after all reordering, satisfies the wish."""
    if answer.pool is None or answer.ranked is None:
        return False
    shown = answer.ranked.order[: min(k, answer.total)]
    return _comes_true(wish, _positions(chunks, answer).intersection(shown))


def _positions(chunks: frozenset[int], answer: Answer) -> set[int]:
    """Return the candidates that are these chunks, or copies of them if copies are collapsed."""
    positions = [position for position, key in enumerate(_both(answer).keys) if key.rowid in chunks]
    if answer.copies is None:
        return set(positions)
    return {each for position in positions for each in answer.copies.alike(position)}


def _comes_true(wish: PinTarget, shown: set[int]) -> bool:
    return bool(shown) == (wish.want == "in")
