"""How stores in SQLite files are made, opened, copied and taken away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from recall_core.errors import StoreCorrupt
from recall_core.paths import PRIVATE
from recall_core.shell import Hint
from recall_core.store import sqlite
from recall_core.store.sqlite import census
from recall_core.store.sqlite.connect import connect, create, discard
from recall_core.store.sqlite.schema import PAGE_SIZE
from recall_core.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from recall_core.store.port import Store
    from recall_core.store.values import Lost, MadeWith


def create_store(
    path: str, *, embedder: str, dimension: int, counter: str, chunker: str, mode: int = PRIVATE
) -> SqliteStore:
    """A new, empty store, or no file at all; `:memory:` keeps it off the disk."""
    settings = {
        "embedder": embedder,
        "dimension": str(dimension),
        "counter": counter,
        "chunker": chunker,
        "generation": "0",
        "digest_sum": "0" * 64,
        **census.none(),
    }
    return SqliteStore(create(path, settings, mode=mode), path, writable=True)


def open_store(path: str) -> SqliteStore:
    """An existing store. Raises StoreError, StoreCorrupt or StoreLocked with what to do about it."""
    try:
        db, writable, upgrade = connect(path)
    except StoreCorrupt as error:
        if error.code == "store_corrupt" or _was_store(path):  # doctor could not open it either
            raise StoreCorrupt(error.code, error.message, hint=Hint("recover", path, "NEW")) from error
        raise
    return SqliteStore(db, path, writable=writable, upgrade=upgrade)


def _was_store(path: str) -> bool:
    """Whether the definition of a table of ours stands at the start of the file."""
    with suppress(OSError), open(path, "rb") as raw:
        return b"CREATE VIRTUAL TABLE chunk_fts" in raw.read(4 * PAGE_SIZE)
    return False


class SqliteKind:
    """Stores in SQLite files; see store.port.StoreKind. A path, or `:memory:`."""

    name = "sqlite"

    def open(self, where: str) -> Store:
        """An existing store."""
        return open_store(where)

    def create(
        self, where: str, *, embedder: str, dimension: int, counter: str, chunker: str, mode: int = PRIVATE
    ) -> Store:
        """A new, empty store, or no file at all."""
        return create_store(
            where, embedder=embedder, dimension=dimension, counter=counter, chunker=chunker, mode=mode
        )

    def discard(self, where: str) -> None:
        """Take a store's files away, as far as they are there."""
        discard(where)

    @contextmanager
    def aside(self, where: str) -> Iterator[Store]:
        """A copy of the store there, byte for byte, for as long as the block."""

        with sqlite.copying.aside(where) as (db, writable):
            store = SqliteStore(db, where, writable=writable)
            try:
                yield store
            finally:
                store.close()

    def recover(
        self, where: str, target: str, *, made_with: Callable[[], MadeWith | None]
    ) -> tuple[Store, tuple[Lost, ...]]:
        """A new store at target of what can be read of the one at where, and what cannot."""

        return sqlite.mend.recover(where, target, made_with=made_with, create=create_store)


SQLITE = SqliteKind()
