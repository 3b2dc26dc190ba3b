"""Compile filters and orders to Postgres's SQL over `document d` and `chunk c`, with every value bound.

A pattern that Postgres cannot match exactly (GLOB, ILIKE) is matched here against the distinct values of its column.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

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
from recall_core.rql.fields import info_of, mentions_chunk, scalar
from recall_core.rql.patterns import glob_match, glob_prefix, ilike_match, like_match
from recall_core.store.postgres.schema import Execute, index_entry
from recall_core.types import LiteralQuery, Phrase, Table
from recall_core.words.analyzer import Analyzer

LIVE = "d.is_live AND c.is_live"
CHUNKS = "document d JOIN chunk c ON c.doc_id = d.id"
NATURAL = "d.path, c.start"
WITH_TERM = "SELECT unnest(numbers) FROM posting WHERE term = ANY(%s::text[])"

_COLUMNS = {
    "doc.id": "d.id",
    "doc.path": "d.path",
    "doc.mtime": "d.mtime",
    "doc.hash": "d.hash",
    "doc.source": "d.source",
    "doc.title": "d.title",
    "chunk.id": "c.id",
    "chunk.doc_id": "d.id",
    "chunk.offset": "c.start",
    "chunk.tokens": "c.tokens",
    "chunk.text": "c.text",
}
_PATTERNS = {"LIKE": like_match, "ILIKE": ilike_match, "GLOB": glob_match}


_FIRST_TAG = "d.tags[1]"
_NUMBER = "(d.metadata ->> %s)::numeric"
_META_ORDER = (
    "WHEN 'string' THEN 1 WHEN 'number' THEN 0 WHEN 'boolean' THEN 0",
    f"WHEN 'number' THEN {_NUMBER} WHEN 'boolean' THEN (d.metadata ->> %s)::boolean::int",
    "WHEN 'string' THEN (d.metadata ->> %s) COLLATE \"C\"",
)
"""Cases of a metadata value: numbers before text, then each by itself."""


class BoundSql(NamedTuple):
    """A piece of SQL and the values of its placeholders, in order."""

    sql: str
    params: tuple[Any, ...] = ()


class Compiler:
    """Compiles for one collection. execute: reads the values that patterns are matched against."""

    def __init__(self, execute: Execute, analyzer: Analyzer) -> None:
        self._execute = execute
        self._analyzer = analyzer

    def filter(self, expr: Expr, *, table: Table) -> BoundSql:
        """Return a condition that is true for the rows of `rql.match` and false, never NULL, for all others.

        With table "doc", a filter that mentions a chunk passes if one live chunk satisfies all of it.
        """
        inner = self._compile(expr)
        if table == "chunk" or not mentions_chunk(expr):
            return inner
        sql = f"EXISTS (SELECT 1 FROM chunk c WHERE c.doc_id = d.id AND c.is_live AND {inner.sql})"
        return BoundSql(sql, inner.params)

    def _compile(self, expr: Expr) -> BoundSql:
        if isinstance(expr, Not):
            inner = self._compile(expr.operand)
            return BoundSql(f"(NOT {inner.sql})", inner.params)
        if isinstance(expr, And | Or):
            return _join([self._compile(term) for term in expr.terms], "AND" if isinstance(expr, And) else "OR")
        if isinstance(expr, Words):
            phrase = self._analyzer.phrase(expr.text)
            return BoundSql("false") if phrase is None else holds(phrase)
        kind = info_of(expr.field).type
        if kind == "tags":
            return self._on_tags(expr)
        if kind == "meta":
            return self._on_meta(expr)
        return self._on_column(expr, _COLUMNS[f"{expr.field.table}.{expr.field.name}"])

    def _on_column(self, expr: Predicate, column: str) -> BoundSql:
        is_nullable = column == "d.source"
        if isinstance(expr, IsNull):
            return BoundSql(f"({column} IS NULL)" if is_nullable else "false")
        if isinstance(expr, Compare) and expr.op == "!=":
            return BoundSql(f"({column} IS DISTINCT FROM %s)", (expr.value,))
        if isinstance(expr, Like) and expr.op != "LIKE":
            test = self._matching(expr, column)
        else:
            test = _test(expr, BoundSql(column))
        return BoundSql(f"({column} IS NOT NULL AND {test.sql})", test.params) if is_nullable else test

    def _matching(self, expr: Like, column: str) -> BoundSql:
        """Return the test for the values of a column, read and matched here, that match a pattern."""
        prefix = glob_prefix(expr.pattern) if expr.op == "GLOB" else ""
        source = f"{CHUNKS} WHERE {LIVE}" if column.startswith("c.") else "document d WHERE d.is_live"
        sql = f"SELECT DISTINCT {column} FROM {source} AND starts_with({column}, %s)"
        match = _PATTERNS[expr.op]
        values = [value for (value,) in self._execute(sql, (prefix,)) if match(expr.pattern, value)]
        return BoundSql(f"({column} = ANY(%s::text[]))", (values,))

    def _on_tags(self, expr: Predicate) -> BoundSql:
        if isinstance(expr, IsNull):
            return BoundSql("(d.tags = '{}')")
        if isinstance(expr, Compare) and expr.op == "!=":
            return BoundSql("(NOT d.tags @> %s::text[])", ([expr.value],))
        if isinstance(expr, Has | In):
            how = "@>" if isinstance(expr, Has) and expr.mode == "ALL" else "&&"
            return BoundSql(f"(d.tags {how} %s::text[])", (list(expr.values),))
        if isinstance(expr, Compare) and expr.op == "=":
            return BoundSql("(d.tags @> %s::text[])", ([expr.value],))
        if isinstance(expr, Like):
            tags = self._execute("SELECT DISTINCT unnest(tags) FROM document WHERE is_live")
            match = _PATTERNS[expr.op]
            held = [tag for (tag,) in tags if match(expr.pattern, tag)]
            return BoundSql("(d.tags && %s::text[])", (held,))
        test = _test(expr, BoundSql("t.tag"))
        sql = f"(EXISTS (SELECT 1 FROM unnest(d.tags) AS t(tag) WHERE {test.sql}))"
        return BoundSql(sql, test.params)

    def _on_meta(self, expr: Predicate) -> BoundSql:
        key = expr.field.key or ""
        if isinstance(expr, IsNull):
            return _has_type(key, "null", "array", "object")
        if isinstance(expr, Compare) and expr.op == "!=":
            inner = self._on_meta(expr._replace(op="="))
            return BoundSql(f"(NOT {inner.sql})", inner.params)
        if isinstance(expr, In):
            return _join([self._on_meta(Compare(expr.field, "=", value)) for value in expr.values], "OR")
        if isinstance(expr, Compare) and isinstance(expr.value, bool):
            return BoundSql("(coalesce(d.metadata -> %s = %s::jsonb, false))", (key, json.dumps(expr.value)))
        if isinstance(expr, Like):
            value = "coalesce(d.metadata ->> %s, '') COLLATE \"C\""
            rows = self._execute("SELECT DISTINCT metadata ->> %s FROM document WHERE is_live", (key,))
            match = _PATTERNS[expr.op]
            values = [each for (each,) in rows if each is not None and match(expr.pattern, each)]
            test = BoundSql(f"({value} = ANY(%s::text[]))", (key, values))
            types = _has_type(key, "string")
            return BoundSql(f"({types.sql} AND {test.sql})", types.params + test.params)
        operand = expr.value if isinstance(expr, Compare) else expr.low if isinstance(expr, Between) else ""
        if isinstance(operand, str):
            types, column = _has_type(key, "string"), '(d.metadata ->> %s) COLLATE "C"'
        else:
            types, column = _has_type(key, "number"), _NUMBER
        test = _test(expr, BoundSql(column, (key,)))
        # CASE, because AND may evaluate a cast before the test of the type.
        return BoundSql(f"(CASE WHEN {types.sql} THEN {test.sql} ELSE false END)", types.params + test.params)

    def order(self, keys: Iterable[OrderKey], table: Table) -> BoundSql:
        """Return the ORDER BY terms: the keys, rows without a value last, then path, offset and id."""
        terms: list[str] = []
        params: list[str] = []
        for by, direction in ((key.by, "DESC" if key.descending else "ASC") for key in keys):
            if not isinstance(by, Field):
                continue
            kind = info_of(by).type
            if kind != "meta":
                terms.append(
                    f"{_FIRST_TAG if kind == 'tags' else _COLUMNS[f'{by.table}.{by.name}']} {direction} NULLS LAST"
                )
                continue
            spelled = ", ".join(
                f"CASE jsonb_typeof(d.metadata -> %s) {each} END {direction} NULLS LAST" for each in _META_ORDER
            )
            terms.append(spelled)
            params += [by.key or ""] * spelled.count("%s")
        ending = "d.path, c.start, c.id" if table == "chunk" else "d.path, d.id"
        return BoundSql(", ".join([*terms, ending]), tuple(params))


def holds(phrase: Phrase) -> BoundSql:
    """Return the condition for chunks that contain these words next to each other, in the title or the text."""
    if len(phrase.terms) == 1:
        return BoundSql(f"(c.number IN ({WITH_TERM}))", ([index_entry(phrase.terms[0])],))
    spelled = f" {' '.join(phrase.terms)} "
    terms = [[index_entry(term)] for term in dict.fromkeys(phrase.terms)]
    all_terms = " INTERSECT ".join([WITH_TERM] * len(terms))
    sql = f"(c.number IN ({all_terms}) AND (strpos(c.title_words, %s) > 0 OR strpos(c.body_words, %s) > 0))"
    return BoundSql(sql, (*terms, spelled, spelled))


class TextQuery(NamedTuple):
    """A query for ts_rank_cd.

    terms: its words.
    tsquery: the query, in which a number from 1 is the lexeme of the term with that number. So no word of a query or
    a text has to be quoted.
    proposed: condition for chunks that may match, by their postings.
    """

    terms: list[str]
    tsquery: str
    proposed: BoundSql


def text_query(query: LiteralQuery) -> TextQuery:
    """Return words joined by `|` or `&`, phrases by `<->`. In a title, only lexemes with the label A count."""
    numbers: dict[str, int] = {}

    def spell(phrase: Phrase, label: str = "") -> str:
        label = ":A" if phrase.in_title else label
        if phrase.any_of:
            return " | ".join(spell(each, label) for each in phrase.any_of)
        return " <-> ".join(f"{numbers.setdefault(term, len(numbers) + 1)}{label}" for term in phrase.terms)

    joint = " | " if query.match == "any" else " & "
    tsquery = joint.join(dict.fromkeys(f"({spell(each)})" for each in query.phrases))
    among = [list(numbers)]
    if query.match == "all":
        among = [[term for one in each.any_of or (each,) for term in one.terms] for each in query.phrases]
    proposed = _join(
        [BoundSql(f"c.number IN ({WITH_TERM})", (list(map(index_entry, terms)),)) for terms in among], "AND"
    )
    return TextQuery(list(numbers), tsquery, proposed)


def is_native(expr: Predicate | Words) -> bool:
    """Return True if the database compares a column or a tag itself; see `store.port.Search`."""
    if isinstance(expr, Words):
        return True
    return not isinstance(expr, Like) and info_of(expr.field).type != "meta"


def metadata_for_filters(meta: str) -> str:
    """Return a document's metadata as JSON whose numbers Postgres compares as filters do.

    An integer beyond 64 bits is a float there, and a whole float is an integer. Infinity and NaN are null.
    """
    found = json.loads(meta, parse_constant=lambda _: None)
    plain: dict[str, Any] = {
        key: [] if isinstance(value, list | dict) else scalar(value) for key, value in found.items()
    }
    whole = {key: int(value) for key, value in plain.items() if isinstance(value, float) and value.is_integer()}
    plain.update(whole)
    return json.dumps(plain, ensure_ascii=False)


def _join(parts: Sequence[BoundSql], operator: str) -> BoundSql:
    sql = f" {operator} ".join(part.sql for part in parts)
    return BoundSql(f"({sql})", tuple(value for part in parts for value in part.params))


def _test(expr: Predicate, column: BoundSql) -> BoundSql:
    """Return the predicate on an expression that is not NULL and has the values' type."""
    if isinstance(expr, Compare):
        return BoundSql(f"({column.sql} {expr.op} %s)", (*column.params, _bound(expr.value)))
    if isinstance(expr, Between):
        both = f"({column.sql} >= %s AND {column.sql} <= %s)"
        return BoundSql(both, (*column.params, _bound(expr.low), *column.params, _bound(expr.high)))
    if isinstance(expr, In | Has):
        marks = ", ".join(["%s"] * len(expr.values))
        return BoundSql(f"({column.sql} IN ({marks}))", (*column.params, *map(_bound, expr.values)))
    if isinstance(expr, Like):
        is_open = (len(expr.pattern) - len(expr.pattern.rstrip("\\"))) % 2
        return BoundSql(f"({column.sql} LIKE %s)", (*column.params, expr.pattern + "\\" * is_open))
    return BoundSql("false")


def _bound(value: Value) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() else Decimal(repr(value))
    return value


def _has_type(key: str, *types: str) -> BoundSql:
    names = ", ".join(f"'{name}'" for name in types)
    return BoundSql(f"(coalesce(jsonb_typeof(d.metadata -> %s), 'null') IN ({names}))", (key,))
