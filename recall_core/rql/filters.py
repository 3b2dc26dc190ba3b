"""Filter parsing: AND, OR, NOT and predicates, with each value checked against its field's type."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple, cast

from recall_core.errors import UsageError
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
    Operator,
    Or,
    PatternOperator,
    Value,
    Words,
)
from recall_core.rql.fields import info_of
from recall_core.rql.lexer import Cursor, Reach, Token, read_field
from recall_core.rql.patterns import check_glob
from recall_core.text import nfc

_DATE = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?(?:[Zz]|([+-])(\d\d):?(\d\d))?)?",
    re.ASCII,
)


def to_utc(literal: str) -> str:
    """Return `YYYY-MM-DDTHH:MM:SS.ffffffZ` of an ISO 8601 date or time. A date means midnight; no offset means UTC.

    Raises ValueError with a reason if the date does not exist, or is outside the years 1 to 9999.
    """
    found = _DATE.fullmatch(literal)
    if not found:
        raise ValueError("not an ISO 8601 date")
    year, month, day, hour, minute, second = (int(part or 0) for part in found.group(1, 2, 3, 4, 5, 6))
    micros = int((found[7] or "0").ljust(6, "0"))
    moment = datetime(year, month, day, hour, minute, second, micros, tzinfo=_zone(*found.group(8, 9, 10)))
    try:
        moment = moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("outside the calendar once in UTC") from error
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def is_bare(literal: str) -> bool:
    """Return True for a date without a time."""
    return re.fullmatch(r"\d{4}-\d\d-\d\d", literal, re.ASCII) is not None


def _zone(sign: str | None, hours: str | None, minutes: str | None) -> timezone:
    if not (sign and hours and minutes):
        return UTC
    if int(minutes) > 59:
        raise ValueError("offset minutes go to 59")
    if int(hours) > 23:
        raise ValueError("offset hours go to 23")
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    return timezone(-offset if sign == "-" else offset)


MAX_DEPTH = 64

_SHALLOW = f"at most {MAX_DEPTH} levels of brackets and NOT"

_COMPARE = ("=", "!=", "<>", "<", "<=", ">", ">=")

_OPERATORS = ("IN", "BETWEEN", "HAS", "IS", "NOT", "LIKE", "ILIKE", "GLOB")

_HOLDS = {"text": "text", "integer": "a whole number", "time": "a time", "tags": "tags"}

_VALUE_HINTS = {"=": "write one = to compare", ")": "name at least one value"}

_WANTS = {"text": "a quoted string", "integer": "a number", "time": "a quoted date", "tags": "a quoted string"}


class ParsedFilter(NamedTuple):
    """A filter's tree and its warnings."""

    where: Expr
    warnings: tuple[str, ...]


def parse_filter(text: str) -> Expr:
    """Return the tree of a filter expression. Raises RqlError with the place and the expected input."""
    return parse_filter_with_warnings(text).where


def parse_filter_with_warnings(text: str) -> ParsedFilter:
    """Return the tree and the warnings (`W_DATE_BOUND`) for the user."""
    cursor = Cursor(text)
    where = read_expr(cursor)
    if cursor.token.kind != "end":
        raise cursor.unexpected_error("AND, OR or the end of the filter", known=("AND", "OR"))
    return ParsedFilter(where, tuple(cursor.warnings))


def read_expr(cursor: Cursor, depth: int = 0) -> Expr:
    """Read the next expression. depth counts the brackets and NOTs around it."""
    terms = [_read_and(cursor, depth)]
    while cursor.accept("OR"):
        terms.append(_read_and(cursor, depth))
    return terms[0] if len(terms) == 1 else Or(tuple(terms))


def _read_and(cursor: Cursor, depth: int) -> Expr:
    terms = [_read_not(cursor, depth)]
    while cursor.accept("AND"):
        terms.append(_read_not(cursor, depth))
    return terms[0] if len(terms) == 1 else And(tuple(terms))


