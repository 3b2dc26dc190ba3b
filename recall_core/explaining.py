"""What a query will do: its filter part by part with the rows each leaves, its order, and the database's own plan."""

from __future__ import annotations

from typing import cast

from recall_core.retrieve import Plan
from recall_core.rql.ast import And, Expr, Not, Or
from recall_core.rql.print import print_filter, print_order
from recall_core.rql.views import ExplainedView, FilterView
from recall_core.store.sqlite.compile import is_native
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import Table


def explained(plan: Plan, store: SqliteStore) -> ExplainedView:
    """The plan over this store. Rows are counted, not guessed; steps are those of reading the filtered rows in order.

    Read it in one `reading` block with whatever else is said about the same query.
    """
    rows = passing = _count(None, plan.table, store)
    view: dict[str, object] = {
        "table": plan.table,
        "select": ["*"] if plan.select is None else list(plan.select),
        "order": [print_order(key) for key in plan.order] or [_natural(plan)],
        "rows": rows,
    }
    if plan.where is not None:
        tree = _filter_view(plan.where, plan.table, store)
        passing = tree["rows"]
        view["filter"] = tree
    steps = list(store.steps(plan.where, table=plan.table, order=plan.order))
    return cast(ExplainedView, {**view, "passing": passing, "steps": steps})


def _natural(plan: Plan) -> str:
    ending = "doc.path, chunk.offset, chunk.id" if plan.table == "chunk" else "doc.path, doc.id"
    return ending if plan.mode == "filter" else f"score DESC, {ending}"


def _filter_view(expr: Expr, table: Table, store: SqliteStore) -> FilterView:
    text, rows = print_filter(expr), _count(expr, table, store)
    if isinstance(expr, Not):
        return FilterView(kind="not", text=text, rows=rows, terms=[_filter_view(expr.operand, table, store)])
    if isinstance(expr, And | Or):
        terms = [_filter_view(term, table, store) for term in expr.terms]
        return FilterView(kind="and" if isinstance(expr, And) else "or", text=text, rows=rows, terms=terms)
    return FilterView(kind="predicate", text=text, rows=rows, native=is_native(expr))


def _count(where: Expr | None, table: Table, store: SqliteStore) -> int:
    return store.scan(where, table=table, order=(), limit=0, offset=0)[0]
