"""What takes up the room in a store's file, and what came of each remembered root."""

from __future__ import annotations

from typing import NamedTuple

from recall_core.store.sqlite.records import root_of
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import Root

_PAGES = "SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE"
_VECTORS = ("vec", "vec_cache", "vec_next")
_SOURCES = """
SELECT r.spec, count(d.rowid), coalesce(max(d.mtime), '')
FROM root r LEFT JOIN file f ON f.root = r.rowid LEFT JOIN doc d ON d.file = f.rowid AND d.deleted = 0
GROUP BY r.rowid ORDER BY r.rowid
"""


class Sizes(NamedTuple):
    """Tokens of the live chunks; bytes of the pages with every chunk and its text, the vectors, the word index."""

    tokens: int
    text: int
    vectors: int
    fulltext: int


class Source(NamedTuple):
    """A root, the number of live documents that have their labels from it, and their newest doc.mtime, or ""."""

    root: Root
    documents: int
    newest: str


def sizes(store: SqliteStore) -> Sizes:
    """Where the bytes of the file are; every page is looked at. Pages of small tables count nowhere."""
    pages: dict[str, int] = dict(store.execute(_PAGES))
    return Sizes(
        tokens=store.execute("SELECT coalesce(sum(tokens), 0) FROM chunk WHERE deleted = 0")[0][0],
        text=pages.get("chunk", 0),
        vectors=sum(pages.get(name, 0) for name in _VECTORS),
        fulltext=sum(size for name, size in pages.items() if name.startswith("chunk_fts")),
    )


def sources(store: SqliteStore) -> tuple[Source, ...]:
    """Every remembered root, in the order they were added."""
    return tuple(Source(root_of(spec), count, newest) for spec, count, newest in store.execute(_SOURCES))
