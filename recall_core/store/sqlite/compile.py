"""Compile filters and orders to SQL over `doc d`, `chunk c` and `doc_tag`, with every value bound."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from recall_core.named import NamedTuple
from recall_core.rql.ast import (
    And,
    Between,
    Compare,
    Expr,
    Field,
    Has,
    In,
    IsNull,
    Like,
    Not,
    Or,
    OrderKey,
    Predicate,
    Value,
    Words,
)
from recall_core.rql.fields import info_of, mentions_chunk
from recall_core.rql.patterns import glob_match, glob_prefix, ilike_match, like_match, like_prefix
from recall_core.types import Table


class Compiled(NamedTuple):
    """A piece of SQL and the values of its question marks, in order."""

    sql: str
    params: tuple[Value, ...] = ()


# SQLite may call these before the type test that comes first in the SQL, so they accept any value.


def _on_any_value(match: Callable[[str, str], bool]) -> Callable[..., int]:
    return lambda pattern, value: int(isinstance(value, str) and match(pattern, value))


FUNCTIONS: dict[str, tuple[int, Callable[..., int]]] = {
    "recall_like": (2, _on_any_value(like_match)),
    "recall_ilike": (2, _on_any_value(ilike_match)),
    "recall_glob": (2, _on_any_value(glob_match)),
}
"""SQL functions used by compiled filters, with their number of arguments. All are deterministic."""

_COLUMNS = {
    "doc.id": "d.id",
    "doc.path": "d.path",
    "doc.mtime": "d.mtime",
    "doc.hash": "d.hash",
    "doc.source": "d.source",
    "doc.title": "d.title",
    "chunk.id": "c.id",
    "chunk.doc_id": "d.id",
    "chunk.offset": 'c."offset"',
    "chunk.tokens": "c.tokens",
    "chunk.text": "c.text",
}
_NULLABLE = ("d.source",)
_UNIQUE = ("doc.id", "doc.path", "chunk.id", "chunk.doc_id")


def compile_filter(expr: Expr, *, table: Table) -> Compiled:
    """Return a condition that is 1 for the rows of `rql.match` and 0, never NULL, for all others.

    table: "chunk" for a query over `chunk c JOIN doc d ON d.rowid = c.doc`, "doc" for a query over `doc d`.

    With "doc", a filter that mentions a chunk passes if one live chunk satisfies all of it. The caller adds the
    liveness of the rows themselves. Top-level comparisons under AND can use an index.
    """
    inner = _compile(expr, names_rows=_names_rows(expr))
    if table == "chunk" or not mentions_chunk(expr):
        return inner
    exists = f"EXISTS (SELECT 1 FROM chunk c WHERE c.doc = d.rowid AND c.deleted = 0 AND {inner.sql})"
    return Compiled(exists, inner.params)


def is_native(expr: Predicate | Words) -> bool:
    """Return True if SQLite compares a column or a tag itself, with an index if it has one, or the index has words.

    Otherwise a pattern or a metadata value is evaluated for each row.
    """
    if isinstance(expr, Words):
        return True
    sql = _predicate(expr).sql
    return "recall_" not in sql and "json_" not in sql


def begins_with(column: str, prefix: str) -> Compiled:
    """Return a condition for texts that start with the prefix: a range, which can use an index."""
    beyond = _beyond(prefix)
    sql = f"({column} >= ? AND {column} < ?)" if beyond else f"({column} >= ?)"
    return Compiled(sql, (prefix, beyond) if beyond else (prefix,))


def order_sql(keys: Iterable[OrderKey], table: Table) -> Compiled:
    """Return the ORDER BY terms: the keys, rows without a value last, then path, offset and id.

    Keys by score are skipped, because rows that SQL orders have no score.
    """
    terms = [_order_term(key.by, descending=key.descending) for key in keys if isinstance(key.by, Field)]
    ending = 'd.path, c."offset", c.id' if table == "chunk" else "d.path, d.id"
    sql = ", ".join([*(term.sql for term in terms), ending])
    return Compiled(sql, tuple(value for term in terms for value in term.params))


def _names_rows(expr: Expr) -> bool:
    """Return True if the filter also requires certain paths or ids, so that few rows are left to test."""
    return any(
        (isinstance(term, In) or (isinstance(term, Compare) and term.op == "="))
        and f"{term.field.table}.{term.field.name}" in _UNIQUE
        for term in (expr.terms if isinstance(expr, And) else (expr,))
    )


def _compile(expr: Expr, *, names_rows: bool) -> Compiled:
    if isinstance(expr, Not):
        inner = _compile(expr.operand, names_rows=names_rows)
        return Compiled(f"NOT {inner.sql}", inner.params)
    if isinstance(expr, And | Or):
        terms = [_compile(term, names_rows=names_rows) for term in expr.terms]
        return join(terms, "AND" if isinstance(expr, And) else "OR")
    if isinstance(expr, Words):
        return Compiled(f"({_HAS_WORDS})", (expr.text,))
    return _predicate(expr, names_rows=names_rows)


_HAS_WORDS = "c.rowid IN (SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH recall_phrase(?))"
"""SQLite looks the words up once. `recall_phrase` is the phrase of a text, in FTS5 syntax."""


def join(parts: list[Compiled], operator: str) -> Compiled:
    """Return the parts as a balanced tree, because SQLite limits the depth of an expression."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    left, right = join(parts[:half], operator), join(parts[half:], operator)
    return Compiled(f"({left.sql} {operator} {right.sql})", left.params + right.params)


