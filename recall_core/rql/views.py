"""What `recall rql` answers, in the shape of the JSON contract."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class RqlView(TypedDict):
    """A query that can be asked, in its canonical spelling. path and changed: the file that was formatted."""

    text: str
    path: NotRequired[str]
    changed: NotRequired[bool]


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
    """What a query does. rows: live rows of its table; passing: those that the filter leaves."""

    table: Literal["chunk", "doc"]
    select: list[str]
    order: list[str]
    rows: int
    filter: NotRequired[FilterView]
    passing: int
    steps: list[str]


class CandidateView(TypedDict):
    """One way to go on: text in place of what stands from start to end (code points, end exclusive)."""

    text: str
    kind: Literal["keyword", "field", "table", "function", "operator", "option", "value"]
    start: int
    end: int
    detail: str
