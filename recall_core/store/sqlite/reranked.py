"""Cached vectors of rerankers, so that no text is embedded twice.

No answer depends on them, so they are in no export, digest or generation. A damaged vector is made again. Storing
them at the end of a search never waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from recall_core.store.sqlite.records import Execute
from recall_core.store.sqlite.schema import vector_checksum

ROW_BYTES = 200
"""Bytes of a vector's row besides its components: a name and a hash, in table and index."""

TOTAL = "rerank_bytes"
_OLDEST_ROWS = 256

FIND = """
SELECT r.text_hash, r.embedding, r.checksum FROM json_each(?3) j
CROSS JOIN vec_rerank r WHERE r.maker = ?1 AND r.is_query = ?2 AND r.text_hash = unhex(j.value)
"""

PUT = """
INSERT INTO vec_rerank(maker, is_query, text_hash, embedding, checksum) VALUES(?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET embedding = excluded.embedding, checksum = excluded.checksum
WHERE checksum <> excluded.checksum OR embedding <> excluded.embedding RETURNING rowid
"""

OLDEST = f"SELECT rowid, length(embedding) + {ROW_BYTES} FROM vec_rerank ORDER BY rowid LIMIT {_OLDEST_ROWS}"

_HELD = f"SELECT coalesce(sum(length(embedding) + {ROW_BYTES}), 0) FROM vec_rerank"

_GONE = """
DELETE FROM vec_rerank WHERE is_query = 0 AND text_hash NOT IN (SELECT text_hash FROM chunk WHERE deleted = 0)
"""


def drop_unused(execute: Execute, *, of_questions: bool) -> None:
    """Delete the vectors of texts that no live chunk has, and optionally of every query, which may quote one."""
    execute(_GONE)
    if of_questions:
        execute("DELETE FROM vec_rerank WHERE is_query = 1")
    note(execute, int(execute(_HELD)[0][0]))


def restore(execute: Execute, rows: Iterable[Sequence[Any]]) -> None:
    """Restore sound vectors of a damaged store from (maker as bytes, is_query, text_hash, vector, checksum)."""
    for maker, is_query, text_hash, vector, checksum in rows:
        are_sound = isinstance(maker, bytes) and is_query in (0, 1) and isinstance(text_hash, bytes)
        if are_sound and is_as_kept(vector, checksum):
            execute(PUT, (maker.decode(errors="replace"), is_query, text_hash, vector, checksum))
    drop_unused(execute, of_questions=False)


def bad_rows(execute: Execute) -> list[int]:
    """Return the rowids of damaged vectors."""
    bad: list[int] = []
    last = -1
    while rows := execute(
        "SELECT rowid, embedding, checksum FROM vec_rerank WHERE rowid > ? ORDER BY rowid LIMIT 1024", (last,)
    ):
        last = rows[-1][0]
        bad += [rowid for rowid, vector, checksum in rows if not is_as_kept(vector, checksum)]
    return bad


def is_as_kept(vector: object, checksum: object) -> bool:
    """Return True if a vector matches its checksum."""
    return isinstance(vector, bytes) and vector_checksum(vector, 1) == checksum


def note(execute: Execute, total: int) -> None:
    """Record the total size of the vectors in bytes."""
    execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (TOTAL, str(max(0, total))))
