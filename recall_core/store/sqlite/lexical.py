"""Full text: literal queries in FTS5's own words, document frequencies, and BM25 of matching rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from math import log
from typing import Any

import apsw

from recall_core.errors import StoreError
from recall_core.rql.ast import Expr
from recall_core.store.sqlite.compile import compile_filter
from recall_core.store.sqlite.records import Execute
from recall_core.store.sqlite.schema import TOKENIZER
from recall_core.types import LexicalQuery, TermStat

IDF_FLOOR = 1e-6  # FTS5's floor for a term in half the rows or more (sqlite fts5_aux.c)


def folded_tokens(db: apsw.Connection, text: str) -> tuple[str, ...]:
    """The text as unicode61 folds it: lower case, without diacritics, before stemming."""
    tokenizer = db.fts5_tokenizer("unicode61", ["remove_diacritics", "2"])
    return _run(tokenizer, text)


def stemmed_tokens(db: apsw.Connection, text: str) -> tuple[str, ...]:
    """The text as the index holds it."""
    name, *arguments = TOKENIZER.split()
    return _run(db.fts5_tokenizer(name, arguments), text)


def tokenizers() -> tuple[Callable[[str], tuple[str, ...]], Callable[[str], tuple[str, ...]]]:
    """`folded_tokens` and `stemmed_tokens` of a text, for those who have no store at hand."""
    db = apsw.Connection(":memory:")
    return partial(folded_tokens, db), partial(stemmed_tokens, db)


def _run(tokenizer: Any, text: str) -> tuple[str, ...]:  # apsw gives its tokenizers no public type
    found = tokenizer(
        text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
    )
    return tuple(found)


def term_stats(db: apsw.Connection, execute: Execute, query: LexicalQuery, rows: int) -> tuple[TermStat, ...]:
    """One entry a phrase, in query order. rows: how many rows the index holds."""
    if query.raw:
        frequencies = _raw_frequencies(db, execute, query)
    else:
        frequencies = [(phrase.text, frequency(db, execute, phrase.tokens)) for phrase in query.phrases]
    return tuple(TermStat(text, df, idf(df, rows)) for text, df in frequencies)


def idf(df: int, rows: int) -> float:
    """FTS5's inverse document frequency, ln((N - df + .5) / (df + .5)), floored; 0 for a term that is nowhere."""
    if df == 0:
        return 0.0
    value = log((rows - df + 0.5) / (df + 0.5))
    return value if value > 0 else IDF_FLOOR


def quoted(tokens: Sequence[str]) -> str:
    """The phrase in FTS5's words. No token of the index holds a double quote."""
    return '"' + " ".join(tokens) + '"'


def frequency(db: apsw.Connection, execute: Execute, tokens: tuple[str, ...]) -> int:
    """How many rows hold the phrase."""
    if len(tokens) == 1:
        stems = stemmed_tokens(db, tokens[0])
        if len(stems) == 1:
            found = execute("SELECT doc FROM chunk_vocab WHERE term = ?", (stems[0],))
            return int(found[0][0]) if found else 0
    return int(execute("SELECT count(*) FROM chunk_fts WHERE chunk_fts MATCH ?", (quoted(tokens),))[0][0])


def _raw_frequencies(db: apsw.Connection, execute: Execute, query: LexicalQuery) -> list[tuple[str, int]]:
    """Each phrase of a raw FTS5 expression with its own document frequency, whatever its shape."""
    db.register_fts5_function("recall_phrases", _phrase_frequencies)
    found = execute("SELECT recall_phrases(chunk_fts) FROM chunk_fts WHERE chunk_fts MATCH ? LIMIT 1", (query.match,))
    return [(text, df) for text, df in json.loads(found[0][0])] if found else []


def _phrase_frequencies(api: apsw.FTS5ExtensionApi, *_: object) -> str:
    frequencies = []
    for number, phrase in enumerate(api.phrases):
        rows: list[int] = []
        api.query_phrase(number, lambda _api, seen: seen.append(1), rows)
        frequencies.append((" ".join(token or "" for token in phrase), len(rows)))
    return json.dumps(frequencies)


def check_syntax(execute: Execute, match: str) -> str | None:
    """None when FTS5 understands the expression, else what it says."""
    try:
        execute("SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ? LIMIT 0", (match,))
        execute("SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ? LIMIT 1", (match,))
    except StoreError as error:
        if isinstance(error.__cause__, apsw.SQLError):
            return str(error.__cause__)
        raise
    return None


def scores(
    execute: Execute, match: str, *, where: Expr | None, k: int | None, title_weight: float
) -> dict[int, float]:
    """rowid to raw BM25 >= 0 of the rows that match and pass, in rowid order or best first when k is given."""
    if not match or k == 0:
        return {}
    sql = ["SELECT f.rowid, -bm25(chunk_fts, ?, 1.0) AS raw FROM chunk_fts f"]
    parameters: list[Any] = [title_weight]
    if where is not None or k is not None:
        sql.append("JOIN chunk c ON c.rowid = f.rowid JOIN doc d ON d.rowid = c.doc")
    sql.append("WHERE chunk_fts MATCH ?")
    parameters.append(match)
    if where is not None:
        compiled = compile_filter(where, table="chunk")
        sql.append(f"AND ({compiled.sql})")
        parameters += compiled.params
    if k is not None:
        sql.append("ORDER BY raw DESC, d.path, c.offset LIMIT ?")
        parameters.append(k)
    return {rowid: abs(raw) for rowid, raw in execute(" ".join(sql), parameters)}


def scores_of(execute: Execute, match: str, rowids: Sequence[int], *, title_weight: float) -> dict[int, float]:
    """rowid to raw BM25 of those of these rows that match."""
    if not match or not rowids:
        return {}
    # The plus keeps SQLite from asking FTS5 for each row apart, which would count every term anew each time.
    found = execute(
        "SELECT rowid, -bm25(chunk_fts, ?, 1.0) FROM chunk_fts "
        "WHERE chunk_fts MATCH ? AND +rowid IN (SELECT value FROM json_each(?))",
        (title_weight, match, json.dumps(list(rowids))),
    )
    return {rowid: abs(raw) for rowid, raw in found}
