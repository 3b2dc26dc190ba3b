"""Where the parser stands: the tokens of one text, the next of them, and how to complain about it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple

from recall_core.errors import RqlError
from recall_core.rql.lexer import Token, tokenize


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
