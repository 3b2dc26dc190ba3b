"""Compact: what removed documents left behind goes, the file is written anew, and no answer changes."""

from __future__ import annotations

import shutil
from pathlib import Path

from recall_core.contract import CompactView
from recall_core.errors import StoreError
from recall_core.store.sqlite.connect import MEMORY
from recall_core.store.sqlite.store import SqliteStore

_COPIES = 2  # VACUUM writes the file once to a temporary file and once to the log


def compact(store: SqliteStore) -> CompactView:
    """Drop tombstones and the vectors kept for their texts, refresh the planner's statistics, rewrite the file.

    Raises StoreError `disk_full` before anything is touched where the disk has no room for the rewrite, and
    StoreLocked.
    """
    before = store.size_bytes()
    _make_sure_of_room(store.path, before)
    tombstones = store.drop_tombstones()
    with store.transaction():
        store.execute("ANALYZE")
    store.purge()
    return CompactView(tombstones=tombstones, bytes_before=before, bytes_after=store.size_bytes())


def _make_sure_of_room(path: str, size_bytes: int) -> None:
    if path == MEMORY:
        return
    folder = Path(path).absolute().parent
    needed, free = _COPIES * size_bytes, shutil.disk_usage(folder).free
    if free < needed:
        raise StoreError(
            "disk_full",
            f"Compacting {path} needs {needed} free bytes in {folder}; there are {free}.",
            hint=f"df -h {folder}",
            details={"needed_bytes": needed, "free_bytes": free},
        )
