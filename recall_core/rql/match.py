"""The reference meaning of filters and sort orders. Each store's compiled form must agree with it, row for row."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

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
    Score,
    Value,
    Words,
)
from recall_core.rql.fields import FieldValue, mentions_chunk, value_of
from recall_core.rql.patterns import glob_match, ilike_match, like_match
from recall_core.types import Chunk, Document, Hit, Row

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {  # both values are always of one family
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

_PATTERN = {"LIKE": like_match, "ILIKE": ilike_match, "GLOB": glob_match}


HasWords = Callable[[str, Chunk], bool]
"""Returns True if a chunk has these words next to each other; see `store.port.Search.has_words`."""


def without_index(text: str, chunk: Chunk) -> bool:
    """Raise TypeError: only a store knows the words of its chunks."""
    raise TypeError("a filter with lexical(…) needs has_words")


def match(expr: Expr, row: Row, has_words: HasWords = without_index) -> bool:
    """Return True if a chunk and its document pass the filter.

    Logic has two values: a missing value, or one of another type, fails every comparison, and NOT is the complement.
    Text compares by code point.
    """
    return _holds(expr, row.doc, row.chunk, has_words)


def match_document(
    expr: Expr, document: Document, chunks: Iterable[Chunk], has_words: HasWords = without_index
) -> bool:
    """Return True if a document passes: one of its chunks and the document satisfy the whole filter.

    A filter without chunk fields is checked on the document alone, even without chunks.
    """
    if mentions_chunk(expr):
        return any(_holds(expr, document, chunk, has_words) for chunk in chunks)
    return _holds(expr, document, None, has_words)


def _holds(expr: Expr, document: Document, chunk: Chunk | None, has_words: HasWords) -> bool:
    if isinstance(expr, Not):
        return not _holds(expr.operand, document, chunk, has_words)
    if isinstance(expr, And):
        return all(_holds(term, document, chunk, has_words) for term in expr.terms)
    if isinstance(expr, Or):
        return any(_holds(term, document, chunk, has_words) for term in expr.terms)
    if isinstance(expr, Words):
        return chunk is not None and has_words(expr.text, chunk)
    value = value_of(expr.field, document, chunk)
    if isinstance(expr, Compare) and expr.op == "!=":
        return not _tests(expr._replace(op="="), value)
    return _tests(expr, value)


def _tests(expr: Predicate, value: FieldValue) -> bool:
    """Return True if a field's value passes a predicate other than `!=`; one of several tags is enough."""
    if isinstance(expr, IsNull):
        return value is None or value == ()
    if isinstance(expr, Has):
        held = [tag in value for tag in expr.values] if isinstance(value, tuple) else [False]
        return all(held) if expr.mode == "ALL" else any(held)
    if isinstance(value, tuple):
        return any(_test_one(expr, tag) for tag in value)
    return _test_one(expr, value)


def _test_one(expr: Compare | Like | In | Between, value: FieldValue) -> bool:
    if isinstance(expr, Like):
        return isinstance(value, str) and _PATTERN[expr.op](expr.pattern, value)
    if isinstance(expr, In):
        return any(_compare("=", value, wanted) for wanted in expr.values)
    if isinstance(expr, Between):
        return _compare(">=", value, expr.low) and _compare("<=", value, expr.high)
    return _compare(expr.op, value, expr.value)


def _compare(op: str, value: FieldValue, wanted: Value) -> bool:
    return _family(value) == _family(wanted) and _COMPARE[op](value, wanted)


def _family(value: FieldValue) -> str:
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else "nothing comparable"


def sort_hits(hits: Iterable[Hit], keys: Iterable[OrderKey]) -> list[Hit]:
    """Return the hits sorted by these keys. Rows without a value come last; ties go by path, offset and id.

    Text sorts by code point. A metadata key sorts numbers (FALSE is 0, TRUE is 1) before text.
    """
    found = sorted(hits, key=_natural)
    for key in reversed(tuple(keys)):
        known = [(value, hit) for hit in found if (value := _sortable(key.by, hit)) is not None]
        missing = [hit for hit in found if _sortable(key.by, hit) is None]
        known.sort(key=lambda pair: pair[0], reverse=key.descending)
        found = [hit for _, hit in known] + missing
    return found


def _natural(hit: Hit) -> tuple[str, int, str]:
    if hit.chunk is None:
        return hit.doc.path, 0, hit.doc.id
    return hit.doc.path, hit.chunk.offset, hit.chunk.id


def _sortable(by: Field | Score, hit: Hit) -> tuple[bool, str | float] | None:
    value = hit.score if isinstance(by, Score) else value_of(by, hit.doc, hit.chunk)
    if isinstance(value, tuple):
        value = value[0] if value else None
    return None if value is None else (isinstance(value, str), value)
