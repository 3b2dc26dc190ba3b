"""Phrases of a full-text expression, whatever its shape: how often each counts in the rows that an answer shows."""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw

from recall_core.store.sqlite.records import Execute
from recall_core.types import LexicalQuery, Occurrences, TermStat

_COUNTED = "SELECT rowid, recall_counted(chunk_fts) FROM chunk_fts WHERE chunk_fts MATCH ? AND "
_THESE = "rowid IN (SELECT value FROM json_each(?))"
# FTS5 counts a NEAR group under a column filter again in rows behind its last match, when it walks from row to row
# and not when it seeks one. A score was made walking, so its phrases are counted walking: the plus forbids to seek.
_WALKING = "+" + _THESE


def counted(
    db: apsw.Connection, execute: Execute, query: LexicalQuery, terms: Sequence[TermStat], rowids: Sequence[int]
) -> Occurrences:
    """Each phrase of the expression in these rows, as FTS5's bm25() counts it; rows that do not match are left out.

    Only places that satisfy the column filter, NEAR, ^ and the operators around a phrase count: in a row that
    `a OR (b AND c)` finds by a alone, b counts 0. terms: `term_stats` of the same query, one a phrase.
    """
    db.register_fts5_function("recall_counted", _count)
    sql = _COUNTED + (_WALKING if query.raw else _THESE)
    found = execute(sql, (query.match, json.dumps(list(rowids)))) if query.match and rowids else []
    counts: list[dict[int, tuple[int, int]]] = [{} for _ in terms]
    lengths: dict[int, tuple[int, int]] = {}
    rows, totals = 0, (0, 0)
    for rowid, packed in found:
        places, length, total, rows = json.loads(packed)
        lengths[rowid], totals = (length[0], length[1]), (total[0], total[1])
        for phrase, (title, body) in zip(counts, places, strict=True):
            if title or body:
                phrase[rowid] = (title, body)
    averages = (totals[0] / rows, totals[1] / rows) if rows else (0.0, 0.0)
    return Occurrences(tuple(terms), tuple(counts), lengths, averages, rows)


def _count(api: apsw.FTS5ExtensionApi, *_: object) -> str:
    """Of the row at hand: each phrase's places a column, tokens a column; of the index: tokens a column, rows."""
    places = [[len(column) for column in api.phrase_locations(number)] for number in range(api.phrase_count)]
    columns = range(api.column_count)
    sizes = [api.column_size(column) for column in columns], [api.column_total_size(column) for column in columns]
    return json.dumps([places, *sizes, api.row_count])
