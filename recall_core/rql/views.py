"""What `recall rql` answers, in the shape of the JSON contract."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class RqlView(TypedDict):
    """A query that can be asked, in its canonical spelling."""

    text: str
    path: NotRequired[str]
    """The file that was formatted."""
    changed: NotRequired[bool]
    """The file was not formatted before."""


class FilterView(TypedDict):
    """A filter or a part of it, and how many live rows of the query's table it leaves when it stands alone.

    native (of a predicate): SQLite alone compares a column or a tag; otherwise something is computed for each row.
    """

    kind: Literal["and", "or", "not", "predicate"]
    text: str
    rows: int
    native: NotRequired[bool]
    terms: NotRequired[list[FilterView]]


class ExplainedView(TypedDict):
    """What a query does."""

    table: Literal["chunk", "doc"]
    select: list[str]
    order: list[str]
    rows: int
    """Live rows of its table."""
    filter: NotRequired[FilterView]
    passing: int
    """Those that the filter leaves."""
    steps: list[str]


class CandidateView(TypedDict):
    """One way to go on: text in place of what stands from start to end (code points, end exclusive)."""

    text: str
    kind: Literal["keyword", "field", "table", "function", "operator", "option", "value"]
    start: int
    end: int
    detail: str
