"""Query text as tokens with positions, and as lenient pieces for highlighting, completion and formatting."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Literal, NamedTuple, cast

from recall_core.errors import RqlError
from recall_core.rql.ast import Field
from recall_core.rql.fields import lookup, qualified_names
from recall_core.types import Table

MAX_BYTES = 64 * 1024  # far above any query that a person or model writes; limits every later step

INT64 = 2**63

Kind = Literal["name", "string", "number", "symbol", "end"]


class Token(NamedTuple):
    """One token of a query. start and end count code points, end exclusive."""

    kind: Kind
    text: str
    """The source text, quotes included; "" at the end of input."""
    value: str | int | float
    """A string without quotes and escapes, or a number; otherwise the text."""
    start: int
    end: int


_SPACE = re.compile(r"(?:\s+|--[^\n]*)+")

_NAME = re.compile(r"[^\W\d]\w*")

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")

_SYMBOL = re.compile(r"<>|<=|>=|!=|[=<>(),.;*]")

_STRING_STOP = re.compile(r"['\"\\]")

_BARRED = re.compile("[\x00\ud800-\udfff]")  # neither can be stored, so neither can be found


def tokenize(text: str) -> tuple[Token, ...]:
    """Return every token of the text, with a last one of kind "end".

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
        message = f"The query has {size} bytes; the limit is {MAX_BYTES}."
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
    """Return the quoted string at the start.

    A doubled quote, or a backslash before a quote or backslash, means that character. Any other backslash is literal,
    so pattern escapes need no doubling.
    """
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

# Possessive: a backslash never gives back the quote it consumed.
_STRING = r"(?:'(?:[^'\\]++|''|\\['\"\\]?)*+(?P<closed>')?|\"(?:[^\"\\]++|\"\"|\\['\"\\]?)*+(?P<closed2>\")?)"

_PIECE = re.compile(
    rf"\s+|(?P<comment>--[^\n]*)|(?P<string>{_STRING})|(?P<name>[^\W\d]\w*)"
    r"|(?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?P<tail>[\w.]*)"
    r"|(?P<symbol><>|<=|>=|!=|[=<>(),.;*])|(?P<error>.)",
    re.DOTALL,
)


class SourceWord(NamedTuple):
    """One piece of a text that may not be a query. start and end count code points, end exclusive."""

    kind: PieceKind
    """"open" for a string without a closing quote, up to the end of the text."""
    text: str
    start: int
    end: int


def pieces(text: str) -> Iterator[SourceWord]:
    """Yield every piece except white space, in order. For valid text, these are the tokens and comments."""
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


class Reach(NamedTuple):
    """A range of source text; start and end in code points, end exclusive."""

    start: int
    end: int


class Cursor:
    """A left-to-right reader of one text. `warnings` collects odd but valid input."""

    __slots__ = ("_position", "_tokens", "strict", "text", "warnings")

    def __init__(self, text: str, *, strict: bool = False) -> None:
        self.text = text
        self.strict = strict
        self.warnings: list[str] = []
        self._tokens = tokenize(text)
        self._position = 0

    @property
    def token(self) -> Token:
        """The next token, not yet read."""
        return self._tokens[self._position]

    def take(self) -> Token:
        """Read and return the next token. The end of input is never passed."""
        token = self.token
        if token.kind != "end":
            self._position += 1
        return token

    def at(self, *words: str) -> bool:
        """Return True if one of these keywords, given in capitals, comes next."""
        return self.token.kind == "name" and keyword(self.token.text) in words

    def accept(self, *words: str) -> str | None:
        """Read one of these keywords and return it in capitals. Return None and read nothing if none comes next."""
        return keyword(self.take().text) if self.at(*words) else None

    def accept_symbol(self, *symbols: str) -> str | None:
        """Read one of these symbols. Return None and read nothing if none comes next."""
        if self.token.kind != "symbol" or self.token.text not in symbols:
            return None
        return self.take().text

    def expect(self, word: str) -> None:
        """Read this keyword or raise."""
        if not self.accept(word):
            raise self.unexpected_error(word, known=(word,))

    def expect_symbol(self, symbol: str, expected: str | None = None) -> None:
        """Read this symbol or raise."""
        if not self.accept_symbol(symbol):
            raise self.unexpected_error(expected or symbol)

    def read_call(self) -> str:
        """Read a function's name and its argument, a quoted text, which is returned."""
        self.take()
        self.expect_symbol("(")
        if self.token.kind != "string":
            raise self.unexpected_error("a quoted text")
        text = str(self.take().value)
        self.expect_symbol(")")
        return text

    def unexpected_error(self, expected: str, *, known: Iterable[str] = (), hint: str | None = None) -> RqlError:
        """Return the error for an unexpected next token. known: keywords to suggest."""
        token = self.token
        message = f"Unexpected {token.text[:40]}" if token.text else "The text ends too early"
        guess = nearest(keyword(token.text), known) if token.kind == "name" else None
        return self.error("rql_syntax", f"{message}.", reach=token, expected=expected, hint=hint or guess)

    def error(
        self,
        code: str,
        message: str,
        *,
        reach: Token | Reach,
        expected: str | None = None,
        hint: str | None = None,
    ) -> RqlError:
        """Return an error that points at this range of the text."""
        return RqlError(code, message, text=self.text, start=reach.start, end=reach.end, expected=expected, hint=hint)


