"""The OPTION clause: the fixed list of names and their values."""

from __future__ import annotations

from typing import NamedTuple

from recall_core.config import KEYS, SETTINGS, Config
from recall_core.errors import RecallError, RqlError
from recall_core.rql.ast import Value
from recall_core.rql.lexer import Cursor, Token, keyword, nearest, tokenize


class Option(NamedTuple):
    """The values of one option: choices for words, bounds for numbers, otherwise ON or OFF."""

    doc: str
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    is_whole: bool = False
    names_anything: bool = False

    @property
    def expected(self) -> str:
        """The expected value, as text for people."""
        if self.choices:
            return " or ".join(self.choices)
        if self.names_anything:
            return "a name or OFF"
        if self.least is None:
            return "ON or OFF"
        to = "" if self.most is None else f" to {self.most:,.10g}"
        return f"a {'whole ' if self.is_whole else ''}number from {self.least:g}{to}"


def _from_setting(name: str) -> Option:
    key = KEYS.get(name, name)
    setting = SETTINGS[key]
    is_whole = isinstance(Config._field_defaults[key], int)
    return Option(setting.doc, setting.choices, setting.least, setting.most, is_whole)


_A_NAME = "the name of an option"
_SHARED = (
    "fusion",
    "normalize",
    "lexical_weight",
    "semantic_weight",
    "bm25_weight",
    "vector_weight",
    "min_score",
    "min_cosine",
    "pool",
)

OPTIONS: dict[str, Option] = {
    **{name: _from_setting(name) for name in _SHARED},
    "exact": Option("scan every vector instead of an index"),
    "sparse_recall": Option("let a short, similar document take the last row"),
    "collapse": Option("show a text only once if several chunks have it"),
    "rerank": Option("the reranker that reorders the best rows", names_anything=True),
}


def read_options(cursor: Cursor) -> tuple[tuple[str, Value], ...]:
    """Read the next options, in the order written.

    Raises RqlError: unknown_option, duplicate_option, bad_option.
    """
    chosen: dict[str, Value] = {}
    while True:
        name = _read_name(cursor, chosen)
        chosen[name] = _read_value(cursor, name)
        if not cursor.accept_symbol(","):
            return tuple(chosen.items())


def at_option(text: str, name: str, error: RecallError) -> RqlError:
    """Return the error with the position of that option in the query text, which parsed before."""
    tokens = tokenize(text)
    start = next(i for i, token in enumerate(tokens) if token.kind == "name" and keyword(token.text) == "OPTION")
    place = next(
        (i for i in range(start, len(tokens)) if tokens[i].text == name and tokens[i - 1].text != "."), start
    )
    end = tokens[min(place + 1, len(tokens) - 1)].end
    expected = OPTIONS[name].expected
    return RqlError(
        error.code, error.message, text=text, start=tokens[place].start, end=end, expected=expected, hint=error.hint
    )


def _read_name(cursor: Cursor, chosen: dict[str, Value]) -> str:
    token = cursor.token
    if token.kind != "name":
        raise cursor.unexpected_error(_A_NAME)
    if token.text not in OPTIONS:
        hint = nearest(token.text.lower(), OPTIONS) or f"options are {', '.join(OPTIONS)}"
        message = f"There is no option {token.text}."
        raise cursor.error("unknown_option", message, reach=token, expected=_A_NAME, hint=hint)
    if token.text in chosen:
        message = f"The option {token.text} appears twice."
        wanted = "each option once"
        raise cursor.error("duplicate_option", message, reach=token, expected=wanted, hint="remove one of them")
    return cursor.take().text


def _read_value(cursor: Cursor, name: str) -> Value:
    option = OPTIONS[name]
    token = cursor.token
    if token.kind not in ("name", "string", "number"):
        hint = "write the value after the name, without =" if token.text == "=" else None
        raise cursor.unexpected_error(option.expected, hint=hint)
    value = _option_value(cursor)
    if not _fits(option, value):
        raise _bad_option(cursor, name, token, value)
    return value


def _option_value(cursor: Cursor) -> Value:
    if switch := cursor.accept("ON", "OFF", "TRUE", "FALSE"):
        return switch in ("ON", "TRUE")
    return cursor.take().value


def _fits(option: Option, value: Value) -> bool:
    if option.choices:
        return value in option.choices
    if option.names_anything:
        return value is False or (isinstance(value, str) and value != "")
    if option.least is None:
        return isinstance(value, bool)
    if isinstance(value, bool | str) or (option.is_whole and not isinstance(value, int)):
        return False
    return value >= option.least and (option.most is None or value <= option.most)


def _bad_option(cursor: Cursor, name: str, token: Token, value: Value) -> RqlError:
    option = OPTIONS[name]
    hint = nearest(value, option.choices) if isinstance(value, str) else None
    message = f"The option {name} takes {option.expected}, not {token.text[:40]}."
    return cursor.error("bad_option", message, reach=token, expected=option.expected, hint=hint)
