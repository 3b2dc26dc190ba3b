"""The tree of a query: frozen nodes without positions, so that equal queries are equal values.

`kind` separates the classes, because named tuples with equal parts are equal. Python treats 1, 1.0 and True as equal:
where that matters (metadata values), compare the printed text.
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
    """A column. key: the metadata key if the field is doc.meta, else None."""

    table: Table
    name: str
    key: str | None = None


class Score(NamedTuple):
    """The score of a row, for SELECT and ORDER BY but not FILTER."""

    kind: Literal["score"] = "score"


class Compare(NamedTuple):
    """field op value. A literal of doc.mtime is already fixed-width UTC."""

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


class Words(NamedTuple):
    """The chunk has these words next to each other, in its text or its title."""

    text: str
    kind: Literal["words"] = "words"


class Not(NamedTuple):
    """The complement of its operand."""

    operand: Expr
    kind: Literal["not"] = "not"


class And(NamedTuple):
    """All of two or more terms."""

    terms: tuple[Expr, ...]
    kind: Literal["and"] = "and"


class Or(NamedTuple):
    """At least one of two or more terms."""

    terms: tuple[Expr, ...]
    kind: Literal["or"] = "or"


Predicate = Compare | Like | In | Between | Has | IsNull
Expr = Predicate | Words | Not | And | Or


class Using(NamedTuple):
    """One search input. lexical and lexical_fts are two spellings of one signal."""

    function: SearchFunction
    text: str


class OrderKey(NamedTuple):
    """One sort key. Rows without a value come last in either direction."""

    by: Field | Score
    descending: bool = False


class Query(NamedTuple):
    """A whole query."""

    table: Table
    select: tuple[Field | Score, ...] | None = None
    """None for `*`. Empty if no name was a field; printed as `*`, because it has no spelling of its own."""
    using: tuple[Using, ...] = ()
    where: Expr | None = None
    order: tuple[OrderKey, ...] = ()
    limit: int | None = None
    """None to use the limit from the settings."""
    offset: int = 0
    options: tuple[tuple[str, Value], ...] = ()
    """ON and OFF are True and False."""

    @property
    def keys(self) -> tuple[OrderKey, ...]:
        """ORDER BY as written, without a lone `score DESC`, which is the default order of a scored answer."""
        if len(self.order) == 1 and self.order[0].descending and isinstance(self.order[0].by, Score):
            return ()
        return self.order
