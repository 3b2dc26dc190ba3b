"""What leaves a store: documents that are named, and what is left of those that went before."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from recall_core.contract.views import CompactView, RemovedView
from recall_core.errors import StoreError
from recall_core.retrieve.targets import Reading, ambiguous, by_id, readings, unknown
from recall_core.rql.patterns import glob_match
from recall_core.shell import Hint
from recall_core.store.care import JudgementWriter
from recall_core.store.port import Store
from recall_core.text import nfc


class Removal(NamedTuple):
    """What goes. paths: of live documents, sorted.  sources: folders and files that will not be synced any more."""

    paths: tuple[str, ...]
    sources: tuple[str, ...]


def remove(
    store: Store,
    targets: Sequence[str],
    *,
    base: Path,
    purge: Callable[[JudgementWriter, Sequence[str]], None] | None,
    dry_run: bool = False,
) -> RemovedView:
    """Tombstone the documents that live paths, folders, globs or document ids name, all or nothing.

    A folder stands for every document below it, and is no longer synced. purge: takes away, in the same transaction,
    what else the store keeps of these live paths; see `Store.purge` for the rest. None leaves all of it.
    dry_run: name them, and write nothing.  Raises what `named` raises before anything is written.
    """
    going = named(store, targets, base=base)
    if dry_run:
        return RemovedView(
            documents=len(going.paths), dry_run=True, paths=list(going.paths), purged=False, backups=[]
        )
    with store.writer() as writer:
        if purge is not None:
            purge(writer.judgements, going.paths)
        gone = writer.tombstone(going.paths)
        writer.forget_roots(going.sources)
    if purge is not None and not store.purge():
        raise StoreError(
            "purge_incomplete",
            "The documents are removed, but another process reads the store, so old pages remain in its log.",
            hint=f"close the other program, then: {Hint('compact')}",
        )
    if purge is None:
        return RemovedView(documents=gone, dry_run=False, paths=[], purged=False, backups=[])
    backups = [str(path) for path in sorted(Path(store.path).parent.glob(f"{Path(store.path).name}.bak-*"))]
    return RemovedView(documents=gone, dry_run=False, paths=[], purged=True, backups=backups)


def named(store: Store, targets: Sequence[str], *, base: Path) -> Removal:
    """What all targets name together.

    Raises UnknownTarget for one that names nothing; UsageError `ambiguous_path` for one that names this here and that
    in the store, `ambiguous_id`, `empty_target`.
    """
    found = [_named(store, target, base) for target in targets]
    return Removal(
        tuple(sorted({path for each in found for path in each.paths})),
        tuple(sorted({source for each in found for source in each.sources})),
    )


def _named(store: Store, target: str, base: Path) -> Removal:
    """What one target names: in the current folder, else as Recall prints paths, else as an id; never two of them."""
    meanings = readings(target, base=base)
    found = [_meant(store, meaning) for meaning in meanings]
    told = [each for each in found if each.paths]
    # A file that lies here may have left the store: what is destroyed is not to be another one of its name.
    is_here = bool(found[0].paths) or os.path.lexists(meanings[0].place)
    if is_here and len(found) > 1 and found[1].paths not in ((), found[0].paths):
        raise ambiguous(target, base=base)
    if told:
        return told[0]
    kind, doc_id = by_id(store, target) or ("", "")
    if kind != "doc":
        raise unknown(target)
    return Removal((store.documents([store.rowid("doc", doc_id)]).popitem()[1].path,), ())


def _meant(store: Store, meaning: Reading) -> Removal:
    """What one reading names: a document, a folder, or a glob, whichever comes first."""
    for name in meaning.names:
        paths = [name] if store.document_at(name) is not None else store.paths_below(name)
        if paths:
            sources = sorted({root.folder for root in store.roots() if nfc(root.folder) == name})
            return Removal(tuple(paths), tuple(sources))
    for pattern in meaning.globs:
        below = store.paths_below("/" if pattern.startswith("/") else ".")
        if paths := [path for path in below if glob_match(pattern, path)]:
            return Removal(tuple(paths), ())
    return Removal((), ())


def compact(store: Store) -> CompactView:
    """Drop what removed documents left behind, and give its room back.

    Raises StoreError `disk_full` before anything is touched where the disk has no room for it, and StoreLocked.
    """
    before = store.size_bytes()
    tombstones = store.compact()
    return CompactView(tombstones=tombstones, bytes_before=before, bytes_after=store.size_bytes())
