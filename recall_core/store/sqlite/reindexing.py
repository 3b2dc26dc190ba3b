"""Reindex, in SQL: index every chunk with other words next to the table in use, then switch tables at once.

The new table and its forms exist only during a reindex. Triggers remove from them every chunk that leaves the store,
whichever process or version of Recall removes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from recall_core.store.sqlite import census
from recall_core.store.sqlite.catalog import SqliteCatalog
from recall_core.store.sqlite.connect import making_sense
from recall_core.store.sqlite.records import IS_TITLE, check_text, reading, text_of
from recall_core.store.sqlite.schema import WORDS
from recall_core.words.analyzer import Analyzer
from recall_core.words.versions import analyzer_named

_TARGET = "next_words"
"""Key of the name of the words of an unfinished reindex."""

BATCH = 256  # chunks in a transaction: some tenths of a second

_FORGET = """
BEGIN
  INSERT INTO chunk_fts_next(chunk_fts_next, rowid, title, body)
    SELECT 'delete', chunk, title, coalesce(search_text, old.text) FROM chunk_next WHERE chunk = old.rowid;
  DELETE FROM chunk_next WHERE chunk = old.rowid;
END;
"""
_CREATE = f"""
CREATE TABLE chunk_next(chunk INTEGER PRIMARY KEY, title TEXT NOT NULL, search_text TEXT);
CREATE VIRTUAL TABLE chunk_fts_next USING fts5(
  title, body, content='chunk_search', content_rowid='id', tokenize='{{tokenizer}}'
);
CREATE TRIGGER chunk_next_tombstone AFTER UPDATE OF deleted ON chunk WHEN old.deleted = 0 AND new.deleted = 1
{_FORGET}
CREATE TRIGGER chunk_next_delete BEFORE DELETE ON chunk WHEN old.deleted = 0
{_FORGET}
"""
_DROP_TRIGGERS = "DROP TRIGGER IF EXISTS chunk_next_tombstone; DROP TRIGGER IF EXISTS chunk_next_delete;"
_DROP = f"{_DROP_TRIGGERS} DROP TABLE IF EXISTS chunk_fts_next; DROP TABLE IF EXISTS chunk_next;"

_LEFT = """
SELECT doc, rowid FROM chunk
WHERE deleted = 0 AND rowid > ? AND rowid NOT IN (SELECT chunk FROM chunk_next) ORDER BY rowid LIMIT ?
"""
_DOCUMENT = """
SELECT d.path, d.title, r.read_by, r.marks, r.hash
FROM doc d LEFT JOIN doc_reading r ON r.doc = d.rowid WHERE d.rowid = ?
"""
_SPANS = "SELECT rowid, offset, end_offset FROM chunk WHERE doc = ? AND deleted = 0 ORDER BY offset"
_TEXTS = f"""
SELECT c.rowid, c.text, c.hash, {IS_TITLE} FROM chunk c JOIN doc d ON d.rowid = c.doc
WHERE c.deleted = 0 AND c.rowid IN (SELECT value FROM json_each(?)) ORDER BY c.rowid
"""
_STILL_LEFT = """
SELECT rowid FROM chunk WHERE deleted = 0 AND rowid IN (SELECT value FROM json_each(?))
  AND rowid NOT IN (SELECT chunk FROM chunk_next)
