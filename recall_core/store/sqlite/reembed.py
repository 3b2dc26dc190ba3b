"""Vectors of another embedder on their way in: kept beside those in use until all of them take over at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from recall_core.store.sqlite.repair import next_generation
from recall_core.store.sqlite.store import SqliteStore
from recall_core.text import embedded_text
from recall_core.types import Vector

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


class Target(NamedTuple):
    """The embedder whose vectors come in. command: what goes on with it."""

    embedder: str
    dimension: int
    command: str


def unfinished(store: SqliteStore) -> Target | None:
    """The reembed that was begun and did not end, or None."""
    found = dict(store.execute("SELECT key, value FROM meta WHERE key IN (?, ?, ?)", _KEYS))
    if len(found) < len(_KEYS):
        return None
    return Target(found["next_embedder"], int(found["next_dimension"]), found["next_command"])


def is_next(store: SqliteStore, target: Target) -> bool:
    """Whether the vectors that come in are the target's."""
    found = unfinished(store)
    return found is not None and (found.embedder, found.dimension) == (target.embedder, target.dimension)


def begin(store: SqliteStore, target: Target) -> None:
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


def save(store: SqliteStore, target: Target, made: Mapping[bytes, tuple[Vector, int]]) -> bool:
    """Keep vectors (b"" for a text without a feature) with their windows; False when the target is another by now."""
    rows = [(text_hash, vector, windows) for text_hash, (vector, windows) in made.items()]
    with store.transaction():
        if not is_next(store, target):
            return False
        for row in rows:
            store.execute("INSERT OR REPLACE INTO vec_next(text_hash, embedding, windows) VALUES(?, ?, ?)", row)
    return True


def switch(store: SqliteStore, target: Target) -> bool:
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
