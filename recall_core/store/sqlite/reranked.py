"""Vectors that rerankers made, kept so that no text is embedded twice: found, put beside others, and let go.

They are a cache. No answer depends on them, so they are in no export, digest or generation, and one that is not what
was kept is made again. Whoever wants to keep some as a search ends never waits for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from recall_core.store.sqlite.opened import OpenStore
from recall_core.store.sqlite.records import Execute
from recall_core.store.sqlite.schema import vector_checksum
from recall_core.store.values import RerankVector
from recall_core.text import embedded_text
from recall_core.types import Vector

ROW_BYTES = 200
"""What a vector takes in the table and its index beside its components: a name and a hash, twice."""

_TOTAL = "rerank_bytes"
_OLDEST_ROWS = 256

_FIND = """
SELECT r.text_hash, r.embedding, r.checksum FROM json_each(?3) j
CROSS JOIN vec_rerank r WHERE r.maker = ?1 AND r.is_query = ?2 AND r.text_hash = unhex(j.value)
"""

_IS_LIVE = "SELECT 1 FROM chunk WHERE text_hash = ? AND deleted = 0 LIMIT 1"

_PUT = """
INSERT INTO vec_rerank(maker, is_query, text_hash, embedding, checksum) VALUES(?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET embedding = excluded.embedding, checksum = excluded.checksum
WHERE checksum <> excluded.checksum OR embedding <> excluded.embedding RETURNING rowid
"""

_OLDEST = f"SELECT rowid, length(embedding) + {ROW_BYTES} FROM vec_rerank ORDER BY rowid LIMIT {_OLDEST_ROWS}"

_HELD = f"SELECT coalesce(sum(length(embedding) + {ROW_BYTES}), 0) FROM vec_rerank"

_GONE = """
DELETE FROM vec_rerank WHERE is_query = 0 AND text_hash NOT IN (SELECT text_hash FROM chunk WHERE deleted = 0)
"""

_MADE = """
SELECT count(DISTINCT c.text_hash) FROM chunk c JOIN vec_rerank r ON r.text_hash = c.text_hash
WHERE c.deleted = 0 AND r.maker = ? AND r.is_query = 0
"""

_LEFT = """
SELECT c.text_hash, d.path, d.title, c.text FROM chunk c JOIN doc d ON d.rowid = c.doc
WHERE c.deleted = 0 AND c.text_hash > ?1
  AND NOT EXISTS (SELECT 1 FROM vec_rerank WHERE maker = ?2 AND is_query = 0 AND text_hash = c.text_hash)
GROUP BY c.text_hash ORDER BY c.text_hash LIMIT ?3
"""


def find(execute: Execute, maker: str, hashes: Sequence[bytes], *, is_query: bool) -> dict[bytes, Vector]:
    """text_hash to vector of those that are kept; one that is not what was kept is passed over."""
    rows = execute(_FIND, (maker, is_query, json.dumps([each.hex() for each in hashes])))
    return {bytes(key): bytes(vector) for key, vector, checksum in rows if _is_as_kept(vector, checksum)}


def keep(store: OpenStore, maker: str, made: Sequence[RerankVector], *, most_bytes: int, may_wait: bool) -> bool:
    """Keep these vectors in one transaction; False where they are not, because somebody writes or it cannot be.

    may_wait: for others who write, as every writer does; otherwise one try is all.
    """
    with store.writing_now(may_wait=may_wait) as is_begun:
        if is_begun:
            _put(store.execute, maker, made, most_bytes)
    return is_begun


def _put(execute: Execute, maker: str, made: Sequence[RerankVector], most_bytes: int) -> None:
    """Those that may be: of texts that are there, and of questions since which nobody has written.

    What was purged meanwhile so never comes back, nor what a question quoted of it.
    """
    generation = int(execute("SELECT value FROM meta WHERE key = 'generation'")[0][0])
    total = total_bytes(execute)
    for text_hash, is_query, vector, asked_at in made:
        if asked_at == generation if is_query else execute(_IS_LIVE, (text_hash,)):
            last = execute("SELECT max(rowid) FROM vec_rerank")[0][0] or 0
            put = execute(_PUT, (maker, is_query, text_hash, vector, vector_checksum(vector, 1)))
            if put and put[0][0] > last:
                total += len(vector) + ROW_BYTES
    while total > most_bytes and (oldest := execute(_OLDEST)):
        for rowid, size in oldest:
            execute("DELETE FROM vec_rerank WHERE rowid = ?", (rowid,))
            total -= size
            if total <= most_bytes:
                break
    _note(execute, total)


def let_go(execute: Execute, *, of_questions: bool) -> None:
    """Drop the vectors of texts that no live chunk has; of every question too, which may have quoted one."""
    execute(_GONE)
    if of_questions:
        execute("DELETE FROM vec_rerank WHERE is_query = 1")
    _note(execute, int(execute(_HELD)[0][0]))


def restore(execute: Execute, rows: Iterable[Sequence[Any]]) -> None:
    """Put vectors of a damaged store, (maker as bytes, is_query, text_hash, vector, checksum), if they are sound."""
    for maker, is_query, text_hash, vector, checksum in rows:
        are_sound = isinstance(maker, bytes) and is_query in (0, 1) and isinstance(text_hash, bytes)
        if are_sound and _is_as_kept(vector, checksum):
            execute(_PUT, (maker.decode(errors="replace"), is_query, text_hash, vector, checksum))
    let_go(execute, of_questions=False)


def bad_rows(execute: Execute) -> list[int]:
    """rowids of the vectors that are not what was kept."""
    bad: list[int] = []
    last = -1
    while rows := execute(
        "SELECT rowid, embedding, checksum FROM vec_rerank WHERE rowid > ? ORDER BY rowid LIMIT 1024", (last,)
    ):
        last = rows[-1][0]
        bad += [rowid for rowid, vector, checksum in rows if not _is_as_kept(vector, checksum)]
    return bad


def _is_as_kept(vector: object, checksum: object) -> bool:
    return isinstance(vector, bytes) and vector_checksum(vector, 1) == checksum


def texts_made(execute: Execute, maker: str) -> int:
    """How many distinct texts of live chunks have a vector of this maker."""
    return int(execute(_MADE, (maker,))[0][0])


def texts_left(execute: Execute, maker: str, *, after: bytes, limit: int) -> dict[bytes, str]:
    """text_hash to embedded text of live chunks without one, by text_hash from behind `after`."""
    return {bytes(key): embedded_text(*parts) for key, *parts in execute(_LEFT, (after, maker, limit))}


def total_bytes(execute: Execute) -> int:
    """Bytes that all of them take, as they are counted here."""
    rows = execute("SELECT value FROM meta WHERE key = ?", (_TOTAL,))
    return int(rows[0][0]) if rows else 0


def _note(execute: Execute, total: int) -> None:
    execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (_TOTAL, str(max(0, total))))
