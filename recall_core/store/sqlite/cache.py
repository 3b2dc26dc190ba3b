"""What an open store remembers between questions: a value read once, until anything is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import apsw

from recall_core.store.sqlite.opened import OpenStore

Kept = TypeVar("Kept")


class Memo(Generic[Kept]):
    """A value worked out from the whole store, kept from the second time it is wanted in one state of the store.

    The first time gives None: a process that asks once should not read, nor hold, what it does not need.
    """

    def __init__(self, store: OpenStore, read: Callable[[], Kept]) -> None:
        self._store = store
        self._read = read
        self._state = (-1, -1)
        self._kept: Kept | None = None

    @property
    def is_empty(self) -> bool:
        """Nothing is kept at this moment."""
        return self._kept is None

    def get(self) -> Kept | None:
        """The value for what this connection sees at this moment, or None."""
        if self._store.db.txn_state() == apsw.SQLITE_TXN_WRITE:
            return None  # what is written here may still be rolled back
        state = (self._store.changes(), self._store.db.total_changes())  # commits of others, and our own
        if state != self._state:
            self._state, self._kept = state, None
            return None
        if self._kept is None:
            self._kept = self._read()
        return self._kept
