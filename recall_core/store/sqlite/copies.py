"""Chunks whose text appears more than once: a table kept by triggers, so that no answer has to compare texts.

Most stores have few such chunks, so the table is usually empty. Texts are compared by their stored sha256. A text
that was never verified has no hash and is not a copy of any other.
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
"""Fills an empty table as the triggers would have."""

_WRONG = f"""
SELECT EXISTS (SELECT chunk, hash FROM chunk_copy EXCEPT {REPEATED})
  OR EXISTS ({REPEATED} EXCEPT SELECT chunk, hash FROM chunk_copy)
"""

ALL = "SELECT chunk, hash FROM chunk_copy"
_AMONG = f"{ALL} WHERE chunk IN (SELECT value FROM json_each(?))"
_AMONG_CHUNKS = "SELECT rowid, hash FROM chunk WHERE hash IS NOT NULL AND rowid IN (SELECT value FROM json_each(?))"
_FEW = 1_000  # up to this many chunks are looked up; for more, all copies are read


def are_kept(execute: Execute) -> bool:
    """Return False for a read-only store of an earlier schema, which has no such table."""
    return bool(execute("SELECT 1 FROM sqlite_schema WHERE name = 'chunk_copy'"))


def numbers(execute: Execute, rowids: Sequence[int] | None) -> dict[int, int]:
    """Return chunk rowid to a number for its text, for texts that appear more than once.

    rowids: None for all chunks. Otherwise the result has these chunks, and maybe others.
    """
    if not are_kept(execute):
        rows = execute(REPEATED) if rowids is None else execute(_AMONG_CHUNKS, (json.dumps(list(rowids)),))
    elif rowids is None or len(rowids) > _FEW:
        rows = execute(ALL)
    else:
        rows = execute(_AMONG, (json.dumps(list(rowids)),))
    known: dict[bytes, int] = {}
    return {rowid: known.setdefault(text, len(known) + 1) for rowid, text in rows}


def are_wrong(execute: Execute) -> bool:
    """Return True if the table does not match the chunks."""
    return are_kept(execute) and bool(execute(_WRONG)[0][0])
