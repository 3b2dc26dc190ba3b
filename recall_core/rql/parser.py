"""Query parsing: SELECT, FROM, then clauses in any order, each at most once.

Also tells queries from plain words, and formats a query with its comments.
"""

from __future__ import annotations

import re
from typing import NamedTuple, cast

from recall_core.errors import RqlError
from recall_core.rql.ast import Field, OrderKey, Query, Score, SearchFunction, Using
from recall_core.rql.filters import ParsedFilter, parse_filter, parse_filter_with_warnings, read_expr
from recall_core.rql.lexer import (
    Cursor,
    Name,
    Reach,
    Token,
    find,
    guess,
    nearest,
    pieces,
    read_field,
    read_name,
    unknown,
)
from recall_core.rql.options import read_options
from recall_core.rql.print import print_query
from recall_core.types import Table

__all__ = ["Parsed", "ParsedFilter", "parse_filter", "parse_filter_with_warnings", "parse_query"]

MAX_KEYS = 64  # of ORDER BY; SQLite allows fewer than 2,000

_CLAUSES = ("USING", "FILTER", "ORDER", "LIMIT", "OPTION")

_SIGNAL_OF = {"semantic": "semantic", "lexical": "lexical", "lexical_fts": "lexical"}

_FOREIGN = {"WHERE": "did you mean FILTER?", "OFFSET": "write LIMIT n OFFSET m"}


class Parsed(NamedTuple):
    """A query's tree and its warnings: "W_CODE: sentence", in reading order."""

    query: Query
    warnings: tuple[str, ...]


def parse_query(text: str, *, strict: bool = False) -> Parsed:
    """Return the tree of a whole query.

    Parsing stops at the first error. Raises RqlError with the place and the expected input.
    strict: an unknown SELECT field and a useless ORDER BY score are errors.
    """
    cursor = Cursor(text, strict=strict)
    cursor.expect("SELECT")
    names = _read_select(cursor)
    cursor.expect("FROM")
    table = _read_table(cursor)
    query = Query(table, select=None if names is None else _resolve(cursor, names, table))
    seen: dict[str, Token] = {}
    while cursor.at(*_CLAUSES):
        query = _read_clause(cursor, query, seen)
    cursor.accept_symbol(";")
    _check_end(cursor)
    query = _check_score_order(cursor, query, seen)
    _check_sparse(cursor, query, seen)
    _check_collapse(cursor, query, seen)
    return Parsed(query, tuple(cursor.warnings))


def _read_select(cursor: Cursor) -> list[Name] | None:
    """Read the selected names; None for `*`. Their meaning depends on FROM."""
    if cursor.accept_symbol("*"):
        return None
    names = [_read_selected(cursor)]
    while cursor.accept_symbol(","):
        names.append(_read_selected(cursor))
    return names


def _read_selected(cursor: Cursor) -> Name:
    expected = "*, score or a field such as doc.path"
    if cursor.at("FROM"):
        raise cursor.unexpected_error(expected)
    return read_name(cursor, expected=expected)


def _read_table(cursor: Cursor) -> Table:
    token = cursor.token
    if token.kind == "name" and token.text in ("chunk", "doc"):
        return cast("Table", cursor.take().text)
    if token.kind != "name":
        raise cursor.unexpected_error("chunk or doc")
    message = f"There is no table {token.text}."
    hint = nearest(token.text.lower(), ("chunk", "doc"))
    raise cursor.error("unknown_table", message, reach=token, expected="chunk or doc", hint=hint)


def _resolve(cursor: Cursor, names: list[Name], table: Table) -> tuple[Field | Score, ...]:
    chosen: list[Field | Score] = []
    for name in names:
        field = Score() if name.parts == ("score",) else find(name, table=table)
        if field is not None:
            chosen.append(field)
        elif cursor.strict:
            raise unknown(cursor, name)
        else:
            cursor.warnings.append(
                f"W_UNKNOWN_FIELD: SELECT {name.text} is ignored because the field is unknown; {guess(name)}"
            )
    return tuple(chosen)


def _read_clause(cursor: Cursor, query: Query, seen: dict[str, Token]) -> Query:
    token = cursor.token
    word = cast("str", cursor.accept(*_CLAUSES))
    if word in seen:
        message = f"{word} appears twice in the query."
        hint = "join the filters by AND" if word == "FILTER" else f"remove one {word}"
        raise cursor.error("duplicate_clause", message, reach=token, expected="each clause once", hint=hint)
    seen[word] = token
    if word == "USING":
        return query._replace(using=_read_using(cursor))
    if word == "FILTER":
        return query._replace(where=read_expr(cursor))
    if word == "ORDER":
        return query._replace(order=_read_order(cursor, query.table, seen))
    if word == "LIMIT":
        return _read_limit(cursor, query, seen)
    return query._replace(options=read_options(cursor))


def _read_using(cursor: Cursor) -> tuple[Using, ...]:
    inputs: list[Using] = []
    signals: set[str] = set()
    while True:
        token = cursor.token
        inputs.append(_read_search(cursor))
        signal = _SIGNAL_OF[inputs[-1].function]
        if signal in signals:
            message, hint = f"The {signal} signal appears twice.", "put all words in one string"
            wanted = "each signal once"
            raise cursor.error("duplicate_signal", message, reach=token, expected=wanted, hint=hint)
        signals.add(signal)
        if not cursor.accept_symbol(","):
            return tuple(inputs)


