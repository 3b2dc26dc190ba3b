"""Settings written into a query as its own OPTION clause, or words written as the query that gives their rows.

Pure, and without a screen. The text keeps its comments, its spelling and its line breaks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from recall_core import rql
from recall_core.config import KEYS, NAMES, keyed

if TYPE_CHECKING:
    from recall_core.config import Config
    from recall_core.rql.ast import Query, Value
    from recall_core.rql.lexer import Token


class Edit(NamedTuple):
    """A stretch of the text and what comes in its place."""

    start: int
    end: int
    text: str


def has_option(key: str) -> bool:
    """True when a query can decide this setting itself."""
    return key in rql.options.OPTIONS


def with_options(text: str, query: Query, options: Mapping[str, Value], *, limit: int | None = None) -> str:
    """The text with these options, under the names that it has for them, and with this LIMIT where one is given.

    query: the tree of the text.
    """
    tokens = [token for token in rql.lexer.tokenize(text) if token.kind != "end" and token.text != ";"]
    clause = _clause(tokens, "OPTION")
    added = keyed(options)
    edits = []
    for name, value in _values(tokens, clause, len(query.options)):
        key = KEYS.get(name.text, name.text)
        if key in added:
            edits.append(Edit(value.start, value.end, _spelled({name.text: added.pop(key)}).partition(" ")[2]))
    added = {NAMES.get(key, key): value for key, value in added.items()}
    end = tokens[-1].end
    tail = ""
    if limit is not None:
        at = _clause(tokens, "LIMIT")
        if at is not None:
            edits.append(Edit(tokens[at + 1].start, tokens[at + 1].end, str(limit)))
        elif clause is not None:
            edits.append(Edit(tokens[clause].start, tokens[clause].start, f"LIMIT {limit} "))
        else:
            tail += f"{_break(text)}LIMIT {limit}"
    if added and clause is None:
        tail += f"{_break(text)}OPTION {_spelled(added)}"
    elif added and clause is not None:
        last = _values(tokens, clause, len(query.options))[-1][1].end
        edits.append(Edit(last, last, f", {_spelled(added)}"))
    return _edited(text, [*edits, Edit(end, end, tail)])


def as_query(words: str, config: Config, *, limit: int, options: Mapping[str, Value]) -> str:
    """The query in RQL with the rows of a search for these words. Raises RqlError where no query can hold them.

    options: settings that are moved; those that a query leaves out unless it says so are added to them.
    """
    said = {NAMES.get(key, key): value for key, value in options.items() if has_option(key)}
    if config.sparse_recall:
        said["sparse_recall"] = True
    else:
        said.pop("sparse_recall", None)
    if config.collapse:
        said["collapse"] = True
    else:
        said.pop("collapse", None)
    if config.rerank:
        said["rerank"] = config.rerank
    query = rql.ast.Query(
        table="chunk",
        using=(rql.ast.Using("lexical", words), rql.ast.Using("semantic", words)),
        limit=limit,
        options=tuple(said.items()),
    )
    text = rql.print.print_query(query)
    rql.parser.parse_query(text)
    return text


def _clause(tokens: list[Token], word: str) -> int | None:
    """The place of a clause's word among the tokens; a field or a metadata key of that name stands behind a point."""
    places = [
        at
        for at, token in enumerate(tokens)
        if token.kind == "name" and token.text.upper() == word and tokens[at - 1].text != "."
    ]
    return places[-1] if places else None


def _values(tokens: list[Token], clause: int | None, count: int) -> list[tuple[Token, Token]]:
    """The options of the clause: each name with its value; between two of them stands a comma."""
    if clause is None:
        return []
    return [(tokens[clause + 1 + 3 * at], tokens[clause + 2 + 3 * at]) for at in range(count)]


def _spelled(options: Mapping[str, Value]) -> str:
    """`name value, name value`, as a query has them."""
    return rql.print.print_query(rql.ast.Query(table="chunk", options=tuple(options.items()))).partition(" OPTION ")[
        2
    ]


def _break(text: str) -> str:
    """A query of several lines has its clauses below each other."""
    return "\n" if "\n" in text.strip() else " "


def _edited(text: str, edits: list[Edit]) -> str:
    for edit in sorted(edits, key=lambda each: (each.start, each.end), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text
