"""Putting right what can be computed again: the full-text index, vectors, digest and counts.

Vectors of another embedder on their way in: kept beside those in use until all of them take over at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

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


_LEFT = """
SELECT c.text_hash, d.path, d.title, c.text FROM chunk c JOIN doc d ON d.rowid = c.doc
WHERE c.deleted = 0 AND c.text_hash > ? AND c.text_hash NOT IN (SELECT text_hash FROM vec_next)
GROUP BY c.text_hash ORDER BY c.text_hash LIMIT ?
"""

_DONE = (
    "SELECT count(DISTINCT text_hash) FROM chunk WHERE deleted = 0 AND text_hash IN (SELECT text_hash FROM vec_next)"
)

_IS_LEFT = "SELECT 1 FROM chunk WHERE deleted = 0 AND text_hash NOT IN (SELECT text_hash FROM vec_next) LIMIT 1"

_SWITCH = """
INSERT INTO vec(chunk, embedding, windows)
SELECT c.rowid, n.embedding, n.windows FROM chunk c JOIN vec_next n ON n.text_hash = c.text_hash
WHERE c.deleted = 0 AND length(n.embedding) > 0 ORDER BY c.rowid
"""

_KEYS = ("next_embedder", "next_dimension", "next_command")


class ReembedTarget(NamedTuple):
    """The embedder whose vectors come in. command: what goes on with it."""

    embedder: str
    dimension: int
    command: str


def unfinished(store: SqliteStore) -> ReembedTarget | None:
    """The reembed that was begun and did not end, or None."""
    found = dict(store.execute("SELECT key, value FROM meta WHERE key IN (?, ?, ?)", _KEYS))
    if len(found) < len(_KEYS):
        return None
    return ReembedTarget(found["next_embedder"], int(found["next_dimension"]), found["next_command"])


def is_next(store: SqliteStore, target: ReembedTarget) -> bool:
    """Whether the vectors that come in are the target's."""
    found = unfinished(store)
    return found is not None and (found.embedder, found.dimension) == (target.embedder, target.dimension)


def begin(store: SqliteStore, target: ReembedTarget) -> None:
    """Make room for the target's vectors; those that an earlier run for it has made stay, any others go."""
    with store.transaction():
        if not is_next(store, target):
            store.execute("DELETE FROM vec_next")
        for key, value in zip(_KEYS, target, strict=True):
            store.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (key, str(value)))


def give_up(store: SqliteStore) -> None:
    """Drop what an unfinished reembed has made."""
    with store.transaction():
        _clear(store)


def texts(store: SqliteStore) -> int:
    """How many distinct texts the live chunks have."""
    return int(store.execute("SELECT count(DISTINCT text_hash) FROM chunk WHERE deleted = 0")[0][0])


def done(store: SqliteStore) -> int:
    """How many of them have a vector of the target, or are known to have none."""
    return int(store.execute(_DONE)[0][0])


def left(store: SqliteStore, *, after: bytes, limit: int) -> dict[bytes, str]:
    """text_hash to text of live chunks that wait for a vector, by text_hash from behind `after`."""
    rows = store.execute(_LEFT, (after, limit))
    return {bytes(text_hash): embedded_text(*parts) for text_hash, *parts in rows}


def save(store: SqliteStore, target: ReembedTarget, made: Mapping[bytes, tuple[Vector, int]]) -> bool:
    """Keep vectors (b"" for a text without a feature) with their windows; False when the target is another by now."""
    rows = [(text_hash, vector, windows) for text_hash, (vector, windows) in made.items()]
    with store.transaction():
        if not is_next(store, target):
            return False
        for row in rows:
            store.execute("INSERT OR REPLACE INTO vec_next(text_hash, embedding, windows) VALUES(?, ?, ?)", row)
    return True


def switch(store: SqliteStore, target: ReembedTarget) -> bool:
    """Put the target's vectors in place of those in use, in one transaction that is one step of the generation.

    False, and nothing is changed, while a live chunk's text still waits, or when the target is another by now.
    """
    with store.transaction():
        if not is_next(store, target) or store.execute(_IS_LEFT):
            return False
        store.execute("DELETE FROM vec")
        store.execute(_SWITCH)
        store.execute("DELETE FROM vec_cache")
        _clear(store)
        store.execute("UPDATE meta SET value = ? WHERE key = 'embedder'", (target.embedder,))
        store.execute("UPDATE meta SET value = ? WHERE key = 'dimension'", (str(target.dimension),))
        next_generation(store)
    return True


def _clear(store: SqliteStore) -> None:
    store.execute("DELETE FROM vec_next")
    store.execute("DELETE FROM meta WHERE key IN (?, ?, ?)", _KEYS)