def _predicate(expr: Predicate, *, names_rows: bool = False) -> Compiled:
    kind = info_of(expr.field).type
    if kind == "tags":
        return _on_tags(expr, names_rows=names_rows)
    if kind == "meta":
        return _on_meta(expr)
    column = _COLUMNS[f"{expr.field.table}.{expr.field.name}"]
    is_nullable = column in _NULLABLE
    if isinstance(expr, IsNull):
        return Compiled(f"({column} IS NULL)" if is_nullable else "0")
    if isinstance(expr, Compare) and expr.op == "!=" and is_nullable:
        return Compiled(f"({column} IS NOT ?)", (expr.value,))
    test = _test(expr, Compiled(column))
    return Compiled(f"({column} IS NOT NULL AND {test.sql})", test.params) if is_nullable else test


def _test(expr: Predicate, column: Compiled) -> Compiled:
    """Return the predicate on an expression that is not NULL and has the values' type."""
    if isinstance(expr, Compare):
        return Compiled(f"({column.sql} {expr.op} ?)", (*column.params, expr.value))
    if isinstance(expr, Between):
        return Compiled(f"({column.sql} BETWEEN ? AND ?)", (*column.params, expr.low, expr.high))
    if isinstance(expr, In | Has):
        marks = ", ".join("?" * len(expr.values))
        return Compiled(f"({column.sql} IN ({marks}))", column.params + expr.values)
    if isinstance(expr, Like):
        return _pattern(expr, column)
    return Compiled("0")


def _pattern(expr: Like, column: Compiled) -> Compiled:
    """Return the call of the pattern's function. A bare column gets a range of the literal prefix, which uses an
    index."""
    call = Compiled(f"recall_{expr.op.lower()}(?, {column.sql})", (expr.pattern, *column.params))
    prefix = _PREFIX[expr.op](expr.pattern)
    beyond = _beyond(prefix)
    if column.params or not beyond:
        return Compiled(f"({call.sql})", call.params)
    sql = f"({column.sql} >= ? AND {column.sql} < ? AND {call.sql})"
    return Compiled(sql, (prefix, beyond, *call.params))


_PREFIX: dict[str, Callable[[str], str]] = {
    "LIKE": like_prefix,
    "ILIKE": lambda pattern: "",  # case folding leaves no range of code points
    "GLOB": glob_prefix,
}


def _beyond(prefix: str) -> str:
    """Return the smallest text greater than every text with this prefix, or "" if there is none."""
    stem = prefix.rstrip("\U0010ffff")
    if not stem:
        return ""
    following = ord(stem[-1]) + 1
    return stem[:-1] + chr(0xE000 if following == 0xD800 else following)  # skip surrogates, which are not text


