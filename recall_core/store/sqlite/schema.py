"""The tables, and the numbered steps that upgrade an older file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw

from recall_core._lazy import hashlib
from recall_core.marks import load
from recall_core.store.digest import canonical
from recall_core.store.sqlite import blocks, copies
from recall_core.text import embedded_hash, sha256
from recall_core.words.analyzer import PORTER, Analyzer
from recall_core.words.versions import analyzer_named

APPLICATION_ID = 0x5265636C  # "Recl": identifies a Recall store
PAGE_SIZE = 8192  # files with full text are 8-14 % smaller than with 4096
PURGED = "purged"
"""Key of the hashes of the names given to the last purge."""
RETENTION_DAY = "retention_day"
"""Key of the day of the last purge of old sessions."""
TOLD_SKIPS = "told_skips"
"""Key of the only value of meta that may be long; readers of the other values skip it."""
WORDS = "words"
"""Key of the name of the words; see `words.analyzer`. Stores made before words had names have none."""

_INSTANCES = "CREATE VIRTUAL TABLE chunk_instance USING fts5vocab(chunk_fts, instance);"


_FULL_TEXT = """
CREATE VIRTUAL TABLE chunk_fts USING fts5(
  title, body, content='chunk_search', content_rowid='id', tokenize='{}'
);
CREATE VIRTUAL TABLE chunk_vocab USING fts5vocab(chunk_fts, row);
"""


_TABLES = f"""
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE root(rowid INTEGER PRIMARY KEY, spec TEXT NOT NULL UNIQUE);

CREATE TABLE file(
  rowid INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  os_path TEXT NOT NULL,
  size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  hash TEXT NOT NULL,
  settings TEXT NOT NULL,
  root INTEGER REFERENCES root(rowid)
);