def _read_not(cursor: Cursor, depth: int) -> Expr:
    if depth > MAX_DEPTH:
        message = f"The filter has more than {MAX_DEPTH} nested levels."
        hint = "remove brackets that change nothing"
        raise cursor.error("rql_too_large", message, reach=cursor.token, expected=_SHALLOW, hint=hint)
    if cursor.accept("NOT"):
        return Not(_read_not(cursor, depth + 1))
    if cursor.accept_symbol("("):
        inner = read_expr(cursor, depth + 1)
        cursor.expect_symbol(")", "AND, OR or )")
        return inner
    return _read_predicate(cursor)


def _read_predicate(cursor: Cursor) -> Expr:
    if cursor.at("AND", "OR", "IN", "IS", "LIKE", "BETWEEN", "HAS"):
        raise cursor.unexpected_error("a field such as doc.tag")
    if cursor.token.text == "lexical":
        return Words(cursor.read_call())
    field, reach = read_field(cursor, expected="a field such as doc.tag, NOT or (")
    if cursor.at("NOT"):
        cursor.take()
        return Not(_read_negatable(cursor, field, reach, "IN, BETWEEN, LIKE, ILIKE or GLOB"))
    if cursor.accept("IS"):
        negated = cursor.accept("NOT")
        cursor.expect("NULL")
        return Not(IsNull(field)) if negated else IsNull(field)
    if cursor.accept("HAS"):
        return _read_has(cursor, field, reach)
    if cursor.token.kind == "symbol" and cursor.token.text in _COMPARE:
        return _read_compare(cursor, field)
    return _read_negatable(cursor, field, reach, "an operator such as =, IN, LIKE or IS NULL")


def _read_negatable(cursor: Cursor, field: Field, reach: Reach, expected: str) -> Expr:
    """Read a predicate whose operator may follow NOT."""
    if cursor.accept("IN"):
        return In(field, _read_list(cursor, field))
    if cursor.at("BETWEEN"):
        return _read_between(cursor, field)
    if cursor.at("LIKE", "ILIKE", "GLOB"):
        return _read_like(cursor, field, reach)
    raise cursor.unexpected_error(expected, known=_OPERATORS)


def _read_compare(cursor: Cursor, field: Field) -> Expr:
    operator = cursor.take()
    op = cast("Operator", "!=" if operator.text == "<>" else operator.text)
    is_ordering = op not in ("=", "!=")
    if is_ordering:
        _check_ordered(cursor, field, operator)
    value, token = _read_value(cursor, field)
    if is_ordering:
        _check_not_boolean(cursor, token, value)
    if op in ("<=", ">"):
        _warn_date_bound(cursor, field, op, token)
    return Compare(field, op, value)


def _read_between(cursor: Cursor, field: Field) -> Expr:
    operator = cursor.take()
    _check_ordered(cursor, field, operator)
    low, low_token = _read_value(cursor, field)
    cursor.expect("AND")
    high, high_token = _read_value(cursor, field)
    _check_not_boolean(cursor, low_token, low)
    _check_not_boolean(cursor, high_token, high)
    if isinstance(low, str) != isinstance(high, str):
        wanted = _WANTS["text" if isinstance(low, str) else "integer"]
        message = "Both ends of BETWEEN must be of one type."
        raise cursor.error("type_mismatch", message, reach=high_token, expected=wanted)
    _warn_date_bound(cursor, field, "BETWEEN … AND", high_token)
    return Between(field, low, high)


def _read_like(cursor: Cursor, field: Field, reach: Reach) -> Expr:
    op = cast("PatternOperator", cursor.accept("LIKE", "ILIKE", "GLOB"))
    if info_of(field).type == "integer":
        message = f"{_describe(field)} is a whole number, so it cannot match a pattern."
        raise cursor.error("type_mismatch", message, reach=reach, expected="a text field", hint="use = or IN")
    token = cursor.token
    if token.kind in ("number", "name"):
        message = f"{op} needs a quoted pattern."
        raise cursor.error("type_mismatch", message, reach=token, expected="a quoted pattern")
    if token.kind != "string":
        raise cursor.unexpected_error("a quoted pattern")
    pattern = str(cursor.take().value)
    if op == "GLOB":
        _check_glob(cursor, token, pattern)
    return Like(field, op, _as_spelt(field, pattern))


