"""A kind of store: `shelf:work` is the SQLite store `work` in the folder $RECALL_SHELF.

`recall search --store shelf:work WORDS`
"""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from recall_core.store.port import Store
from recall_core.store.sqlite.store import SQLITE
from recall_core.store.values import Lost, MadeWith


def _path(where: str) -> str:
    return str(Path(os.environ.get("RECALL_SHELF", ".")) / where / "recall.db")


class Shelf:
    """Gives stores short names, and leaves the rest to SQLite."""

    name = "shelf"
    levels = SQLITE.levels

    def open(self, where: str) -> Store:
        return SQLITE.open(_path(where))

    def create(self, where: str, **recorded: Any) -> Store:
        Path(_path(where)).parent.mkdir(parents=True, exist_ok=True)
        return SQLITE.create(_path(where), **recorded)

    def discard(self, where: str) -> None:
        SQLITE.discard(_path(where))

    def aside(self, where: str) -> AbstractContextManager[Store]:
        return SQLITE.aside(_path(where))

    def recover(
        self, where: str, target: str, *, made_with: Callable[[], MadeWith | None]
    ) -> tuple[Store, tuple[Lost, ...]]:
        return SQLITE.recover(_path(where), _path(target), made_with=made_with)


SHELF = Shelf()
