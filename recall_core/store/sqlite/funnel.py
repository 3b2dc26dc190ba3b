"""Count in one statement how many rows each part of a filter passes and removes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from recall_core.rql.ast import And, Expr, IsNull, Not, Or, Words
from recall_core.rql.fields import mentions_chunk
from recall_core.rql.print import print_filter
from recall_core.store.sqlite.compile import Compiled, compile_filter, join
from recall_core.store.sqlite.records import LIVE, Execute, scan_of
from recall_core.store.values import FilterCounts, Removed
from recall_core.types import Table

_MOST_COLUMNS = 900
"""Above this, parts are counted one by one: SQLite allows 2,000 columns, and an expression depth of 1,000."""

_ROWS = {
    "chunk": f"doc d JOIN chunk c ON c.doc = d.rowid WHERE {LIVE}",
    "doc": "doc d WHERE d.deleted = 0",
}


def filter_counts(execute: Execute, where: Expr, *, table: Table) -> FilterCounts:
    """Return the counts of every part of a filter. A top-level AND is a chain whose terms remove rows in order."""
    chain = where.terms if isinstance(where, And) else (where,)
    parts = {print_filter(part): part for term in chain for part in parts_of(term)}
    is_rowwise = table == "chunk" or not mentions_chunk(where)
    if is_rowwise and 2 * len(parts) + len(chain) <= _MOST_COLUMNS:
        return _at_once(execute, chain, parts, table)
    return count_one_by_one(lambda terms: _count(execute, terms, table), where)


def parts_of(expr: Expr) -> list[Expr]:
    """Return the expression and everything in it, outermost first."""
    if isinstance(expr, Not):
        return [expr, *parts_of(expr.operand)]
    if isinstance(expr, And | Or):
        return [expr, *(part for term in expr.terms for part in parts_of(term))]
    return [expr]


def _at_once(execute: Execute, chain: Sequence[Expr], parts: Mapping[str, Expr], table: Table) -> FilterCounts:
    """Test each row once against every predicate. All counts are sums over the results."""
    leaves = {text: part for text, part in parts.items() if not isinstance(part, And | Or | Not)}
    tests = [compile_filter(leaf, table=table) for leaf in leaves.values()]
    lacking = {text: IsNull(leaf.field) for text, leaf in leaves.items() if not isinstance(leaf, Words)}
    tests += [compile_filter(each, table=table) for each in lacking.values()]
    columns = ", ".join(f"{test.sql} AS v{number}" for number, test in enumerate(tests))
    named = {text: f"v{number}" for number, text in enumerate(leaves)}
    terms = [_over(term, named) for term in chain]
    cases = " ".join(f"WHEN NOT {term} THEN {number}" for number, term in enumerate(terms))
    sums = [_over(part, named) for part in parts.values()]
    sums += [f"v{number}" for number in range(len(leaves), len(tests))]
    sums += [f"NOT {term}" for term in terms]
    sums += [f"first = {number}" for number in range(len(terms))]
    sums += [f"failures = 1 AND NOT {term}" for term in terms]
    sql = (
        f"WITH tested AS MATERIALIZED (SELECT {columns} FROM {_ROWS[table]}), "
        f"counted AS MATERIALIZED (SELECT *, {' + '.join(f'(NOT {term})' for term in terms)} AS failures, "
        f"CASE {cases} END AS first FROM tested) "
        f"SELECT count(*), {', '.join(f'coalesce(sum({each}), 0)' for each in sums)} FROM counted"
    )
    rows, *found = execute(sql, tuple(value for test in tests for value in test.params))[0]
    passing, rest = found[: len(parts)], found[len(parts) :]
    missing, removed = rest[: len(lacking)], rest[len(lacking) :]
    size = len(chain)
    triples = zip(removed[:size], removed[size : 2 * size], removed[2 * size :], strict=True)
    return FilterCounts(
        rows,
        dict(zip(parts, passing, strict=True)),
        dict(zip(lacking, missing, strict=True)),
        tuple(Removed(*triple) for triple in triples),
    )


def _over(expr: Expr, named: Mapping[str, str]) -> str:
    """Return the expression over the columns with its predicates' results."""
    if isinstance(expr, Not):
        return f"(NOT {_over(expr.operand, named)})"
    if isinstance(expr, And | Or):
        joint = "AND" if isinstance(expr, And) else "OR"
        return join([Compiled(_over(term, named)) for term in expr.terms], joint).sql
    return named[print_filter(expr)]


def count_one_by_one(count: Callable[[Sequence[Expr]], int], where: Expr) -> FilterCounts:
    """Count every combination separately, because a document must pass several parts by one and the same chunk.

    count: returns the number of rows that pass all of these terms.
    """
    chain = where.terms if isinstance(where, And) else (where,)
    parts = {print_filter(part): part for term in chain for part in parts_of(term)}
    leaves = {text: part for text, part in parts.items() if not isinstance(part, And | Or | Not)}
    rows = count(())
    removed = []
    before = rows
    passing_all = count(chain)
    for number, term in enumerate(chain):
        after = count(chain[: number + 1])
        others = count((*chain[:number], *chain[number + 1 :]))
        removed.append(Removed(rows - count((term,)), before - after, others - passing_all))
        before = after
    return FilterCounts(
        rows,
        {text: count((part,)) for text, part in parts.items()},
        {text: count((IsNull(leaf.field),)) for text, leaf in leaves.items() if not isinstance(leaf, Words)},
        tuple(removed),
    )


def _count(execute: Execute, terms: Sequence[Expr], table: Table) -> int:
    where: Expr | None = None
    if terms:
        where = terms[0] if len(terms) == 1 else And(tuple(terms))
    return int(execute(*scan_of(where, table=table, order=()).total)[0][0])
