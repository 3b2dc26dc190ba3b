"""Judgements, in SQL: stored by path and span, so that they outlive the chunks they were made on."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from recall_core.store.postgres.opened import OpenCollection
from recall_core.store.postgres.schema import Execute
from recall_core.store.values import JudgementRow

_ROWS = "SELECT query, path, start, stop, grade FROM judgement j"
_STRAY = "NOT EXISTS (SELECT 1 FROM document d WHERE d.path = j.path AND d.is_live)"
_ORDER = "ORDER BY query, path, start, stop"
_PUT = """
INSERT INTO judgement(query, path, start, stop, grade) VALUES(%s, %s, %s, %s, %s)
ON CONFLICT(query, path, start, stop) DO UPDATE SET grade = excluded.grade
"""


class PostgresJudgements(OpenCollection):
    """See store.care.Judgements."""

    def judged_queries(self) -> dict[str, str]:
        """Return query id to text, by id."""
        return dict(self.execute("SELECT id, text FROM judged_query ORDER BY id"))

    def judgements(self) -> list[JudgementRow]:
        """Return every judgement by query, path, offset and end."""
        return list(map(JudgementRow._make, self.execute(f"{_ROWS} {_ORDER}")))

    def stray_judgements(self, queries: Collection[str] | None = None) -> list[JudgementRow]:
        """Return judgements whose path has no live document, for these queries or all, in the same order."""
        sql = f"{_ROWS} WHERE {_STRAY} AND (%s OR query = ANY(%s::text[])) {_ORDER}"
        return list(map(JudgementRow._make, self.execute(sql, (queries is None, sorted(queries or ())))))

    def judgement_count(self) -> int:
        """Return the number of judgements."""
        return int(self.execute("SELECT count(*) FROM judgement")[0][0])

    @contextmanager
    def judging(self) -> Iterator[PostgresJudgementWriter]:
        """Open a write transaction over judgements."""
        with self.writing():
            yield PostgresJudgementWriter(self.execute)


class PostgresJudgementWriter:
    """Changes inside an open transaction; see store.care.JudgementWriter. They do not change the digest."""

    def __init__(self, execute: Execute) -> None:
        self._execute = execute

    def put_query(self, query: str, text: str) -> None:
        """Store a query under its id. An existing query stays as it is."""
        self._execute("INSERT INTO judged_query(id, text) VALUES(%s, %s) ON CONFLICT DO NOTHING", (query, text))

    def drop_query(self, query: str) -> None:
        """Delete a query unless it has a judgement."""
        sql = "DELETE FROM judged_query q WHERE id = %s AND NOT EXISTS (SELECT 1 FROM judgement WHERE query = q.id)"
        self._execute(sql, (query,))

    def put(self, row: JudgementRow) -> None:
        """Store a judgement, or replace the grade of the same query, path and span."""
        self._execute(_PUT, tuple(row))

    def remove(self, query: str, path: str, offset: int, end: int) -> None:
        """Delete a judgement if it exists."""
        sql = "DELETE FROM judgement WHERE query = %s AND path = %s AND start = %s AND stop = %s"
        self._execute(sql, (query, path, offset, end))
