"""Taking documents out, and, when asked, every byte of their text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from recall_core.contract import RemovedView
from recall_core.errors import StoreError
from recall_core.found import one, spellings, unknown
from recall_core.rql.patterns import glob_match
from recall_core.store.sqlite.store import SqliteStore


def remove(
    store: SqliteStore, targets: Sequence[str], *, base: Path, purge: bool, dry_run: bool = False
) -> RemovedView:
    """Tombstone the documents that live paths, folders, globs or document ids name, all or nothing.

    A folder stands for every document below it, and is no longer synced. purge: see `SqliteStore.purge`.
    dry_run: name them, and write nothing.  Raises UnknownTarget before anything is written.
    """
    paths = _chosen(store, targets, base=base)
    if dry_run:
        return RemovedView(documents=len(paths), dry_run=True, paths=paths, purged=False, backups=[])
    with store.writer() as writer:
        gone = writer.tombstone(paths)
        writer.forget_roots(name for target in targets for name in spellings(target, base=base))
    if purge and not store.purge():
        raise StoreError(
            "purge_incomplete",
            "The documents are removed, but another process reads the store, so old pages remain in its log.",
            hint="close the other program, then: recall compact",
        )
    backups = [str(path) for path in sorted(Path(store.path).parent.glob(f"{Path(store.path).name}.bak-*"))]
    return RemovedView(documents=gone, dry_run=False, paths=[], purged=purge, backups=backups if purge else [])


def _chosen(store: SqliteStore, targets: Sequence[str], *, base: Path) -> list[str]:
    """What all targets name together, by path."""
    chosen: set[str] = set()
    for target in targets:
        paths = _paths(store, target, base=base)
        if not paths:
            raise unknown(target)
        chosen.update(paths)
    return sorted(chosen)


def _paths(store: SqliteStore, target: str, *, base: Path) -> list[str]:
    """What one target names: as a path or an id, as a folder, or as a glob, whichever comes first."""
    found = one(store, target, base=base)
    if found is not None and found[0] == "doc":
        return [store.documents([store.rowid("doc", found[1])]).popitem()[1].path]
    names = spellings(target, base=base)
    below = [path for name in names for path in store.paths_below(name)]
    return below or [path for path in store.paths_below(".") if any(glob_match(name, path) for name in names)]
