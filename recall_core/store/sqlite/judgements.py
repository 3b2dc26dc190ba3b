"""Judgements, in SQL: stored by path and span, so that they outlive the chunks they were made on."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from recall_core import store
from recall_core.store.sqlite.connect import making_sense
from recall_core.store.sqlite.opened import OpenStore
from recall_core.store.sqlite.records import Execute, expect

if TYPE_CHECKING:
    from recall_core.store.values import JudgementRow

_ROWS = "SELECT query, path, offset, end_offset, grade FROM judgement j"

_STRAY = "NOT EXISTS (SELECT 1 FROM doc WHERE doc.path = j.path AND doc.deleted = 0)"
"""True if no live document has the path. Some documents may now be found under another name."""

_OF_QUERIES = "query IN (SELECT value FROM json_each(?))"

_ORDER = "ORDER BY query, path, offset, end_offset"

_QUERY_TYPES: frozenset[tuple[type, ...]] = frozenset([(str, str)])
_JUDGEMENT_TYPES: frozenset[tuple[type, ...]] = frozenset([(str, str, int, int, int)])


_PUT_JUDGEMENT = """
INSERT INTO judgement(query, path, offset, end_offset, grade) VALUES(?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET grade = excluded.grade
"""

_REMOVE_JUDGEMENT = "DELETE FROM judgement WHERE query = ? AND path = ? AND offset = ? AND end_offset = ?"


class SqliteJudgements(OpenStore):
    """See store.care.Judgements."""

    def judged_queries(self) -> dict[str, str]:
        """Return query id to text, by id."""
        with making_sense(self.path):
            rows = self.execute("SELECT id, text FROM judged_query ORDER BY id")
            for row in rows:
                expect(row, _QUERY_TYPES)
            return dict(rows)

    def judgements(self) -> list[JudgementRow]:
        """Return every judgement by query, path, offset and end."""
        with making_sense(self.path):
            return _rows(self.execute(f"{_ROWS} {_ORDER}"))

    def stray_judgements(self, queries: Collection[str] | None = None) -> list[JudgementRow]:
        """Return judgements whose path has no live document, for these queries or all, in the same order."""
        among = "" if queries is None else f" AND {_OF_QUERIES}"
        given = () if queries is None else (json.dumps(sorted(queries)),)
        with making_sense(self.path):
            return _rows(self.execute(f"{_ROWS} WHERE {_STRAY}{among} {_ORDER}", given))

    def judgement_count(self) -> int:
        """Return the number of judgements."""
        return int(self.execute("SELECT count(*) FROM judgement")[0][0])

    @contextmanager
    def judging(self) -> Iterator[SqliteJudgementWriter]:
        """Open a write transaction over judgements."""
        with self.writing():
            yield SqliteJudgementWriter(self.execute)


class SqliteJudgementWriter:
    """Changes inside an open transaction; see store.care.JudgementWriter. They do not change the digest."""

    def __init__(self, execute: Execute) -> None:
        self._execute = execute

    def put_query(self, query: str, text: str) -> None:
        """Store a query under its id. An existing query stays as it is."""
        self._execute("INSERT INTO judged_query(id, text) VALUES(?, ?) ON CONFLICT DO NOTHING", (query, text))

    def drop_query(self, query: str) -> None:
        """Delete a query unless it has a judgement."""
        if not self._execute("SELECT 1 FROM judgement WHERE query = ? LIMIT 1", (query,)):
            self._execute("DELETE FROM judged_query WHERE id = ?", (query,))

    def put(self, row: JudgementRow) -> None:
        """Store a judgement, or replace the grade of the same query, path and span."""
        self._execute(_PUT_JUDGEMENT, row)

    def remove(self, query: str, path: str, offset: int, end: int) -> None:
        """Delete a judgement if it exists."""
        self._execute(_REMOVE_JUDGEMENT, (query, path, offset, end))


def _rows(found: list[tuple[Any, ...]]) -> list[JudgementRow]:
    for row in found:
        expect(row, _JUDGEMENT_TYPES)
    return [store.values.JudgementRow(*row) for row in found]
