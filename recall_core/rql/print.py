"""Trees back to text: one canonical spelling each, which parses to the same tree."""

from __future__ import annotations

import re

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
    Query,
    Score,
    Value,
    Words,
)

_PLAIN_NAME = re.compile(r"[^\W\d]\w*")
_SWITCHES = ("ON", "OFF", "TRUE", "FALSE")


def print_query(query: Query) -> str:
    """Return the query on one line, unless a string contains a line break; no closing semicolon."""
    parts = ["SELECT", ", ".join(map(_selectable, query.select or ())) or "*", "FROM", query.table]
    if query.using:
        inputs = (f"{search.function}({_string(search.text)})" for search in query.using)
        parts += ["USING", ", ".join(inputs)]
    if query.where is not None:
        parts += ["FILTER", print_filter(query.where)]
    if query.order:
        parts += ["ORDER BY", ", ".join(map(print_order, query.order))]
    if query.limit is not None:
        parts += [f"LIMIT {query.limit}"]
        parts += [f"OFFSET {query.offset}"] if query.offset else []
    if query.options:
        parts += ["OPTION", ", ".join(f"{name} {_option_value(value)}" for name, value in query.options)]
    return " ".join(parts)


def print_filter(expr: Expr) -> str:
    """Return the filter with as few brackets as possible."""
    if isinstance(expr, Or):
        return " OR ".join(_bracket(term, inside=(Or,)) for term in expr.terms)
    if isinstance(expr, And):
        return " AND ".join(_bracket(term, inside=(Or, And)) for term in expr.terms)
    if isinstance(expr, Not):
        return _negation(expr.operand)
    if isinstance(expr, Words):
        return f"lexical({_string(expr.text)})"
    return _predicate(expr)


def print_field(field: Field) -> str:
    """Return the field's qualified name, with a metadata key quoted if needed."""
    if field.key is None:
        return f"{field.table}.{field.name}"
    key = field.key if _PLAIN_NAME.fullmatch(field.key) else _string(field.key)
    return f"{field.table}.{field.name}.{key}"


def print_value(value: Value) -> str:
    """Return the value as a literal."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return _string(value) if isinstance(value, str) else repr(value)


def print_order(key: OrderKey) -> str:
    """Return one key of ORDER BY with its direction."""
    return f"{_selectable(key.by)} {'DESC' if key.descending else 'ASC'}"


def _bracket(expr: Expr, *, inside: tuple[type, ...]) -> str:
    text = print_filter(expr)
    return f"({text})" if isinstance(expr, inside) else text


def _negation(operand: Expr) -> str:
    if isinstance(operand, In | Between | Like):
        return _predicate(operand, infix="NOT ")
    if isinstance(operand, IsNull):
        return f"{print_field(operand.field)} IS NOT NULL"
    return f"NOT {_bracket(operand, inside=(Or, And))}"


def _predicate(expr: Predicate, infix: str = "") -> str:
    field = print_field(expr.field)
    if isinstance(expr, Compare):
        return f"{field} {expr.op} {print_value(expr.value)}"
    if isinstance(expr, Like):
        return f"{field} {infix}{expr.op} {_string(expr.pattern)}"
    if isinstance(expr, In):
        return f"{field} {infix}IN ({_values(expr.values)})"
    if isinstance(expr, Between):
        return f"{field} {infix}BETWEEN {print_value(expr.low)} AND {print_value(expr.high)}"
    if isinstance(expr, Has):
        return f"{field} HAS {expr.mode} ({_values(expr.values)})"
    return f"{field} IS NULL"


def _values(values: tuple[Value, ...]) -> str:
    return ", ".join(map(print_value, values))


def _string(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def _selectable(chosen: Field | Score) -> str:
    return "score" if isinstance(chosen, Score) else print_field(chosen)


def _option_value(value: Value) -> str:
    if isinstance(value, bool):
        return "ON" if value else "OFF"
    if isinstance(value, str) and _PLAIN_NAME.fullmatch(value) and value.upper() not in _SWITCHES:
        return value
    return print_value(value)