def _read_search(cursor: Cursor) -> Using:
    token = cursor.token
    wanted = "semantic(…), lexical(…) or lexical_fts(…)"
    if token.kind != "name":
        raise cursor.unexpected_error(wanted)
    if token.text not in _SIGNAL_OF:
        message = f"There is no search function {token.text}."
        hint = nearest(token.text.lower(), _SIGNAL_OF)
        raise cursor.error("unknown_function", message, reach=token, expected=wanted, hint=hint)
    return Using(cast("SearchFunction", token.text), cursor.read_call())


def _read_order(cursor: Cursor, table: Table, seen: dict[str, Token]) -> tuple[OrderKey, ...]:
    cursor.expect("BY")
    keys = [_read_order_key(cursor, table, seen)]
    while cursor.accept_symbol(","):
        if len(keys) == MAX_KEYS:
            message = f"ORDER BY has more than {MAX_KEYS} keys."
            wanted = f"at most {MAX_KEYS} keys"
            raise cursor.error("rql_too_large", message, reach=cursor.token, expected=wanted, hint="remove some")
        keys.append(_read_order_key(cursor, table, seen))
    return tuple(keys)


def _read_order_key(cursor: Cursor, table: Table, seen: dict[str, Token]) -> OrderKey:
    token = cursor.token
    by: Field | Score
    if token.text == "score":
        cursor.take()
        by = Score()
        seen.setdefault("score", token)
    else:
        by, reach = read_field(cursor, expected="score or a field such as doc.path")
        _check_orderable(cursor, by, table, reach)
    direction = cursor.accept("ASC", "DESC")
    return OrderKey(by, isinstance(by, Score) if direction is None else direction == "DESC")


def _check_orderable(cursor: Cursor, field: Field, table: Table, reach: Reach) -> None:
    if table == "doc" and field.table == "chunk":
        message = "A document has many chunks, so a chunk field cannot order documents."
        raise cursor.error("bad_order", message, reach=reach, expected="a doc field", hint="use FROM chunk")


def _read_limit(cursor: Cursor, query: Query, seen: dict[str, Token]) -> Query:
    query = query._replace(limit=_read_count(cursor, "LIMIT"))
    token = cursor.token
    if cursor.accept("OFFSET"):
        seen["OFFSET"] = token
        query = query._replace(offset=_read_count(cursor, "OFFSET"))
    return query


def _read_count(cursor: Cursor, clause: str) -> int:
    token = cursor.token
    wanted = "a whole number, 0 or more"
    if token.kind != "number":
        raise cursor.unexpected_error(wanted)
    if not isinstance(token.value, int) or token.value < 0:
        message = f"{clause} counts rows, so it cannot be {token.text[:40]}."
        raise cursor.error("bad_limit", message, reach=token, expected=wanted)
    cursor.take()
    return token.value


def _check_end(cursor: Cursor) -> None:
    token = cursor.token
    if token.kind != "end":
        raise cursor.unexpected_error(
            "USING, FILTER, ORDER BY, LIMIT, OPTION or the end of the query",
            known=_CLAUSES,
            hint=_FOREIGN.get(token.text.upper()),
        )


def _check_score_order(cursor: Cursor, query: Query, seen: dict[str, Token]) -> Query:
    """Drop ORDER BY score without USING with a warning, or raise if strict."""
    if query.using or "score" not in seen:
        return query
    if cursor.strict:
        raise _vain_order(cursor, seen["score"])
    cursor.warnings.append("W_ORDER_SCORE: ORDER BY score is ignored because rows have no score without USING")
    return query._replace(order=tuple(key for key in query.order if isinstance(key.by, Field)))


def _vain_order(cursor: Cursor, token: Token) -> RqlError:
    message = "Rows have no score without USING."
    return cursor.error(
        "order_without_using", message, reach=token, expected="a field such as doc.path", hint="add USING"
    )


def _check_collapse(cursor: Cursor, query: Query, seen: dict[str, Token]) -> None:
    if ("collapse", True) in query.options and query.table == "doc":
        message = "collapse works on chunks, but these rows are documents."
        raise cursor.error(
            "collapse_of_documents",
            message,
            reach=seen["OPTION"],
            expected="FROM chunk with collapse ON",
            hint="remove OPTION collapse",
        )


def _check_sparse(cursor: Cursor, query: Query, seen: dict[str, Token]) -> None:
    if ("sparse_recall", True) not in query.options:
        return
    if query.keys:
        message = "sparse_recall works only with rows ordered by score."
        raise cursor.error(
            "sparse_with_order",
            message,
            reach=seen["ORDER"],
            expected="no ORDER BY but score DESC with sparse_recall ON",
            hint="remove ORDER BY or OPTION sparse_recall",
        )
    if "OFFSET" in seen:
        message = "sparse_recall changes the last row of the first page, so it allows no OFFSET."
        raise cursor.error(
            "sparse_with_offset",
            message,
            reach=seen["OFFSET"],
            expected="no OFFSET with sparse_recall ON",
            hint="remove OFFSET or OPTION sparse_recall",
        )


_SELECT = re.compile(r"(?:\s|--[^\n]*+)*+select(?=[\s*]|$)", re.IGNORECASE)


def is_query(text: str) -> bool:
    """Return True if the text starts with SELECT after space and comments. It is then RQL, valid or not."""
    return _SELECT.match(text) is not None


def format_query(text: str) -> str:
    """Return the query on one line below its comments, in their order, without a final line break.

    Formatting is idempotent. Raises RqlError, also for parts that a query may contain without effect (an unknown
    SELECT field, ORDER BY score without USING), because the canonical spelling would drop them.
    """
    query = parse_query(text, strict=True).query
    comments = [piece.text.rstrip() for piece in pieces(text) if piece.kind == "comment"]
    return "\n".join([*comments, print_query(query)])
