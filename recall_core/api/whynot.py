"""Responses of whynot, trace and explain_query."""

from __future__ import annotations

from time import perf_counter
from typing import cast

from recall_core import views
from recall_core.api.answers import expect_snapshot, fresh_reading, stats_view
from recall_core.api.engine import Engine
from recall_core.contract import OK
from recall_core.contract.explaining import WhyNotView
from recall_core.contract.responses import ExplainedResponse, TraceResponse, WhyNotResponse
from recall_core.explain.funnel import trace as traced
from recall_core.explain.whynot.question import Question
from recall_core.explain.whynot.why import why_not as explained
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.asking import Ask, Pack
from recall_core.retrieve.passage import passages
from recall_core.retrieve.plan import Plan
from recall_core.rql.ast import And, Expr, Not, Or
from recall_core.rql.print import print_filter, print_order
from recall_core.rql.views import ExplainedView, FilterView
from recall_core.store.port import Store
from recall_core.types import Table


def question_of(words: str | None, ask: Ask, pack: Pack, *, rql: str | None) -> Question:
    """Return words or a query with their options as the question to explain."""
    return Question(
        words=words or "",
        rql=rql,
        mode=ask.mode,
        filter=ask.filter,
        k=ask.k,
        settings=ask.settings,
        exact=ask.exact,
        budget_tokens=pack.budget_tokens,
        diversity=pack.diversity,
        counter=pack.counter,
    )


def asker_of(engine: Engine, question: Question) -> Engine:
    """Return an engine for repeated queries, which embeds the same words once."""
    return engine if question.mode == "lexical" else engine.once()


def why_not(engine: Engine, question: Question, target: str, ask: Ask, *, fixes: bool) -> WhyNotResponse:
    """Return the explanation of one target. Raises UnknownTarget, SnapshotMismatch."""
    with engine.store.reading():
        started = perf_counter()
        done = explained(asker_of(engine, question), question, target, fixes=fixes)
        answer = done.answer
        expect_snapshot(answer, ask)
        add_passage(done.view, engine, answer)
        return {
            **OK,
            "query": views.query_echo(answer.plan, answer.pool, limit=answer.plan.limit),
            "whynot": done.view,
            "stats": stats_view(answer, started),
            "warnings": [*engine.notes(), *answer.warnings],
        }


def add_passage(view: WhyNotView, engine: Engine, answer: Answer) -> None:
    """Add the best passage of the missing chunk, if a signal is in use."""
    if "chosen" not in view["target"] or answer.pool is None:
        return
    chosen = view["target"]["chosen"]
    rows = engine.store.fetch([engine.store.rowid("chunk", chosen["chunk_id"])])
    embedder = None if answer.plan.semantic is None else engine.embedder
    for passage in passages(answer, rows, store=engine.store, embedder=embedder):
        chosen["passage"] = passage


def trace(engine: Engine, question: Question, ask: Ask) -> TraceResponse:
    """Return the funnel of one query. Raises SnapshotMismatch."""
    with engine.store.reading():
        started = perf_counter()
        done = traced(asker_of(engine, question), question)
        answer = done.answer
        expect_snapshot(answer, ask)
        return {
            **OK,
            "query": views.query_echo(answer.plan, answer.pool, limit=answer.plan.limit),
            "trace": done.view,
            "stats": stats_view(answer, started),
            "warnings": [*engine.notes(), *answer.warnings],
        }


def explain_query(engine: Engine, plan: Plan, ask: Ask) -> ExplainedResponse:
    """Return what a query does. Rows are counted exactly, and steps are those of reading the rows in order."""
    store = engine.store
    with fresh_reading(engine, ask) as started:
        answer = engine.answer(plan)
        expect_snapshot(answer, ask)
        ending = "doc.path, chunk.offset, chunk.id" if plan.table == "chunk" else "doc.path, doc.id"
        natural = ending if plan.mode == "filter" else f"score DESC, {ending}"
        rows = passing = _count(None, plan.table, store)
        view: dict[str, object] = {
            "table": plan.table,
            "select": ["*"] if plan.select is None else list(plan.select),
            "order": [print_order(key) for key in plan.order] or [natural],
            "rows": rows,
        }
        if plan.where is not None:
            tree = _filter_view(plan.where, plan.table, store)
            passing = tree["rows"]
            view["filter"] = tree
        steps = list(store.steps(plan.where, table=plan.table, order=plan.order))
        return {
            **OK,
            "query": views.query_echo(plan, answer.pool, limit=plan.limit),
            "explained": cast("ExplainedView", {**view, "passing": passing, "steps": steps}),
            "stats": stats_view(answer, started),
            "warnings": [*engine.notes(), *answer.warnings],
        }


def _filter_view(expr: Expr, table: Table, store: Store) -> FilterView:
    text, rows = print_filter(expr), _count(expr, table, store)
    if isinstance(expr, Not):
        return FilterView(kind="not", text=text, rows=rows, terms=[_filter_view(expr.operand, table, store)])
    if isinstance(expr, And | Or):
        terms = [_filter_view(term, table, store) for term in expr.terms]
        return FilterView(kind="and" if isinstance(expr, And) else "or", text=text, rows=rows, terms=terms)
    return FilterView(kind="predicate", text=text, rows=rows, native=store.is_native(expr))


def _count(where: Expr | None, table: Table, store: Store) -> int:
    return store.scan(where, table=table, order=(), limit=0, offset=0)[0]
