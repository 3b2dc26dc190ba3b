"""The tree of a query: frozen nodes without positions, so that equal questions are equal values.

`kind` only tells the classes apart, because named tuples with the same parts are equal otherwise. Python holds
1, 1.0 and True equal: where that matters (a metadata value), compare the printed text instead.
"""

from __future__ import annotations

from typing import Literal

from recall_core.named import NamedTuple
from recall_core.types import Table

Value = str | int | float | bool
Operator = Literal["=", "!=", "<", "<=", ">", ">="]
PatternOperator = Literal["LIKE", "ILIKE", "GLOB"]
SearchFunction = Literal["semantic", "lexical", "lexical_fts"]


class Field(NamedTuple):
    """A column. key: the metadata key when the field is doc.meta, else None."""

    table: Table
    name: str
    key: str | None = None


class Score(NamedTuple):
    """The score of a row: selected and ordered by, never filtered by."""

    kind: Literal["score"] = "score"


class Compare(NamedTuple):
    """field op value. A literal of doc.mtime is fixed-width UTC already."""

    field: Field
    op: Operator
    value: Value
    kind: Literal["compare"] = "compare"


class Like(NamedTuple):
    """field LIKE, ILIKE or GLOB pattern."""

    field: Field
    op: PatternOperator
    pattern: str
    kind: Literal["like"] = "like"


class In(NamedTuple):
    """field equals one of the values; at least one value."""

    field: Field
    values: tuple[Value, ...]
    kind: Literal["in"] = "in"


class Between(NamedTuple):
    """low <= field <= high; both of one type."""

    field: Field
    low: Value
    high: Value
    kind: Literal["between"] = "between"


class Has(NamedTuple):
    """A many-valued field has any, or all, of the values."""

    field: Field
    mode: Literal["ANY", "ALL"]
    values: tuple[str, ...]
    kind: Literal["has"] = "has"


class IsNull(NamedTuple):
    """The row has no value in this field."""

    field: Field
    kind: Literal["null"] = "null"


class Not(NamedTuple):
    """The true complement of its operand."""

    operand: Expr
    kind: Literal["not"] = "not"


class And(NamedTuple):
    """Every one of two or more terms."""

    terms: tuple[Expr, ...]
    kind: Literal["and"] = "and"


class Or(NamedTuple):
    """At least one of two or more terms."""

    terms: tuple[Expr, ...]
    kind: Literal["or"] = "or"


Predicate = Compare | Like | In | Between | Has | IsNull
Expr = Predicate | Not | And | Or


class Using(NamedTuple):
    """One search input; lexical and lexical_fts are two spellings of one signal."""

    function: SearchFunction
    text: str


class OrderKey(NamedTuple):
    """One sort key; rows without a value come last in either direction."""

    by: Field | Score
    descending: bool = False


class Query(NamedTuple):
    """A whole query."""

    table: Table
    select: tuple[Field | Score, ...] | None = None
    """None for `*`; empty where no name was a field, which has no spelling of its own and is printed as `*`."""
    using: tuple[Using, ...] = ()
    where: Expr | None = None
    order: tuple[OrderKey, ...] = ()
    limit: int | None = None
    """None leaves the number of rows to the settings."""
    offset: int = 0
    options: tuple[tuple[str, Value], ...] = ()
    """ON and OFF are True and False."""

    @property
    def keys(self) -> tuple[OrderKey, ...]:
        """ORDER BY as written, without a lone `score DESC`: that is the order which a scored answer has anyway."""
        if len(self.order) == 1 and self.order[0].descending and isinstance(self.order[0].by, Score):
            return ()
        return self.order
