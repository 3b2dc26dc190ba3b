"""Putting right what can be computed again: the full-text index, vectors, digest and counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recall_core.errors import StoreError
from recall_core.store.sqlite.check import ORPHANS, WITHOUT_VECTOR, bad_vectors
from recall_core.store.sqlite.connect import MEMORY, backup, translated
from recall_core.store.sqlite.store import SqliteStore
from recall_core.store.sqlite.write import COUNTS, document_digest
from recall_core.types import Vector

Embed = Callable[[Sequence[str]], list[Vector]]

_MODULUS = 1 << 256
_EMBED_BATCH = 256


def back_up(store: SqliteStore) -> str | None:
    """A copy of the store beside it, named by its generation; its path, or None for a store in memory."""
    if store.path == MEMORY:
        return None
    if not store.writable:
        raise StoreError("read_only", f"{store.path} cannot be written.", hint=f"ls -l {store.path}")
    path = f"{store.path}.bak-{store.info().generation}"
    with translated(path):
        store.db.pragma("query_only", False)  # VACUUM INTO counts as writing
        try:
            backup(store.db, path)
        finally:
            store.db.pragma("query_only", True)
    return path


def repair(store: SqliteStore, *, embed: Embed) -> None:
    """Rebuild what is derived from the text, in one transaction that is one step of the generation.

    embed: the store's own embedder, for chunks whose vector is missing or cannot be one.
    """
    broken = bad_vectors(store)
    with store.transaction():
        store.execute("INSERT INTO chunk_fts(chunk_fts) VALUES('rebuild')")
        store.execute(f"DELETE FROM vec WHERE chunk IN ({ORPHANS})")
        for rowid in broken:
            store.execute("DELETE FROM vec WHERE chunk = ?", (rowid,))
        _embed_missing(store, embed)
        _digest_again(store)
        next_generation(store)


def next_generation(store: SqliteStore) -> None:
    """Record that the open transaction changed the store: one more generation, and every count taken anew."""
    store.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")
    for name, count in COUNTS.items():
        store.execute(f"UPDATE meta SET value = ({count}) WHERE key = ?", (name,))


def _embed_missing(store: SqliteStore, embed: Embed) -> None:
    missing = store.execute(WITHOUT_VECTOR)
    for start in range(0, len(missing), _EMBED_BATCH):
        batch = missing[start : start + _EMBED_BATCH]
        for (rowid, _), vector in zip(batch, embed([text for _, text in batch]), strict=True):
            if vector:
                store.execute("INSERT INTO vec(chunk, embedding) VALUES(?, ?)", (rowid, vector))


def _digest_again(store: SqliteStore) -> None:
    total = 0
    for (rowid,) in store.execute("SELECT rowid FROM doc WHERE deleted = 0"):
        digest = document_digest(store.execute, rowid)
        store.execute("UPDATE doc SET digest = ? WHERE rowid = ?", (digest, rowid))
        total += int(digest, 16)
    store.execute("UPDATE meta SET value = ? WHERE key = 'digest_sum'", (f"{total % _MODULUS:064x}",))
