"""Syntax highlighting of query text, including invalid text, and matching brackets."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

from recall_core.rql.ast import SearchFunction
from recall_core.rql.fields import CATALOGUE
from recall_core.rql.lexer import SourceWord, keyword, pieces
from recall_core.rql.options import OPTIONS
from recall_core.types import Table

MarkKind = Literal[
    "keyword",
    "constant",
    "field",
    "table",
    "function",
    "option",
    "operator",
    "punctuation",
    "string",
    "number",
    "comment",
    "name",
    "error",
]

CLAUSES = ("SELECT", "FROM", "USING", "FILTER", "ORDER", "LIMIT", "OPTION")
CONSTANTS = ("TRUE", "FALSE", "NULL", "ON", "OFF")
_JOINING = ("BY", "OFFSET", "AND", "OR", "NOT", "IN", "BETWEEN", "HAS", "ANY", "ALL", "IS", "LIKE", "ILIKE", "GLOB")
KEYWORDS = (*CLAUSES, *CONSTANTS, *_JOINING, "ASC", "DESC")
"""Every keyword, in capitals. A query may use any case."""

FUNCTIONS: tuple[SearchFunction, ...] = get_args(SearchFunction)
TABLES: tuple[Table, ...] = get_args(Table)
_BARE_NAMES = frozenset(info.name for info in CATALOGUE)


class Highlight(NamedTuple):
    """A highlighted range; start and end in code points, end exclusive. kind "name": a word without a meaning."""

    start: int
    end: int
    kind: MarkKind


def highlight(text: str) -> list[Highlight]:
    """Return the marks of a text in order, without overlaps, for any text. White space has no marks."""
    marks: list[Highlight] = []
    head = clause = before = ""
    shown = list(pieces(text))
    following = [*(piece.text for piece in shown if piece.kind != "comment"), ""]
    solid = iter(following[1:])
    for piece in shown:
        if piece.kind == "comment":
            marks.append(Highlight(piece.start, piece.end, "comment"))
            continue
        if piece.kind == "name" and before != ".":
            head = piece.text
        kind = _kind(piece, before, next(solid), head, clause)
        if kind == "keyword" and keyword(piece.text) in CLAUSES:
            clause = keyword(piece.text)
        marks.append(Highlight(piece.start, piece.end, kind))
        before = piece.text
    return marks


def bracket_match(text: str, cursor: int) -> tuple[int, int] | None:
    """Return offsets of the bracket at or just before the cursor and of its partner: (opening, closing).

    Brackets inside strings and comments are ignored. None if there is no bracket or no partner.
    """
    waiting: list[int] = []
    pairs: dict[int, tuple[int, int]] = {}
    for piece in pieces(text):
        if piece.kind == "symbol" and piece.text == "(":
            waiting.append(piece.start)
        elif piece.kind == "symbol" and piece.text == ")" and waiting:
            opening = waiting.pop()
            pairs[opening] = pairs[piece.start] = (opening, piece.start)
    return pairs.get(cursor) or pairs.get(cursor - 1)


def _kind(piece: SourceWord, before: str, after: str, head: str, clause: str) -> MarkKind:
    if piece.kind == "name":
        return _name_kind(piece.text, before, after, head, clause)
    if piece.kind == "symbol":
        return "punctuation" if piece.text in "(),.;" else "operator"
    if piece.kind == "open":
        return "error"
    return piece.kind


def _name_kind(text: str, before: str, after: str, head: str, clause: str) -> MarkKind:
    word = keyword(text)
    if "." in (before, after):
        return "field" if head in TABLES else "name"
    if text in FUNCTIONS and after == "(":
        return "function"
    if before.upper() == "FROM" and text in TABLES:
        return "table"
    if word in KEYWORDS:
        return "constant" if word in CONSTANTS else "keyword"
    if clause == "OPTION":
        return "option" if text in OPTIONS and before.upper() in ("OPTION", ",") else "constant"
    is_field = text == "score" or (clause == "SELECT" and text in _BARE_NAMES)
    return "field" if is_field else "name"
