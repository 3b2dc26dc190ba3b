"""The words that complete a query: the tags, paths, titles and metadata that a store holds, by their beginning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from recall_core import rql
from recall_core.store.sqlite.compile import json_path
from recall_core.store.sqlite.records import Execute

if TYPE_CHECKING:
    from recall_core.rql.ast import Field
    from recall_core.rql.complete import KnownValue

_TAGS = """
SELECT t.tag, count(*) FROM doc_tag t JOIN doc d ON d.rowid = t.doc
WHERE d.deleted = 0 AND substr(t.tag, 1, length(?1)) = ?1 GROUP BY t.tag ORDER BY count(*) DESC, t.tag LIMIT ?2
"""

_COLUMN = """
SELECT {column}, count(*) FROM doc d
WHERE d.deleted = 0 AND {column} IS NOT NULL AND substr({column}, 1, length(?1)) = ?1
GROUP BY {column} ORDER BY {order} LIMIT ?2
"""

_FREQUENT = "count(*) DESC, 1"

_COLUMNS = {
    "path": _COLUMN.format(column="d.path", order="1"),
    "source": _COLUMN.format(column="d.source", order=_FREQUENT),
    "title": _COLUMN.format(column="d.title", order=_FREQUENT),
    "mtime": _COLUMN.format(column="substr(d.mtime, 1, 10)", order="1 DESC"),
    "id": _COLUMN.format(column="d.id", order="1"),
    "hash": _COLUMN.format(column="d.hash", order=_FREQUENT),
    "tag": _TAGS,
    "tags": _TAGS,
}

_META_KEYS = """
SELECT j.key, count(*) FROM doc d, json_each(d.meta) j
WHERE d.deleted = 0 AND j.key <> '' AND substr(j.key, 1, length(?1)) = ?1
GROUP BY j.key ORDER BY count(*) DESC, j.key LIMIT ?2
"""

_META_VALUES = """
SELECT json_extract(d.meta, ?3), json_type(d.meta, ?3) AS kind, count(*) FROM doc d
WHERE d.deleted = 0 AND kind IN ('text', 'integer', 'real', 'true', 'false')
  AND substr(CASE kind WHEN 'true' THEN kind WHEN 'false' THEN kind ELSE json_extract(d.meta, ?3) END,
             1, length(?1)) = ?1
GROUP BY 1, 2 ORDER BY count(*) DESC, 1, 2 LIMIT ?2
"""


class SqliteVocabulary:
    """A store's vocabulary, read by prefix; see store.port.Catalog.vocabulary."""

    def __init__(self, execute: Execute, most: int) -> None:
        self._execute = execute
        self._most = most

    def keys(self, prefix: str) -> Sequence[KnownValue]:
        """Metadata keys that begin with the prefix."""
        return _known(self._execute(_META_KEYS, (prefix, self._most)))

    def values(self, field: Field, prefix: str) -> Sequence[KnownValue]:
        """Values that begin with the prefix; none of a chunk's fields, which are too many to help."""
        if field.table == "chunk":
            return ()
        if field.key is not None:
            rows = self._execute(_META_VALUES, (prefix, self._most, json_path(field)))
            return _known((_typed(value, kind), count) for value, kind, count in rows)
        return _known(self._execute(_COLUMNS[field.name], (prefix, self._most)))


def _known(rows: Iterable[tuple[Any, ...]]) -> list[KnownValue]:

    return [rql.complete.KnownValue(value, count) for value, count in rows]


def _typed(value: str | int | float, kind: str) -> str | int | float | bool:
    return kind == "true" if kind in ("true", "false") else value