def keyword(word: str) -> str:
    """Return the word in capitals if it is ASCII, to compare keywords (a long s is not an S)."""
    return word.upper() if word.isascii() else word


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return a did-you-mean hint, or None if nothing known is similar."""
    close = get_close_matches(word, list(known), n=1)
    return f"did you mean {close[0]}?" if close else None


A_FIELD = "a field such as doc.tag"
_LIKE_A_FIELD = 0.7  # `tgas` is a typo for tags, but `date` is a metadata key, not a typo for state


class Name(NamedTuple):
    """A dotted name as written, with its position."""

    parts: tuple[str, ...]
    reach: Reach

    @property
    def text(self) -> str:
        """The parts joined by dots."""
        return ".".join(self.parts)


def read_name(cursor: Cursor, *, expected: str = A_FIELD) -> Name:
    """Read the next dotted name. Only the third part, a metadata key, may be quoted."""
    first = cursor.token
    if first.kind != "name":
        raise cursor.unexpected_error(expected)
    parts = [cursor.take().text]
    end = first.end
    while cursor.accept_symbol("."):
        token = cursor.token
        if token.kind != "name" and (token.kind != "string" or len(parts) != 2):
            hint = "quote a key: doc.meta.'2024'" if len(parts) == 2 else None
            raise cursor.unexpected_error("a name after the dot", hint=hint)
        parts.append(str(cursor.take().value))
        end = token.end
    return Name(tuple(parts), Reach(first.start, end))


def read_field(cursor: Cursor, *, expected: str = A_FIELD) -> tuple[Field, Reach]:
    """Read the next qualified field. Raises RqlError: rql_syntax, unqualified_field, unknown_field."""
    name = read_name(cursor, expected=expected)
    field = find(name)
    if field is None:
        raise unknown(cursor, name)
    return field, name.reach


def find(name: Name, *, table: Table | None = None) -> Field | None:
    """Return the field of that name, or None. With a table, its fields also match by bare name."""
    parts = name.parts
    if len(parts) == 1 and table is not None:
        parts = (table, *parts)
    if len(parts) not in (2, 3):
        return None
    info = lookup(parts[0], parts[1])
    if info is None or (info.type == "meta") != (len(parts) == 3) or not parts[-1]:
        return None
    return Field(cast("Table", parts[0]), parts[1], parts[2] if len(parts) == 3 else None)


def unknown(cursor: Cursor, name: Name) -> RqlError:
    """Return the error for an unknown name, with the best suggestion."""
    if len(name.parts) == 1 and (homes := _homes(name.text)):
        return cursor.error(
            "unqualified_field",
            f"The field {name.text} needs its table.",
            reach=name.reach,
            expected=f"a field such as {homes[0]}",
            hint=f"did you mean {' or '.join(homes)}?",
        )
    return cursor.error(
        "unknown_field",
        f"There is no field {name.text}.",
        reach=name.reach,
        expected=A_FIELD,
        hint=guess(name),
    )


def guess(name: Name) -> str:
    """Return a hint for an unknown name."""
    if name.parts == ("score",):
        return "a filter cannot use score: use OPTION min_score 0.5, or ORDER BY score"
    if name.parts[:2] == ("doc", "meta"):
        key = ".".join(name.parts[2:])
        return f"did you mean doc.meta.'{key}'?" if key else "name the key: doc.meta.author"
    if homes := _homes(name.parts[-1]):
        return f"did you mean {' or '.join(homes)}?"
    folded = name.text.lower()
    known = qualified_names()
    if len(name.parts) == 1:
        bare = nearest(folded, (field.partition(".")[2] for field in known))
        word = bare.removeprefix("did you mean ").removesuffix("?") if bare else ""
        return f"did you mean {_homes(word)[0]}?" if word else f"fields are {', '.join(known)}"
    table, key = name.parts[0].lower(), name.parts[1].lower()
    if len(name.parts) == 2 and table in ("doc", "meta"):
        own = [field.partition(".")[2] for field in known if field.startswith("doc.")]
        like = get_close_matches(key, own, n=1, cutoff=_LIKE_A_FIELD)
        return f"did you mean doc.{like[0]}?" if like else f"did you mean doc.meta.{name.parts[1]}?"
    return nearest(folded, known) or f"fields are {', '.join(known)}"


def _homes(bare: str) -> tuple[str, ...]:
    return tuple(field for field in qualified_names() if field.partition(".")[2] == bare.lower())
