"""Judgements, in SQL: kept by path and span, so that they outlast the chunks they were made on."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from recall_core import store
from recall_core.store.sqlite.connect import making_sense
from recall_core.store.sqlite.opened import OpenStore
from recall_core.store.sqlite.records import expect
from recall_core.store.sqlite.write import SqliteJudgementWriter

if TYPE_CHECKING:
    from recall_core.store.values import JudgementRow

_ROWS = "SELECT query, path, offset, end_offset, grade FROM judgement j"

_STRAY = "NOT EXISTS (SELECT 1 FROM doc WHERE doc.path = j.path AND doc.deleted = 0)"
"""Of no live document's path; some may by now be found by the name that they are kept under."""

_OF_QUERIES = "query IN (SELECT value FROM json_each(?))"

_ORDER = "ORDER BY query, path, offset, end_offset"

_QUERY_TYPES: frozenset[tuple[type, ...]] = frozenset([(str, str)])
_JUDGEMENT_TYPES: frozenset[tuple[type, ...]] = frozenset([(str, str, int, int, int)])


class SqliteJudgements(OpenStore):
    """See store.care.Judgements."""

    def judged_queries(self) -> dict[str, str]:
        """Query id to text, by id."""
        with making_sense(self.path):
            return dict(map(_query, self.execute("SELECT id, text FROM judged_query ORDER BY id")))

    def judgements(self) -> list[JudgementRow]:
        """Every judgement by query, path, offset and end."""
        with making_sense(self.path):
            return _rows(self.execute(f"{_ROWS} {_ORDER}"))

    def stray_judgements(self, queries: Collection[str] | None = None) -> list[JudgementRow]:
        """Those kept under a path that no live document has, of these queries or of all, in the same order."""
        among = "" if queries is None else f" AND {_OF_QUERIES}"
        given = () if queries is None else (json.dumps(sorted(queries)),)
        with making_sense(self.path):
            return _rows(self.execute(f"{_ROWS} WHERE {_STRAY}{among} {_ORDER}", given))

    def judgement_count(self) -> int:
        """How many judgements are kept."""
        return int(self.execute("SELECT count(*) FROM judgement")[0][0])

    @contextmanager
    def judging(self) -> Iterator[SqliteJudgementWriter]:
        """A write transaction over judgements."""
        with self.writing():
            yield SqliteJudgementWriter(self.execute)


def _query(row: tuple[Any, ...]) -> tuple[str, str]:
    expect(row, _QUERY_TYPES)
    return row[0], row[1]


def _rows(found: list[tuple[Any, ...]]) -> list[JudgementRow]:

    for row in found:
        expect(row, _JUDGEMENT_TYPES)
    return [store.values.JudgementRow(*row) for row in found]