def _on_tags(expr: Predicate, *, names_rows: bool) -> Compiled:
    """Return the condition on tags. The documents with the tags are found once, from the index of tags.

    names_rows: few rows are left to test, so each looks up its own tags instead.
    """
    if isinstance(expr, IsNull):
        return Compiled("NOT EXISTS (SELECT 1 FROM doc_tag t WHERE t.doc = d.rowid)")
    if isinstance(expr, Compare) and expr.op == "!=":
        inner = _on_tags(expr._replace(op="="), names_rows=names_rows)
        return Compiled(f"NOT {inner.sql}", inner.params)
    test = _test(expr, Compiled("t.tag"))
    wanted = len(set(expr.values)) if isinstance(expr, Has) and expr.mode == "ALL" else 1
    if names_rows:
        sql = f"((SELECT count(*) FROM doc_tag t WHERE t.doc = d.rowid AND {test.sql}) >= {wanted})"
    else:
        group = f" GROUP BY t.doc HAVING count(*) = {wanted}" if wanted > 1 else ""
        sql = f"(d.rowid IN (SELECT t.doc FROM doc_tag t WHERE {test.sql}{group}))"
    return Compiled(sql, test.params)


def _on_meta(expr: Predicate) -> Compiled:
    path = json_path(expr.field)
    if isinstance(expr, IsNull):
        return _has_type(path, *_MISSING)
    if isinstance(expr, Compare) and expr.op == "!=":
        inner = _on_meta(expr._replace(op="="))
        return Compiled(f"NOT {inner.sql}", inner.params)
    if isinstance(expr, Compare) and isinstance(expr.value, bool):
        return _has_type(path, "true" if expr.value else "false")
    if isinstance(expr, In):
        return _meta_in(expr)
    operand = expr.value if isinstance(expr, Compare) else expr.low if isinstance(expr, Between) else ""
    types = _has_type(path, *(_TEXT if isinstance(operand, str) else _NUMBER))
    test = _test(expr, Compiled("json_extract(d.meta, ?)", (path,)))
    return Compiled(f"({types.sql} AND {test.sql})", types.params + test.params)


def _meta_in(expr: In) -> Compiled:
    """Return one alternative for each type among the values."""
    path = json_path(expr.field)
    value = Compiled("json_extract(d.meta, ?)", (path,))
    truths = sorted({value for value in expr.values if isinstance(value, bool)})
    parts = [_has_type(path, "true" if truth else "false") for truth in truths]
    for types, wanted in (
        (_NUMBER, tuple(v for v in expr.values if not isinstance(v, bool | str))),
        (_TEXT, tuple(v for v in expr.values if isinstance(v, str))),
    ):
        if wanted:
            has_type, test = _has_type(path, *types), _test(In(expr.field, wanted), value)
            parts.append(Compiled(f"({has_type.sql} AND {test.sql})", has_type.params + test.params))
    return join(parts, "OR")


_NUMBER, _TEXT, _MISSING = ("integer", "real"), ("text",), ("null", "array", "object")


def _has_type(path: str, *types: str) -> Compiled:
    names = ", ".join(f"'{name}'" for name in types)
    return Compiled(f"(ifnull(json_type(d.meta, ?), 'null') IN ({names}))", (path,))


def json_path(field: Field) -> str:
    """Return the key as a JSON path, quoted as a JSON string, so it may contain dots, quotes and backslashes."""
    return "$." + json.dumps(field.key or "", ensure_ascii=False)


def _order_term(field: Field, *, descending: bool) -> Compiled:
    direction = "DESC" if descending else "ASC"
    kind = info_of(field).type
    if kind == "tags":
        first = "(SELECT min(t.tag) FROM doc_tag t WHERE t.doc = d.rowid)"
        return Compiled(f"{first} {direction} NULLS LAST")
    if kind == "meta":
        path = json_path(field)
        sql = "CASE WHEN json_type(d.meta, ?) NOT IN ('array', 'object') THEN json_extract(d.meta, ?) END"
        return Compiled(f"{sql} {direction} NULLS LAST", (path, path))
    column = _COLUMNS[f"{field.table}.{field.name}"]
    nulls = " NULLS LAST" if column in _NULLABLE else ""
    return Compiled(f"{column} {direction}{nulls}")