def _as_spelt(field: Field, text: str) -> str:
    """Return the text in the Unicode form of stored paths; texts of other fields stay as they are."""
    return nfc(text) if (field.table, field.name) == ("doc", "path") else text


def _check_glob(cursor: Cursor, token: Token, pattern: str) -> None:
    try:
        check_glob(pattern)
    except UsageError as error:
        wanted = "a shorter pattern"
        raise cursor.error(error.code, error.message, reach=token, expected=wanted, hint=error.hint) from error


def _read_has(cursor: Cursor, field: Field, reach: Reach) -> Expr:
    if info_of(field).type != "tags":
        message = f"{_describe(field)} has a single value; HAS needs a field with many."
        raise cursor.error("type_mismatch", message, reach=reach, expected="doc.tags", hint="use = or IN")
    mode = cursor.accept("ANY", "ALL")
    if mode is None:
        raise cursor.unexpected_error("ANY or ALL", known=("ANY", "ALL"))
    return Has(field, "ANY" if mode == "ANY" else "ALL", tuple(str(v) for v in _read_list(cursor, field)))


def _read_list(cursor: Cursor, field: Field) -> tuple[Value, ...]:
    cursor.expect_symbol("(")
    values = [_read_value(cursor, field)[0]]
    while cursor.accept_symbol(","):
        values.append(_read_value(cursor, field)[0])
    cursor.expect_symbol(")", ", or )")
    return tuple(values)


def _read_value(cursor: Cursor, field: Field) -> tuple[Value, Token]:
    """Read the next value, which must have the field's type, in the store's form."""
    token = cursor.token
    value = _literal(cursor)
    info = info_of(field)
    if info.type == "meta":
        return value, token
    if isinstance(value, bool) or isinstance(value, str) == (info.type == "integer"):
        given = "TRUE or FALSE" if isinstance(value, bool) else "text" if isinstance(value, str) else "a number"
        message = f"{_describe(field)} needs {_HOLDS[info.type]}, not {given}."
        raise cursor.error("type_mismatch", message, reach=token, expected=_WANTS[info.type])
    if info.type == "time":
        return _utc(cursor, token), token
    return _as_spelt(field, value) if isinstance(value, str) else value, token


def _literal(cursor: Cursor) -> Value:
    token = cursor.token
    if token.kind in ("string", "number"):
        return cursor.take().value
    if truth := cursor.accept("TRUE", "FALSE"):
        return truth == "TRUE"
    if cursor.at("NULL"):
        raise cursor.unexpected_error("a value", hint="use IS NULL or IS NOT NULL")
    hint = f"quote it: '{token.text}'" if token.kind == "name" else _VALUE_HINTS.get(token.text)
    raise cursor.unexpected_error("a value such as 'text', 42 or TRUE", hint=hint)


def _utc(cursor: Cursor, token: Token) -> str:
    try:
        return to_utc(str(token.value))
    except ValueError as error:
        message = f"{token.text[:40]} is not a date: {error}."
        wanted = "a date such as '2026-01-31' or '2026-01-31T12:00:00+02:00'"
        raise cursor.error("bad_date", message, reach=token, expected=wanted) from error


def _check_ordered(cursor: Cursor, field: Field, operator: Token) -> None:
    if info_of(field).type == "tags":
        message = f"Tags have no order, so {_describe(field)} cannot be compared with {operator.text}."
        wanted = "=, !=, IN, HAS or LIKE"
        raise cursor.error("type_mismatch", message, reach=operator, expected=wanted)


def _check_not_boolean(cursor: Cursor, token: Token, value: Value) -> None:
    if isinstance(value, bool):
        message = "TRUE and FALSE have no order."
        raise cursor.error("type_mismatch", message, reach=token, expected="a number or a quoted string")


def _warn_date_bound(cursor: Cursor, field: Field, op: str, token: Token) -> None:
    if info_of(field).type == "time" and is_bare(str(token.value)):
        cursor.warnings.append(
            f"W_DATE_BOUND: {_describe(field)} {op} {token.text} means midnight UTC at the start of that day"
        )


def _describe(field: Field) -> str:
    return f"{field.table}.{field.name}" + (f".{field.key}" if field.key is not None else "")
