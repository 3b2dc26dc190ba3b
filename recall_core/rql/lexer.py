"""Query text as tokens with their spans; broken text in pieces, for highlighting, completion and formatting."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from recall_core.errors import RqlError

MAX_BYTES = 64 * 1024  # far above any query a person or a model writes; bounds every later step

INT64 = 2**63

Kind = Literal["name", "string", "number", "symbol", "end"]


class Token(NamedTuple):
    """One word of a query. start and end count code points, end exclusive."""

    kind: Kind
    text: str
    """As it stands in the source, quotes included; "" at the end of input."""
    value: str | int | float
    """A string without its quotes and escapes, a number as a number; otherwise the text."""
    start: int
    end: int


_SPACE = re.compile(r"(?:\s+|--[^\n]*)+")

_NAME = re.compile(r"[^\W\d]\w*")

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")

_SYMBOL = re.compile(r"<>|<=|>=|!=|[=<>(),.;*]")

_STRING_STOP = re.compile(r"['\"\\]")

_BARRED = re.compile("[\x00\ud800-\udfff]")  # neither can be stored, so neither can be found


def tokenize(text: str) -> tuple[Token, ...]:
    """Every token of the text, ending in one of kind "end".

    Raises RqlError: rql_too_large, unterminated_string, bad_number, bad_character.
    """
    _check_size(text)
    tokens: list[Token] = []
    position = _after_space(text, 0)
    while position < len(text):
        token = _token(text, position)
        tokens.append(token)
        position = _after_space(text, token.end)
    tokens.append(Token("end", "", "", len(text), len(text)))
    return tuple(tokens)


def _check_size(text: str) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        message = f"The query has {size} bytes; {MAX_BYTES} are allowed."
        hint = "split it, or filter by a pattern instead of a list"
        wanted = f"at most {MAX_BYTES} bytes"
        raise RqlError("rql_too_large", message, text=text[:60], start=0, end=60, expected=wanted, hint=hint)
    barred = _BARRED.search(text)
    if barred:
        raise _bad_character(text, barred.start())


def _after_space(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return space.end() if space else position


def _token(text: str, start: int) -> Token:
    if text[start] in "'\"":
        return _string(text, start)
    if found := _NAME.match(text, start):
        return Token("name", found[0], found[0], start, found.end())
    if found := _NUMBER.match(text, start):
        return _number(text, start, found)
    if found := _SYMBOL.match(text, start):
        return Token("symbol", found[0], found[0], start, found.end())
    raise _bad_character(text, start)


def _string(text: str, start: int) -> Token:
    """A quoted string. A doubled quote, or a backslash before a quote or backslash, stands for that character;
    any other backslash stands for itself, so that a pattern's own escapes need no doubling."""
    quote = text[start]
    parts: list[str] = []
    position = start + 1
    while stop := _STRING_STOP.search(text, position):
        parts.append(text[position : stop.start()])
        position = stop.end()
        following = text[position : position + 1]
        if stop[0] == "\\":
            escaped = following in ("'", '"', "\\")
            parts.append(following if escaped else "\\")
            position += escaped
        elif stop[0] != quote:
            parts.append(stop[0])
        elif following == quote:
            parts.append(quote)
            position += 1
        else:
            return Token("string", text[start:position], "".join(parts), start, position)
    raise RqlError(
        "unterminated_string",
        "This string has no closing quote.",
        text=text,
        start=start,
        end=len(text),
        expected=f"a closing {quote}",
        hint=f"write \\\\ for a backslash before a quote, or {quote * 2} for a quote inside the string",
    )


def _number(text: str, start: int, found: re.Match[str]) -> Token:
    end = found.end()
    while end < len(text) and (text[end].isalnum() or text[end] in "_."):
        end += 1
    if end > found.end():
        hint = f"quote it if it is text: '{text[start:end][:40]}'"
        raise _bad_number(text, start, end, "This is neither a number nor a name.", hint)
    value: int | float
    if found[1] or found[2]:
        value = float(found[0])
    elif len(found[0]) > len(str(-INT64)) or not -INT64 <= int(found[0]) < INT64:
        raise _bad_number(text, start, end, "This whole number does not fit in 64 bits.", _RANGE_HINT)
    else:
        value = int(found[0])
    if abs(value) == float("inf"):
        raise _bad_number(text, start, end, "This number is too large.", _RANGE_HINT)
    return Token("number", found[0], value, start, end)


_RANGE_HINT = f"whole numbers go up to {INT64 - 1}, fractions up to 1e308"


def _bad_number(text: str, start: int, end: int, message: str, hint: str) -> RqlError:
    wanted = "a number such as 42, -1 or 0.5"
    return RqlError("bad_number", message, text=text, start=start, end=end, expected=wanted, hint=hint)


_CHARACTER_HINTS = {
    "&": "write AND",
    "|": "write OR",
    "!": "write NOT, or != to compare",
    "-": "a comment begins with --, a negative number with - and a digit",
    "\u201c": "use straight quotes",
    "\u201d": "use straight quotes",
    "\u2018": "use straight quotes",
    "\u2019": "use straight quotes",
    "`": "quote with ' or \"",
    "%": "quote the pattern, as in LIKE '%word%'",
    "[": "write lists in round brackets",
}


def _bad_character(text: str, start: int) -> RqlError:
    return RqlError(
        "bad_character",
        f"The character {text[start]!a} has no meaning here.",
        text=text,
        start=start,
        end=start + 1,
        expected="a name, a number or a quoted string",
        hint=_CHARACTER_HINTS.get(text[start], "quote it if it belongs to a value"),
    )


PieceKind = Literal["name", "string", "open", "number", "symbol", "comment", "error"]

# Possessive: a backslash that took the quote behind it never gives it back.
_STRING = r"(?:'(?:[^'\\]++|''|\\['\"\\]?)*+(?P<closed>')?|\"(?:[^\"\\]++|\"\"|\\['\"\\]?)*+(?P<closed2>\")?)"

_PIECE = re.compile(
    rf"\s+|(?P<comment>--[^\n]*)|(?P<string>{_STRING})|(?P<name>[^\W\d]\w*)"
    r"|(?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?P<tail>[\w.]*)"
    r"|(?P<symbol><>|<=|>=|!=|[=<>(),.;*])|(?P<error>.)",
    re.DOTALL,
)


class SourceWord(NamedTuple):
    """One word of a text that need not be a query. start and end count code points, end exclusive."""

    kind: PieceKind
    """"open" for a string without its closing quote: it runs to the end of the text."""
    text: str
    start: int
    end: int


def pieces(text: str) -> Iterator[SourceWord]:
    """Every piece but white space, in order. On a text that `lexer.tokenize` takes, the tokens and the comments."""
    for found in _PIECE.finditer(text):
        kind = _kind(found)
        if kind is not None:
            yield SourceWord(kind, found[0], found.start(), found.end())


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
