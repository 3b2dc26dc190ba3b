"""Compact: what removed documents left behind goes, the store is written anew, and no answer changes."""

from __future__ import annotations

from recall_core.contract import CompactView
from recall_core.store.port import Store


def compact(store: Store) -> CompactView:
    """Drop what removed documents left behind, and give its room back.

    Raises StoreError `disk_full` before anything is touched where the disk has no room for it, and StoreLocked.
    """
    before = store.size_bytes()
    tombstones = store.compact()
    return CompactView(tombstones=tombstones, bytes_before=before, bytes_after=store.size_bytes())
