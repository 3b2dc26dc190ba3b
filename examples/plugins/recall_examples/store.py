"""A kind of store: `shelf:work` is the SQLite store `work` on a shelf, the folder in $RECALL_SHELF."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from recall_core.store.port import Store
from recall_core.store.sqlite.store import SQLITE
from recall_core.store.values import Lost, MadeWith


def _path(where: str) -> str:
    return str(Path(os.environ.get("RECALL_SHELF", ".")) / where / "recall.db")


class Shelf:
    """Gives stores short names, and leaves the rest to SQLite. `recall search --store shelf:work WORDS`."""

    name = "shelf"

    def open(self, where: str) -> Store:
        """Open the store of that name."""
        return SQLITE.open(_path(where))

    def create(
        self, where: str, *, embedder: str, dimension: int, counter: str, chunker: str, mode: int = 0o600
    ) -> Store:
        """Create an empty store of that name, and its folder."""
        Path(_path(where)).parent.mkdir(parents=True, exist_ok=True)
        recorded = {"embedder": embedder, "counter": counter, "chunker": chunker}
        return SQLITE.create(_path(where), dimension=dimension, mode=mode, **recorded)

    def discard(self, where: str) -> None:
        """Delete the store of that name, as far as it exists."""
        SQLITE.discard(_path(where))

    def aside(self, where: str) -> AbstractContextManager[Store]:
        """Copy the store for the duration of the block."""
        return SQLITE.aside(_path(where))

    def recover(
        self, where: str, target: str, *, made_with: Callable[[], MadeWith | None]
    ) -> tuple[Store, tuple[Lost, ...]]:
        """Build a new store from a damaged one."""
        return SQLITE.recover(_path(where), _path(target), made_with=made_with)


SHELF = Shelf()
