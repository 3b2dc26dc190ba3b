"""Views of `recall rql` for the JSON contract."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class RqlView(TypedDict):
    """A valid query in its canonical spelling."""

    text: str
    path: NotRequired[str]
    """The formatted file."""
    changed: NotRequired[bool]
    """True if formatting changed the file."""


class FilterView(TypedDict):
    """A filter or a part of it, with the number of live rows of the query's table that pass it alone.

    native (of a predicate): SQLite alone compares a column or a tag. Otherwise a function runs for each row.
    """

    kind: Literal["and", "or", "not", "predicate"]
    text: str
    rows: int
    native: NotRequired[bool]
    terms: NotRequired[list[FilterView]]


class ExplainedView(TypedDict):
    """The plan of a query."""

    table: Literal["chunk", "doc"]
    select: list[str]
    order: list[str]
    rows: int
    """Live rows of its table."""
    filter: NotRequired[FilterView]
    passing: int
    """Rows that pass the filter."""
    steps: list[str]


class CandidateView(TypedDict):
    """A completion: text replaces the source from start to end (code points, end exclusive)."""

    text: str
    kind: Literal["keyword", "field", "table", "function", "operator", "option", "value"]
    start: int
    end: int
    detail: str
