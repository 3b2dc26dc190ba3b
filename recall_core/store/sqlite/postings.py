"""Postings: how often each phrase of a literal query stands in which rows, read out of FTS5's own index."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache

import apsw

from recall_core.store.sqlite.lexical import frequency, idf, quoted, stemmed_tokens
from recall_core.store.sqlite.records import Execute
from recall_core.types import LexicalQuery, Occurrences, Phrase, TermStat

_LOOK_UP = 40  # entries of a posting list are read in the time in which FTS5 finds one row in it

_WORD = """
SELECT doc, sum(col = 'title'), sum(col = 'body') FROM chunk_instance WHERE term = ? GROUP BY doc
"""
_MATCHING = "SELECT rowid, recall_occurrences(chunk_fts) FROM chunk_fts WHERE chunk_fts MATCH ?"
_AMONG = " AND rowid IN (SELECT value FROM json_each(?))"
_SIZES = "SELECT id, sz FROM chunk_fts_docsize"
_SIZES_OF = _SIZES + " WHERE id IN (SELECT value FROM json_each(?))"

Counts = dict[int, tuple[int, int]]
"""rowid to two numbers: of the title and of the body."""


def occurrences(
    db: apsw.Connection,
    execute: Execute,
    query: LexicalQuery,
    rowids: Sequence[int] | None,
    *,
    sizes: Mapping[int, tuple[int, int]] | None,
) -> Occurrences:
    """See ports.Store. sizes: of every row, where they are at hand."""
    rows, totals = index_totals(execute)
    dfs = {phrase.tokens: frequency(db, execute, phrase.tokens) for phrase in query.phrases}
    db.register_fts5_function("recall_occurrences", _count)
    if rowids is not None and _LOOK_UP * len(rowids) < sum(dfs.values()):
        counts = _in_rows(execute, list(dfs), rowids)
    else:
        wanted = None if rowids is None else frozenset(rowids)
        counts = {tokens: _among(_everywhere(db, execute, tokens), wanted) for tokens in dfs}
    if sizes is None:
        sizes = lengths(execute, sorted(set().union(*counts.values())))
    return Occurrences(
        phrases=tuple(_stat(phrase, dfs[phrase.tokens], rows) for phrase in query.phrases),
        counts=tuple(counts[phrase.tokens] for phrase in query.phrases),
        lengths=sizes,
        averages=(totals[0] / rows, totals[1] / rows) if rows else (0.0, 0.0),
        rows=rows,
    )


def lengths(execute: Execute, rowids: Sequence[int] | None) -> Counts:
    """rowid to its tokens in title and body, of these rows or of all."""
    found = execute(_SIZES) if rowids is None else execute(_SIZES_OF, (json.dumps(list(rowids)),))
    return {rowid: pair(size) for rowid, size in found}


def _stat(phrase: Phrase, df: int, rows: int) -> TermStat:
    return TermStat(phrase.text, df, idf(df, rows))


def index_totals(execute: Execute) -> tuple[int, tuple[int, int]]:
    """How many rows the index holds, and their tokens in title and body: FTS5's averages record."""
    (record,) = execute("SELECT block FROM chunk_fts_data WHERE id = 1")[0]
    rows, *totals = _varints(record) or [0, 0, 0]
    return rows, _two(totals)


def _in_rows(
    execute: Execute, phrases: Sequence[tuple[str, ...]], rowids: Sequence[int]
) -> dict[tuple[str, ...], Counts]:
    """Every phrase in these rows, in one pass over those that hold any."""
    counts: dict[tuple[str, ...], Counts] = {tokens: {} for tokens in phrases}
    if not phrases or not rowids:
        return counts
    anywhere = " OR ".join(map(quoted, phrases))
    for rowid, found in execute(_MATCHING + _AMONG, (anywhere, json.dumps(list(rowids)))):
        for tokens, (title, body) in zip(phrases, json.loads(found), strict=True):
            if title or body:
                counts[tokens][rowid] = (title, body)
    return counts


def _everywhere(db: apsw.Connection, execute: Execute, tokens: tuple[str, ...]) -> Counts:
    """One phrase in every row that holds it. A single word has its postings; FTS5 puts together those of several."""
    stems = [stem for token in tokens for stem in stemmed_tokens(db, token)]
    if len(stems) == 1:
        return {rowid: (title, body) for rowid, title, body in execute(_WORD, (stems[0],))}
    return {rowid: _two(json.loads(found)[0]) for rowid, found in execute(_MATCHING, (quoted(tokens),))}


def _among(counts: Counts, rowids: frozenset[int] | None) -> Counts:
    return counts if rowids is None else {rowid: found for rowid, found in counts.items() if rowid in rowids}


def _count(api: apsw.FTS5ExtensionApi, *_: object) -> str:
    """For each phrase of the expression how often it stands in the title and in the body of the row at hand."""
    places = map(api.phrase_locations, range(api.phrase_count))
    return json.dumps([[len(column) for column in columns] for columns in places])


@lru_cache(maxsize=4096)
def pair(packed: bytes) -> tuple[int, int]:
    """Two packed numbers. Rows of equal length are many, and are read once."""
    return _two(_varints(packed))


def _two(numbers: Sequence[int]) -> tuple[int, int]:
    title, body = numbers
    return title, body


def _varints(packed: bytes) -> list[int]:
    """SQLite's integers of variable length: seven bits a byte, the highest first, the last byte below 128.

    A ninth byte, which would give eight bits, belongs to numbers beyond 2^56 and never comes here.
    """
    numbers = [0]
    for byte in packed:
        numbers[-1] = numbers[-1] << 7 | byte & 127
        if byte < 128:
            numbers.append(0)
    return numbers[:-1]
