"""BM25 of a literal query of very many words, added up from postings: FTS5 compares all phrases at every row."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import apsw

from recall_core.config import BM25_K1
from recall_core.rql.ast import Expr
from recall_core.store.sqlite.compile import Compiled, compile_filter
from recall_core.store.sqlite.lexical import idf, quoted, scores, stemmed_tokens
from recall_core.store.sqlite.postings import index_totals, pair
from recall_core.store.sqlite.records import Execute
from recall_core.types import LexicalQuery, Phrase

FEW = 1000
"""Phrases up to which FTS5's own bm25() is as fast: its time grows with their square, this one's does not."""
_AT_ONCE = 100  # phrases of several words that FTS5 is given together

_FREQUENCIES = "SELECT term, doc FROM chunk_vocab WHERE term IN (SELECT value FROM json_each(?))"

_HELD = """
WITH wanted(term, weight) AS MATERIALIZED (SELECT value ->> 0, value ->> 1 FROM json_each(?1)),
     norm(row, held) AS MATERIALIZED (
         SELECT id, ?2 * (0.25 + 0.75 * recall_tokens(sz) / ?3) FROM chunk_fts_docsize),
     counted(row, weight, frequency) AS (
         SELECT i.doc, w.weight, sum(CASE i.col WHEN 'title' THEN ?4 ELSE 1.0 END)
         FROM wanted w JOIN chunk_instance i ON i.term = w.term GROUP BY w.term, i.doc)
SELECT counted.row, sum(weight * frequency * (?2 + 1) / (frequency + norm.held)) AS raw
FROM counted JOIN norm ON norm.row = counted.row GROUP BY counted.row
"""
"""FTS5's bm25() (sqlite fts5_aux.c): b is .75, the length is that of both columns together."""

_CHOSEN = """
SELECT c.rowid, raws.value ->> 1 AS raw FROM json_each(?) raws JOIN chunk c ON c.rowid = raws.value ->> 0
JOIN doc d ON d.rowid = c.doc WHERE ({}) ORDER BY {} LIMIT ?
"""


def is_long(query: LexicalQuery) -> bool:
    """Whether the query joins more words than FTS5 should be given at once."""
    return len(query.phrases) > FEW and query.match == _any(query.phrases)


def long_scores(
    db: apsw.Connection,
    execute: Execute,
    query: LexicalQuery,
    *,
    where: Expr | None,
    k: int | None,
    title_weight: float,
) -> dict[int, float]:
    """As `lexical.scores`."""
    raws = _raws(db, execute, query, title_weight)
    if where is None and k is None:
        return raws
    passing = Compiled("1") if where is None else compile_filter(where, table="chunk")
    order = "c.rowid" if k is None else "raw DESC, d.path, c.offset"
    given = json.dumps([[rowid, raw] for rowid, raw in raws.items()])
    return dict(execute(_CHOSEN.format(passing.sql, order), (given, *passing.params, -1 if k is None else k)))


def long_scores_of(
    db: apsw.Connection, execute: Execute, query: LexicalQuery, rowids: Sequence[int], *, title_weight: float
) -> dict[int, float]:
    """As `lexical.scores_of`."""
    raws = _raws(db, execute, query, title_weight) if rowids else {}
    return {rowid: raws[rowid] for rowid in sorted(rowids) if rowid in raws}


def _raws(db: apsw.Connection, execute: Execute, query: LexicalQuery, title_weight: float) -> dict[int, float]:
    """rowid to raw BM25 of every row that holds a phrase: the sum over phrases, taken in parts."""
    words: Counter[str] = Counter()
    phrases: list[Phrase] = []
    stems = {
        tokens: tuple(stem for token in tokens for stem in stemmed_tokens(db, token)) for tokens in _tokens(query)
    }
    for phrase in query.phrases:
        if len(stems[phrase.tokens]) == 1:
            words[stems[phrase.tokens][0]] += 1
        else:
            phrases.append(phrase)
    raws = _by_words(db, execute, words, title_weight)
    for start in range(0, len(phrases), _AT_ONCE):
        some = _any(phrases[start : start + _AT_ONCE])
        for rowid, raw in scores(execute, some, where=None, k=None, title_weight=title_weight).items():
            raws[rowid] = raws.get(rowid, 0.0) + raw
    return raws


def _by_words(db: apsw.Connection, execute: Execute, words: Counter[str], title_weight: float) -> dict[int, float]:
    """The same of single words, with how often each stands in the query."""
    rows, lengths = index_totals(execute)
    if not rows or not sum(lengths):
        return {}
    db.create_scalar_function("recall_tokens", _tokens_of, 1, deterministic=True)
    dfs = execute(_FREQUENCIES, (json.dumps(sorted(words)),))
    weights = [[word, idf(df, rows) * words[word]] for word, df in dfs]
    return dict(execute(_HELD, (json.dumps(weights), BM25_K1, sum(lengths) / rows, title_weight)))


def _tokens_of(*sizes: Any) -> int:  # what SQLite hands over has no narrower type
    return sum(sum(pair(size)) for size in sizes)


def _tokens(query: LexicalQuery) -> set[tuple[str, ...]]:
    return {phrase.tokens for phrase in query.phrases}


def _any(phrases: Sequence[Phrase]) -> str:
    return " OR ".join(quoted(phrase.tokens) for phrase in phrases)
