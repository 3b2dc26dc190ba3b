"""Putting right what can be computed again: the full-text index, vectors, digest and counts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from recall_core.errors import StoreError
from recall_core.store.sqlite.check import ORPHANS, WITHOUT_VECTOR, bad_vectors
from recall_core.store.sqlite.connect import MEMORY, backup, translated
from recall_core.store.sqlite.store import SqliteStore
from recall_core.store.sqlite.write import COUNTS, document_digest
from recall_core.text import embedded_text
from recall_core.types import Vector

_MODULUS = 1 << 256
_EMBED_BATCH = 256


def back_up(store: SqliteStore) -> str | None:
    """A copy of the store beside it, named by its generation; its path, or None for a store in memory."""
    if store.path == MEMORY:
        return None
    if not store.writable:
        raise StoreError("read_only", f"{store.path} cannot be written.", hint=f"ls -l {store.path}")
    path = f"{store.path}.bak-{store.info().generation}"
    with store.unlocked(), translated(path):  # VACUUM INTO counts as writing
        backup(store.db, path)
    return path


def without_vector(store: SqliteStore) -> Iterator[list[tuple[int, str]]]:
    """(chunk rowid, embedded text) of every live chunk that has no vector, in lists of bounded length."""
    last = 0
    while rows := store.execute(WITHOUT_VECTOR, (last, _EMBED_BATCH)):
        last = rows[-1][0]
        yield [(rowid, embedded_text(*parts)) for rowid, *parts in rows]


def broken_vectors(store: SqliteStore) -> Iterator[list[tuple[int, str]]]:
    """(chunk rowid, embedded text) of every live chunk whose vector cannot be one, in lists of bounded length."""
    bad = bad_vectors(store)
    sql = (
        "SELECT c.rowid, d.path, d.title, c.text FROM chunk c JOIN doc d ON d.rowid = c.doc "
        "WHERE c.deleted = 0 AND c.rowid IN (SELECT value FROM json_each(?)) ORDER BY c.rowid"
    )
    for start in range(0, len(bad), _EMBED_BATCH):
        rows = store.execute(sql, (json.dumps(bad[start : start + _EMBED_BATCH]),))
        if rows:
            yield [(rowid, embedded_text(*parts)) for rowid, *parts in rows]


def repair(store: SqliteStore, *, embedder: str, made: Mapping[int, tuple[Vector, int]]) -> None:
    """Rebuild what is derived from the text, in one transaction that is one step of the generation.

    made: chunk rowid to (vector, windows) by the embedder of that identity, for chunks whose vector is missing or
    cannot be one; they are left out where the store has another embedder by now.
    """
    broken = bad_vectors(store)
    with store.transaction():
        store.execute("INSERT INTO chunk_fts(chunk_fts) VALUES('rebuild')")
        store.execute(f"DELETE FROM vec WHERE chunk IN ({ORPHANS})")
        for rowid in broken:
            store.execute("DELETE FROM vec WHERE chunk = ?", (rowid,))
        if store.embedder() == embedder:
            _put_vectors(store, made)
        _digest_again(store)
        next_generation(store)


def next_generation(store: SqliteStore) -> None:
    """Record that the open transaction changed the store: one more generation, and every count taken anew."""
    store.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")
    for name, count in COUNTS.items():
        store.execute(f"UPDATE meta SET value = ({count}) WHERE key = ?", (name,))


def _put_vectors(store: SqliteStore, made: Mapping[int, tuple[Vector, int]]) -> None:
    for rowid, (vector, windows) in made.items():
        if vector:
            store.execute(
                "INSERT OR IGNORE INTO vec(chunk, embedding, windows) "
                "SELECT rowid, ?, ? FROM chunk WHERE rowid = ? AND deleted = 0",
                (vector, windows, rowid),
            )


def _digest_again(store: SqliteStore) -> None:
    total = 0
    for (rowid,) in store.execute("SELECT rowid FROM doc WHERE deleted = 0"):
        digest = document_digest(store.execute, rowid)
        store.execute("UPDATE doc SET digest = ? WHERE rowid = ?", (digest, rowid))
        total += int(digest, 16)
    store.execute("UPDATE meta SET value = ? WHERE key = 'digest_sum'", (f"{total % _MODULUS:064x}",))
