"""The funnel: how many rows each step from the store to the answer leaves, and how many it removes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import NamedTuple, TypeVar, cast

from recall_core.contract.explaining import FunnelStageView, PredicateView, TraceView
from recall_core.explain.whynot.question import Question, as_asked, pack_of, plan_of
from recall_core.rank.fuse import dropped_by_cosine, rank
from recall_core.retrieve.answer import Answer, candidate_range, page
from recall_core.retrieve.asking import Asker
from recall_core.retrieve.plan import Plan
from recall_core.retrieve.pool import lexical_query, score_words
from recall_core.rql.ast import And, Expr, Not, Or
from recall_core.rql.print import print_filter
from recall_core.store.port import Store
from recall_core.store.values import FilterCounts
from recall_core.types import LiteralQuery, Pool

Given = TypeVar("Given")


class Trace(NamedTuple):
    """The funnel and its answer."""

    view: TraceView
    answer: Answer


class _Clock:
    """Milliseconds per stage."""

    def __init__(self) -> None:
        self.timings: dict[str, float] = {}

    def measure(self, stage: str, work: Callable[[], Given]) -> Given:
        began = perf_counter()
        done = work()
        self.timings[stage] = round((perf_counter() - began) * 1000, 3)
        return done


def trace(asker: Asker, question: Question) -> Trace:
    """Count rows at each step: store, live, filter, each signal, union, documents, kept, near, copies, shown, packed.

    Rows are chunks; with FROM doc they are documents once chunks are grouped. Both signals start from the filtered
    rows. The union counts the candidates: all filtered rows in an exact pool, else the rows that a signal proposes.
    """
    plan = plan_of(question, asker)
    clock, stages = _Clock(), _Stages()
    answer = clock.measure("answer", lambda: as_asked(asker, question, asker.answer(plan)))
    stages.add("store", clock.measure("store", asker.store.all_chunks))
    live = clock.measure("live", lambda: asker.store.info().chunks)
    stages.add("live", live)
    predicates: list[PredicateView] = []
    if plan.where is not None:
        where, table = plan.where, "chunk" if answer.pool is not None else plan.table
        counts = clock.measure("filter", lambda: asker.store.filter_counts(where, table=table))
        if table == "doc":
            stages.add("documents", counts.rows)
        predicates = _filter_views(asker.store, where, counts)
        stages.add("filter", counts.passing_all)
    if answer.pool is None:
        stages.add_unscored(answer)
    else:
        _add_scored(asker, plan, answer, clock, stages)
    _add_shown(asker, question, answer, clock, stages)
    parts = {"table": plan.table, "stages": stages.views, **({"filter": predicates} if predicates else {})}
    return Trace(cast(TraceView, {**parts, "timings": clock.timings}), answer)


class _Stages:
    """The stages so far. Each stage starts from the rows that the previous one leaves."""

    def __init__(self) -> None:
        self.views: list[FunnelStageView] = []

    @property
    def rows_left(self) -> int:
        """The number of rows left."""
        return self.views[-1]["rows_out"]

    def add(self, stage: str, rows_out: int, *, rows_in: int | None = None) -> None:
        """Append a stage."""
        before = rows_in if rows_in is not None else self.rows_left if self.views else rows_out
        self.views.append(FunnelStageView(stage=stage, rows_in=before, rows_out=rows_out))

    def add_unscored(self, answer: Answer) -> None:
        """Append the stages of rows without a score, which list every row that passes."""
        if answer.struck:
            self.add("copies", answer.total)
        elif answer.total != self.rows_left:
            self.add("documents", answer.total)


def _add_scored(asker: Asker, plan: Plan, answer: Answer, clock: _Clock, stages: _Stages) -> None:
    """Append the stages of each signal, their union, and the rows that the score keeps."""
    pool, fused, ranked = answer.pool, answer.fused, answer.ranked
    assert pool is not None  # noqa: S101 - the caller checked
    assert fused is not None  # noqa: S101
    assert ranked is not None  # noqa: S101
    passing = stages.rows_left
    if plan.lexical is not None:
        stages.add("lexical", clock.measure("lexical", lambda: _by_words(asker, plan, pool)), rows_in=passing)
    if plan.semantic is not None:
        if plan.lexical is None:
            near = _by_meaning(asker, plan, pool)  # the answer did this already
        else:
            near = clock.measure("semantic", lambda: _by_meaning(asker, plan, pool))
        stages.add("semantic", near, rows_in=passing)
    stages.add("union", len(pool.keys), rows_in=passing)
    clock.measure("kept", lambda: rank(pool, plan.config))
    if plan.table == "doc":
        stages.add("documents", len(fused))
    if plan.config.min_cosine:
        stages.add("kept", ranked.kept + answer.struck + dropped_by_cosine(ranked, plan.config))
        stages.add("near", ranked.kept + answer.struck)
    else:
        stages.add("kept", ranked.kept + answer.struck)
    if answer.struck:
        stages.add("copies", ranked.kept)


def _by_words(asker: Asker, plan: Plan, pool: Pool) -> int:
    """Return how many rows the lexical signal proposes."""
    query, _ = lexical_query(plan, asker.store)
    if not pool.exact and isinstance(query, LiteralQuery) and query.long_phrases:
        return len(score_words(query, asker.store, plan.config, where=plan.where, k=plan.config.pool))
    return _at_most(pool.lexical, plan, pool)


def _by_meaning(asker: Asker, plan: Plan, pool: Pool) -> int:
    """Return how many rows the semantic signal proposes."""
    if not pool.exact and pool.index_kind != "exact":
        meant = asker.answer(plan._replace(lexical=None)).pool
        return 0 if meant is None else len(meant.keys)
    return _at_most(pool.semantic, plan, pool)


def _at_most(raw: Sequence[float | None], plan: Plan, pool: Pool) -> int:
    """Count the rows that a signal proposes: all with a value, but in a bounded pool at most its depth."""
    held = len(raw) - raw.count(None)
    return held if pool.exact else min(held, plan.config.pool)


def _add_shown(asker: Asker, question: Question, answer: Answer, clock: _Clock, stages: _Stages) -> None:
    """Append the rows of the page, or the rows available to pack and the rows packed."""
    if question.budget_tokens is None:
        stages.add("top_k", len(clock.measure("top_k", lambda: page(answer, asker.store))))
        return
    packed = clock.measure("packed", lambda: asker.pack(answer, pack_of(question)))
    start, stop = candidate_range(answer)
    stages.add("top_k", stop - start)
    stages.add("packed", sum(len(block.chunk_ids) for block in packed.blocks))


def _filter_views(store: Store, where: Expr, counts: FilterCounts) -> list[PredicateView]:
    chain = where.terms if isinstance(where, And) else (where,)
    views = []
    for term, removed in zip(chain, counts.removed, strict=True):
        view = _predicate_view(store, term, counts)
        terms = view.pop("terms", None)
        view["removed_alone"] = removed.alone
        view["removed_in_order"] = removed.in_order
        view["removed_only_by_this"] = removed.only_by_this
        if terms is not None:
            view["terms"] = terms
        views.append(view)
    return views


def _predicate_view(store: Store, expr: Expr, counts: FilterCounts) -> PredicateView:
    text = print_filter(expr)
    rows = counts.passing[text]
    if isinstance(expr, Not):
        return PredicateView(kind="not", text=text, rows=rows, terms=[_predicate_view(store, expr.operand, counts)])
    if isinstance(expr, And | Or):
        terms = [_predicate_view(store, term, counts) for term in expr.terms]
        return PredicateView(kind="and" if isinstance(expr, And) else "or", text=text, rows=rows, terms=terms)
    missing, native = counts.missing.get(text, 0), store.is_native(expr)
    return PredicateView(kind="predicate", text=text, rows=rows, missing=missing, native=native)
