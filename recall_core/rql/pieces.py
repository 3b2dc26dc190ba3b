"""Query text cut into pieces, broken text too: what highlighting, completion and formatting share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

PieceKind = Literal["name", "string", "open", "number", "symbol", "comment", "error"]

# Possessive: a backslash that took the quote behind it never gives it back.
_STRING = r"(?:'(?:[^'\\]++|''|\\['\"\\]?)*+(?P<closed>')?|\"(?:[^\"\\]++|\"\"|\\['\"\\]?)*+(?P<closed2>\")?)"
_PIECE = re.compile(
    rf"\s+|(?P<comment>--[^\n]*)|(?P<string>{_STRING})|(?P<name>[^\W\d]\w*)"
    r"|(?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?P<tail>[\w.]*)"
    r"|(?P<symbol><>|<=|>=|!=|[=<>(),.;*])|(?P<error>.)",
    re.DOTALL,
)


class Piece(NamedTuple):
    """One word of a text that need not be a query. start and end count code points, end exclusive."""

    kind: PieceKind
    """"open" for a string without its closing quote: it runs to the end of the text."""
    text: str
    start: int
    end: int


def pieces(text: str) -> Iterator[Piece]:
    """Every piece but white space, in order. On a text that `lexer.tokenize` takes, the tokens and the comments."""
    for found in _PIECE.finditer(text):
        kind = _kind(found)
        if kind is not None:
            yield Piece(kind, found[0], found.start(), found.end())


def _kind(found: re.Match[str]) -> PieceKind | None:
    if found["string"] is not None:
        return "string" if found["closed"] or found["closed2"] else "open"
    if found["number"] is not None:
        return "error" if found["tail"] else "number"
    for kind in _PLAIN:
        if found[kind] is not None:
            return kind
    return None


_PLAIN: tuple[Literal["comment", "name", "symbol", "error"], ...] = ("comment", "name", "symbol", "error")