"""
_TRIGGERS = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'chunk' ORDER BY rowid"
_SWITCH = """
UPDATE chunk SET title = n.title, search_text = n.search_text FROM chunk_next n
WHERE n.chunk = chunk.rowid AND (chunk.title, chunk.search_text) IS NOT (n.title, n.search_text);
DROP TABLE chunk_next;
DROP TABLE chunk_fts;
ALTER TABLE chunk_fts_next RENAME TO chunk_fts;
"""


class SqliteReindex(SqliteCatalog):
    """See store.care.Reindexing."""

    def reindex_target(self) -> str | None:
        """Return the name of the words of an unfinished reindex, or None."""
        found = self.execute("SELECT value FROM meta WHERE key = ?", (_TARGET,))
        with making_sense(self.path):
            return text_of(found[0][0]) if found else None

    def begin_reindex(self, name: str) -> int:
        """Start a reindex to these words, or continue the unfinished one. Return the number of chunks it has
        indexed."""
        with self.writing():
            if self.reindex_target() != name:
                self._drop_next()
                self.execute(_CREATE.format(tokenizer=analyzer_named(name).tokenizer))
                self.execute("INSERT INTO meta(key, value) VALUES(?, ?)", (_TARGET, name))
            return int(self.execute("SELECT count(*) FROM chunk_next")[0][0])

    def reindex_some(self, name: str, *, after: int) -> tuple[int, int] | None:
        """Index the next chunks by rowid after `after`. Return the last rowid and the number of indexed chunks.

        Return None if no chunk is left there, or if the target changed. The forms are made outside the transaction.
        """
        with self.reading():
            if self.reindex_target() != name:
                return None
            left = self.execute(_LEFT, (after, BATCH))
            with making_sense(self.path):
                rows = list(self._index(left, analyzer_named(name)))
        if not left:
            return None
        with self.transaction():
            if self.reindex_target() != name:
                return None
            still = {rowid for (rowid,) in self.execute(_STILL_LEFT, (json.dumps([row[0] for row in rows]),))}
            rows = [row for row in rows if row[0] in still]
            self.execute_many(
                "INSERT INTO chunk_fts_next(rowid, title, body) VALUES(?, ?, ?)",
                [(rowid, title, text if form is None else form) for rowid, title, form, text in rows],
            )
            self.execute_many(
                "INSERT INTO chunk_next(chunk, title, search_text) VALUES(?, ?, ?)", [row[:3] for row in rows]
            )
        return left[-1][1], len(rows)

    def finish_reindex(self, name: str) -> bool:
        """Replace the full-text table, forms, titles and the name of the words, in one transaction.

        Return False and change nothing if a live chunk is not indexed yet, or if the target changed.
        """
        with self.transaction():
            if self.reindex_target() != name or self.execute(_LEFT, (0, 1)):
                return False
            self.execute(_DROP_TRIGGERS)
            triggers = self.execute(_TRIGGERS)  # SQLite renames no table while a trigger names a missing one
            for trigger, _ in triggers:
                self.execute(f"DROP TRIGGER {trigger}")
            self.execute(_SWITCH)
            for _, sql in triggers:
                self.execute(sql)
            self.execute("DELETE FROM meta WHERE key = ?", (_TARGET,))
            self.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (WORDS, name))
            census.advance(self.execute)
        return True

    def drop_reindex(self) -> None:
        """Delete what an unfinished reindex has indexed."""
        with self.transaction():
            self._drop_next()

    def _drop_next(self) -> None:
        self.execute(_DROP)
        self.execute("DELETE FROM meta WHERE key = ?", (_TARGET,))

    def _index(self, left: list[tuple[Any, ...]], analyzer: Analyzer) -> Iterator[tuple[int, str, str | None, str]]:
        """Yield rowid, indexed title, form if it differs from the text, and text. left: (doc, rowid) of the chunks.

        Raises ValueError, TypeError if the stored data is damaged.
        """
        for doc, chunks in groupby(left, itemgetter(0)):
            ((path, title, *read),) = self.execute(_DOCUMENT, (doc,))
            spans = self.execute(_SPANS, (doc,))
            marks = reading(read, path)[1]
            titles = analyzer.titles(text_of(title), marks, [(start, end) for _, start, end in spans])
            title_of = {span[0]: own for span, own in zip(spans, titles, strict=True)}
            for rowid, text, kept, is_title in self.execute(_TEXTS, (json.dumps([row for _, row in chunks]),)):
                check_text(text_of(text), kept, path)
                form = analyzer.form(text)
                yield rowid, "" if is_title else title_of[rowid], None if form == text else form, text