CREATE TABLE doc(
  rowid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL,
  file INTEGER REFERENCES file(rowid) ON DELETE SET NULL,
  mtime TEXT NOT NULL,
  size INTEGER NOT NULL,
  hash TEXT NOT NULL,
  title TEXT NOT NULL,
  source TEXT,
  meta TEXT NOT NULL DEFAULT '{{}}',
  digest TEXT NOT NULL,
  deleted INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX doc_live_path ON doc(path) WHERE deleted = 0;
CREATE INDEX doc_live_mtime ON doc(mtime) WHERE deleted = 0;
CREATE INDEX doc_live_source ON doc(source) WHERE deleted = 0;
CREATE INDEX doc_file ON doc(file);

CREATE TABLE doc_tag(
  doc INTEGER NOT NULL REFERENCES doc(rowid) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY(doc, tag)
) WITHOUT ROWID;
CREATE INDEX doc_tag_tag ON doc_tag(tag, doc);

CREATE TABLE chunk(
  rowid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  doc INTEGER NOT NULL REFERENCES doc(rowid) ON DELETE CASCADE,
  offset INTEGER NOT NULL,
  end_offset INTEGER NOT NULL,
  line_start INTEGER NOT NULL,
  line_end INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  heading TEXT,
  title TEXT NOT NULL,
  text TEXT NOT NULL,
  search_text TEXT,
  text_hash BLOB NOT NULL,
  deleted INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX chunk_natural ON chunk(doc, offset, tokens) WHERE deleted = 0;
CREATE INDEX chunk_doc ON chunk(doc);
CREATE INDEX chunk_text_hash ON chunk(text_hash);

CREATE TABLE vec(chunk INTEGER PRIMARY KEY REFERENCES chunk(rowid) ON DELETE CASCADE, embedding BLOB NOT NULL);
CREATE TABLE vec_cache(text_hash BLOB PRIMARY KEY, embedding BLOB NOT NULL) WITHOUT ROWID;

CREATE VIEW chunk_search AS
  SELECT rowid AS id, title, coalesce(search_text, text) AS body FROM chunk WHERE deleted = 0;
{_FULL_TEXT.format(PORTER)}
CREATE TRIGGER chunk_text_is_immutable BEFORE UPDATE OF title, text, search_text ON chunk
BEGIN SELECT RAISE(ABORT, 'chunk text is immutable'); END;

CREATE TRIGGER chunk_tombstone AFTER UPDATE OF deleted ON chunk WHEN old.deleted = 0 AND new.deleted = 1
BEGIN
  INSERT INTO chunk_fts(chunk_fts, rowid, title, body)
    VALUES('delete', old.rowid, old.title, coalesce(old.search_text, old.text));
  INSERT OR IGNORE INTO vec_cache SELECT old.text_hash, embedding FROM vec WHERE chunk = old.rowid;
  DELETE FROM vec WHERE chunk = old.rowid;
END;

CREATE TRIGGER chunk_delete BEFORE DELETE ON chunk WHEN old.deleted = 0
BEGIN
  INSERT INTO chunk_fts(chunk_fts, rowid, title, body)
    VALUES('delete', old.rowid, old.title, coalesce(old.search_text, old.text));
END;
"""


_EVALUATION = f"""
DROP TRIGGER chunk_tombstone;
CREATE TRIGGER chunk_tombstone AFTER UPDATE OF deleted ON chunk WHEN old.deleted = 0 AND new.deleted = 1
BEGIN
  INSERT INTO chunk_fts(chunk_fts, rowid, title, body)
    VALUES('delete', old.rowid, old.title, coalesce(old.search_text, old.text));
  INSERT OR IGNORE INTO vec_cache SELECT old.text_hash, embedding, windows FROM vec WHERE chunk = old.rowid;
  DELETE FROM vec WHERE chunk = old.rowid;
END;

ALTER TABLE vec ADD COLUMN windows INTEGER NOT NULL DEFAULT 1;
ALTER TABLE vec_cache ADD COLUMN windows INTEGER NOT NULL DEFAULT 1;
CREATE INDEX vec_windowed ON vec(windows) WHERE windows > 1;
CREATE TABLE vec_next(
  text_hash BLOB PRIMARY KEY, embedding BLOB NOT NULL, windows INTEGER NOT NULL DEFAULT 1
) WITHOUT ROWID;

CREATE TABLE judged_query(id TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE judgement(
  query TEXT NOT NULL REFERENCES judged_query(id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  offset INTEGER NOT NULL DEFAULT 0,
  end_offset INTEGER NOT NULL DEFAULT -1,
  grade INTEGER NOT NULL,
  PRIMARY KEY(query, path, offset, end_offset)
) WITHOUT ROWID;
{_INSTANCES}
"""


"""Vectors of several windows, vectors of a reembed, and judgements; end_offset -1 means the whole document."""

_PROOF = """
DROP TRIGGER chunk_tombstone;

ALTER TABLE file ADD COLUMN ctime_ns INTEGER;
ALTER TABLE file ADD COLUMN inode INTEGER;
ALTER TABLE root ADD COLUMN active INTEGER NOT NULL DEFAULT 1;
CREATE TABLE left_out(
  root INTEGER NOT NULL REFERENCES root(rowid) ON DELETE CASCADE,
  path TEXT NOT NULL,
  PRIMARY KEY(root, path)
) WITHOUT ROWID;

ALTER TABLE chunk ADD COLUMN hash BLOB;
ALTER TABLE vec ADD COLUMN checksum INTEGER;
ALTER TABLE vec_cache ADD COLUMN checksum INTEGER;
ALTER TABLE vec_next ADD COLUMN checksum INTEGER;
UPDATE vec SET checksum = vector_checksum(embedding, windows);
UPDATE vec_cache SET checksum = vector_checksum(embedding, windows);
UPDATE vec_next SET checksum = vector_checksum(embedding, windows);
UPDATE chunk SET hash = verified_hash(text_hash, doc.path, doc.title, text) FROM doc WHERE doc.rowid = chunk.doc;

CREATE TRIGGER chunk_tombstone AFTER UPDATE OF deleted ON chunk WHEN old.deleted = 0 AND new.deleted = 1
BEGIN
  INSERT INTO chunk_fts(chunk_fts, rowid, title, body)
    VALUES('delete', old.rowid, old.title, coalesce(old.search_text, old.text));
  INSERT OR IGNORE INTO vec_cache(text_hash, embedding, windows, checksum)
    SELECT old.text_hash, embedding, windows, checksum FROM vec WHERE chunk = old.rowid;
  DELETE FROM vec WHERE chunk = old.rowid;
END;
"""


def _prove(db: apsw.Connection) -> None:
    """Add checksums that detect damage, the identity of a file, and inactive or partly synced roots.

    A text gets its hash if it matches the hash of its embedded form; otherwise it stays without one.
    """
    checksum: Any = vector_checksum  # SQLite's arguments have no narrower type
    db.create_scalar_function("vector_checksum", checksum, 2, deterministic=True)
    db.create_scalar_function("verified_hash", _verified_hash, 4, deterministic=True)
    db.execute(_PROOF)


_KEPT_FOR_RERANKING = """
CREATE TABLE vec_rerank(
  rowid INTEGER PRIMARY KEY,
  maker TEXT NOT NULL,
  is_query INTEGER NOT NULL,
  text_hash BLOB NOT NULL,
  embedding BLOB NOT NULL,
  checksum INTEGER NOT NULL,
  UNIQUE(maker, is_query, text_hash)
);
"""


"""Vectors that rerankers made of texts and of queries, in order of arrival."""


def own_hash(text: str) -> bytes:
    """Return the sha256 of a chunk's own text."""
    return sha256(text.encode()).digest()


def vector_checksum(vector: bytes, windows: int) -> int:
    """Return a 64-bit checksum that detects a damaged vector, as a signed integer for SQLite."""
    return int.from_bytes(
        hashlib.blake2b(vector, digest_size=8, salt=windows.to_bytes(8, "big")).digest(), "big", signed=True
    )


def _verified_hash(*row: Any) -> bytes | None:
    embedded, path, title, text = row
    return own_hash(text) if embedded_hash(path, title, text) == embedded else None


_TOMBSTONE = """
CREATE TRIGGER chunk_tombstone AFTER UPDATE OF deleted ON chunk WHEN old.deleted = 0 AND new.deleted = 1
BEGIN
  INSERT INTO chunk_fts(chunk_fts, rowid, title, body)
    VALUES('delete', old.rowid, old.title, coalesce(old.search_text, old.text));
  INSERT OR IGNORE INTO vec_cache(text_hash, embedding, windows, checksum)
    SELECT old.text_hash, embedding, windows, checksum FROM vec WHERE chunk = old.rowid;
  DELETE FROM vec_place WHERE chunk = old.rowid;
END;
"""

_OWN_ROWS = """
SELECT chunk, embedding, windows, checksum FROM vec_row
WHERE chunk > ? AND chunk IN (SELECT rowid FROM chunk) ORDER BY chunk LIMIT 1024
"""


def _gather_vectors(db: apsw.Connection) -> None:
    """Store sixteen vectors in a row instead of one; see `blocks`."""
    execute = blocks.execute_on(db)
    db.execute("DROP TRIGGER chunk_tombstone; DROP INDEX vec_windowed; ALTER TABLE vec RENAME TO vec_row;")
    db.execute(blocks.SCHEMA + _TOMBSTONE)
    last = 0
    while rows := execute(_OWN_ROWS, (last,)):
        last = rows[-1][0]
        blocks.put(execute, db.executemany, rows)
    db.execute("DROP TABLE vec_row")


_READINGS = """
CREATE TABLE doc_reading(
  doc INTEGER PRIMARY KEY REFERENCES doc(rowid) ON DELETE CASCADE,
  read_by TEXT NOT NULL,
  marks TEXT NOT NULL,
  hash BLOB NOT NULL
);
"""


def _keep_readings(db: apsw.Connection) -> None:
    """Store how a document was read, and its marks; plain text without marks has no row.

    A folder that was added before files chose their parser is still read as text.
    """
    db.execute(_READINGS)
    taken: dict[str, int] = {}
    rows: list[tuple[Any, ...]] = db.execute("SELECT rowid, spec FROM root ORDER BY rowid").fetchall()
    for rowid, spec in rows:
        spelled = with_encoding(spec)
        if (same := taken.setdefault(spelled, rowid)) == rowid:
            db.execute("UPDATE root SET spec = ? WHERE rowid = ?", (spelled, rowid))
            continue
        db.execute("UPDATE file SET root = ? WHERE root = ?", (same, rowid))
        db.execute("UPDATE OR IGNORE left_out SET root = ? WHERE root = ?", (same, rowid))
        db.execute("DELETE FROM root WHERE rowid = ?", (rowid,))


_DEFINING = """
SELECT d.rowid, CAST(d.title AS BLOB), CAST(r.marks AS BLOB) FROM doc d JOIN doc_reading r ON r.doc = d.rowid
WHERE d.deleted = 0 ORDER BY d.rowid
"""
_SPANS_BELOW = (
    "SELECT rowid, offset, end_offset FROM chunk WHERE doc = ? AND deleted = 0 AND title = ? ORDER BY offset"
)
_LOCK_TEXTS = """
CREATE TRIGGER chunk_text_is_immutable BEFORE UPDATE OF title, text, search_text ON chunk
BEGIN SELECT RAISE(ABORT, 'chunk text is immutable'); END;
INSERT INTO chunk_fts(chunk_fts) VALUES('rebuild');
"""


def _name_definitions(db: apsw.Connection) -> None:
    """Add the names that code defines to the titles of full text. Leave damage for doctor to find."""
    analyzer = analyzer_named("")
    renamed: list[tuple[str, int]] = []
    for doc, title, marks in db.execute(_DEFINING):
        try:
            above = analyzer.form(title.decode())
            chunks: list[tuple[Any, ...]] = db.execute(_SPANS_BELOW, (doc, above)).fetchall()
            titles = analyzer.titles(title.decode(), load(marks.decode()), [(start, end) for _, start, end in chunks])
            found = [(own, row) for own, (row, _, _) in zip(titles, chunks, strict=True) if own != above]
            "".join(own for own, _ in found).encode()
        except (TypeError, ValueError):
            continue
        renamed += found
    if renamed:
        db.execute("DROP TRIGGER chunk_text_is_immutable")
        db.executemany("UPDATE chunk SET title = ? WHERE rowid = ?", renamed)
        db.execute(_LOCK_TEXTS)


def with_encoding(spec: str) -> str:
    """Return a root in the current format. Raises ValueError, LookupError if it is not a root."""
    root = json.loads(spec)
    parser = "text" if root["parser"] == "auto" else root["parser"]
    return canonical({**root, "parser": parser, "encoding": ""})


def reading_hash(read_by: str, marks: str) -> bytes:
    """Return the hash that detects a damaged row of doc_reading."""
    return sha256(f"{read_by}\0{marks}".encode()).digest()


Step = str | Callable[[apsw.Connection], None]

MIGRATIONS: tuple[Step, ...] = (
    _TABLES,
    _EVALUATION,
    _prove,
    _KEPT_FOR_RERANKING,
    _gather_vectors,
    copies.SCHEMA + copies.FILL,
    "ALTER TABLE chunk ADD COLUMN place TEXT",
    _keep_readings,
    _name_definitions,
)
"""Step i, a function or statements that return no rows, upgrades a file from schema version i to i + 1.

Steps are only appended. Places of chunks become known when their files are read again.
"""

SCHEMA_VERSION = len(MIGRATIONS)

READABLE_VERSION = 4
"""Oldest version that a read-only store, which cannot be upgraded, can be read in, through `AS_NEWER`."""

AS_NEWER = {
    7: "CREATE TEMP VIEW chunk AS SELECT rowid, *, NULL AS place FROM main.chunk",
    8: "CREATE TEMP TABLE doc_reading(doc INTEGER PRIMARY KEY, read_by TEXT, marks TEXT, hash BLOB)",
}
"""Temporary replacements for tables that are newer than a store's version."""


@contextmanager
def at_once(db: apsw.Connection) -> Iterator[None]:
    """Run the block in a transaction, or in the open one: everything is committed, or nothing.

    A full disk ends a transaction by itself. apsw's own block would then fail because there is nothing to roll back.
    """
    is_within = db.in_transaction
    if is_within:
        yield
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def migrate(
    db: apsw.Connection,
    *,
    version: int,
    steps: Sequence[Step] = MIGRATIONS,
) -> None:
    """Run every step that the file has not seen, in one transaction."""
    with at_once(db):
        for step in steps[version:]:
            db.execute(step) if isinstance(step, str) else step(db)
        db.execute("DELETE FROM meta WHERE key GLOB 'sum_*'")  # the next writer computes them again
        db.pragma("application_id", APPLICATION_ID)
        db.pragma("user_version", len(steps))


def set_words(execute: blocks.Execute, analyzer: Analyzer) -> None:
    """Make these the words of a store without live chunks."""
    tables = _FULL_TEXT.format(analyzer.tokenizer) + _INSTANCES
    execute(f"DROP TABLE chunk_instance; DROP TABLE chunk_vocab; DROP TABLE chunk_fts; {tables}")
    execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (WORDS, analyzer.name))


def without_names(title: str) -> str:
    """Return the document's title from a chunk's: its first line."""
    return title.partition("\n")[0]
