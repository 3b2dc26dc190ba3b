"""Chunks whose text stands more than once: a table that triggers keep, so that no answer has to compare texts.

Most stores have few such chunks, and who asks for them finds an empty table. A text is told from another by the
sha256 that is kept of it; one that was never verified has none, and is nobody's copy.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from recall_core.store.sqlite.blocks import Execute

SCHEMA = """
CREATE INDEX chunk_live_hash ON chunk(hash) WHERE deleted = 0;

CREATE TABLE chunk_copy(
  chunk INTEGER PRIMARY KEY REFERENCES chunk(rowid) ON DELETE CASCADE,
  hash BLOB NOT NULL
);

CREATE TRIGGER chunk_copy_comes AFTER INSERT ON chunk WHEN new.deleted = 0
  AND EXISTS (SELECT 1 FROM chunk WHERE deleted = 0 AND hash = new.hash AND rowid <> new.rowid)
BEGIN
  INSERT OR IGNORE INTO chunk_copy(chunk, hash)
    SELECT rowid, hash FROM chunk WHERE deleted = 0 AND hash = new.hash AND rowid <> new.rowid LIMIT 1;
  INSERT OR IGNORE INTO chunk_copy(chunk, hash) VALUES(new.rowid, new.hash);
END;

CREATE TRIGGER chunk_copy_leaves AFTER UPDATE OF deleted ON chunk WHEN old.deleted = 0 AND new.deleted = 1
BEGIN
  DELETE FROM chunk_copy WHERE chunk = old.rowid;
  DELETE FROM chunk_copy WHERE chunk = (SELECT rowid FROM chunk WHERE deleted = 0 AND hash = old.hash)
    AND (SELECT count(*) FROM (SELECT 1 FROM chunk WHERE deleted = 0 AND hash = old.hash LIMIT 2)) = 1;
END;

CREATE TRIGGER chunk_copy_goes AFTER DELETE ON chunk WHEN old.deleted = 0
BEGIN
  DELETE FROM chunk_copy WHERE chunk = old.rowid;
  DELETE FROM chunk_copy WHERE chunk = (SELECT rowid FROM chunk WHERE deleted = 0 AND hash = old.hash)
    AND (SELECT count(*) FROM (SELECT 1 FROM chunk WHERE deleted = 0 AND hash = old.hash LIMIT 2)) = 1;
END;
"""

REPEATED = """
SELECT rowid, hash FROM chunk WHERE deleted = 0 AND hash IN (
  SELECT hash FROM chunk WHERE deleted = 0 AND hash IS NOT NULL GROUP BY hash HAVING count(*) > 1
)
"""

FILL = f"INSERT INTO chunk_copy(chunk, hash) {REPEATED}"
"""What the triggers would have put into an empty table."""

_WRONG = f"""
SELECT EXISTS (SELECT chunk, hash FROM chunk_copy EXCEPT {REPEATED})
  OR EXISTS ({REPEATED} EXCEPT SELECT chunk, hash FROM chunk_copy)
"""

ALL = "SELECT chunk, hash FROM chunk_copy"
_AMONG = f"{ALL} WHERE chunk IN (SELECT value FROM json_each(?))"
_AMONG_CHUNKS = "SELECT rowid, hash FROM chunk WHERE hash IS NOT NULL AND rowid IN (SELECT value FROM json_each(?))"
_FEW = 1_000  # chunks that are looked up one by one; of more, all copies are read


def are_kept(execute: Execute) -> bool:
    """False in a store of an earlier schema that cannot be written: nobody has kept them there."""
    return bool(execute("SELECT 1 FROM sqlite_schema WHERE name = 'chunk_copy'"))


def numbers(execute: Execute, rowids: Sequence[int] | None) -> dict[int, int]:
    """chunk rowid to a number that stands for its text, of those whose text stands more than once; of all of them, or
    of these and perhaps of others."""
    if not are_kept(execute):
        rows = execute(REPEATED) if rowids is None else execute(_AMONG_CHUNKS, (json.dumps(list(rowids)),))
    elif rowids is None or len(rowids) > _FEW:
        rows = execute(ALL)
    else:
        rows = execute(_AMONG, (json.dumps(list(rowids)),))
    known: dict[bytes, int] = {}
    return {rowid: known.setdefault(text, len(known) + 1) for rowid, text in rows}


def are_wrong(execute: Execute) -> bool:
    """Return True if the table holds others than there are."""
    return are_kept(execute) and bool(execute(_WRONG)[0][0])
