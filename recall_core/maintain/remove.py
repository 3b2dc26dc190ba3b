"""Taking documents out, and, when asked, every byte of their text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from recall_core.contract import RemovedView
from recall_core.errors import StoreError
from recall_core.found import one, spellings, unknown
from recall_core.store.sqlite.store import SqliteStore


def remove(store: SqliteStore, targets: Sequence[str], *, base: Path, purge: bool) -> RemovedView:
    """Tombstone the documents that live paths, folders or document ids name, all or nothing.

    A folder stands for every document below it, and is no longer synced. purge: see `SqliteStore.purge`.
    Raises UnknownTarget before anything is written.
    """
    chosen = {target: _paths(store, target, base=base) for target in targets}
    for target, paths in chosen.items():
        if not paths:
            raise unknown(target)
    with store.writer() as writer:
        gone = writer.tombstone(path for paths in chosen.values() for path in paths)
        writer.forget_roots(name for target in targets for name in spellings(target, base=base))
    if purge and not store.purge():
        raise StoreError(
            "purge_incomplete",
            "The documents are removed, but another process reads the store, so old pages remain in its log.",
            hint="close the other program, then: recall compact",
        )
    backups = [str(path) for path in sorted(Path(store.path).parent.glob(f"{Path(store.path).name}.bak-*"))]
    return RemovedView(documents=gone, purged=purge, backups=backups if purge else [])


def _paths(store: SqliteStore, target: str, *, base: Path) -> list[str]:
    found = one(store, target, base=base)
    if found is not None and found[0] == "doc":
        return [store.documents([store.rowid("doc", found[1])]).popitem()[1].path]
    return [path for name in spellings(target, base=base) for path in store.paths_below(name)]
