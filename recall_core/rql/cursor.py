"""Where the parser stands: the tokens of one text, the next of them, how to complain about it, and field names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple, cast

from recall_core.errors import RqlError
from recall_core.rql.ast import Field
from recall_core.rql.fields import lookup, qualified_names
from recall_core.rql.lexer import Token, tokenize
from recall_core.types import Table


class Reach(NamedTuple):
    """A stretch of source to point at; start and end in code points, end exclusive."""

    start: int
    end: int


class Cursor:
    """Reads one text from left to right. `warnings` collects what is odd and allowed."""

    __slots__ = ("_position", "_tokens", "strict", "text", "warnings")

    def __init__(self, text: str, *, strict: bool = False) -> None:
        self.text = text
        self.strict = strict
        self.warnings: list[str] = []
        self._tokens = tokenize(text)
        self._position = 0

    @property
    def token(self) -> Token:
        """The next token, unread."""
        return self._tokens[self._position]

    def take(self) -> Token:
        """The next token, read; the end of input is never passed."""
        token = self.token
        if token.kind != "end":
            self._position += 1
        return token

    def at(self, *words: str) -> bool:
        """True when one of these keywords, given in capitals, comes next."""
        return self.token.kind == "name" and keyword(self.token.text) in words

    def accept(self, *words: str) -> str | None:
        """Read one of these keywords and return it in capitals; None, and nothing read, when none comes next."""
        return keyword(self.take().text) if self.at(*words) else None

    def accept_symbol(self, *symbols: str) -> str | None:
        """Read one of these symbols; None, and nothing read, when none comes next."""
        if self.token.kind != "symbol" or self.token.text not in symbols:
            return None
        return self.take().text

    def expect(self, word: str) -> None:
        """Read this keyword or raise."""
        if not self.accept(word):
            raise self.unexpected(word, known=(word,))

    def expect_symbol(self, symbol: str, expected: str | None = None) -> None:
        """Read this symbol or raise."""
        if not self.accept_symbol(symbol):
            raise self.unexpected(expected or symbol)

    def unexpected(self, expected: str, *, known: Iterable[str] = (), hint: str | None = None) -> RqlError:
        """The error for the next token being none of what the grammar allows. known: keywords to guess from."""
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
        """An error that points at this stretch of the text."""
        return RqlError(code, message, text=self.text, start=reach.start, end=reach.end, expected=expected, hint=hint)


def keyword(word: str) -> str:
    """The word as keywords are compared: in capitals, where it is ASCII (a long s is no S)."""
    return word.upper() if word.isascii() else word


def nearest(word: str, known: Iterable[str]) -> str | None:
    """A did-you-mean hint, or None when nothing known looks alike."""
    close = get_close_matches(word, list(known), n=1)
    return f"did you mean {close[0]}?" if close else None


A_FIELD = "a field such as doc.tag"
_LIKE_A_FIELD = 0.7  # `tgas` is a misspelt tags, and `date` is a key of the document's own, not its state


class Name(NamedTuple):
    """A dotted name as it was written, and where."""

    parts: tuple[str, ...]
    reach: Reach

    @property
    def text(self) -> str:
        """The parts with their dots."""
        return ".".join(self.parts)


def read_name(cursor: Cursor, *, expected: str = A_FIELD) -> Name:
    """The dotted name that comes next. Only the third part, a metadata key, may be quoted."""
    first = cursor.token
    if first.kind != "name":
        raise cursor.unexpected(expected)
    parts = [cursor.take().text]
    end = first.end
    while cursor.accept_symbol("."):
        token = cursor.token
        if token.kind != "name" and (token.kind != "string" or len(parts) != 2):
            hint = "quote a key: doc.meta.'2024'" if len(parts) == 2 else None
            raise cursor.unexpected("a name after the dot", hint=hint)
        parts.append(str(cursor.take().value))
        end = token.end
    return Name(tuple(parts), Reach(first.start, end))


def read_field(cursor: Cursor, *, expected: str = A_FIELD) -> tuple[Field, Reach]:
    """The qualified field that comes next. Raises RqlError: rql_syntax, unqualified_field, unknown_field."""
    name = read_name(cursor, expected=expected)
    field = find(name)
    if field is None:
        raise unknown(cursor, name)
    return field, name.reach


def find(name: Name, *, table: Table | None = None) -> Field | None:
    """The field of that name, or None; with a table, its fields are also known by their bare names."""
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
    """The error for a name that is no field, with the best guess at what was meant."""
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
    """A hint for a name that is no field."""
    if name.parts == ("score",):
        return "a score is not filtered by: use OPTION min_score 0.5, or ORDER BY score"
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
