"""What leaves a store: documents that are named, and what is left of those that went before."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from recall_core import files
from recall_core.config import Config
from recall_core.contract.views import CompactView, RemovedView
from recall_core.errors import StoreError
from recall_core.ingest.targets import belongs
from recall_core.maintain import embedders
from recall_core.retrieve.targets import Reading, ambiguous, by_id, readings, unknown
from recall_core.rql.patterns import glob_match
from recall_core.shell import Hint
from recall_core.store.care import JudgementWriter
from recall_core.store.port import Store
from recall_core.text import nfc, sha256
from recall_core.types import Root


class Removal(NamedTuple):
    """What goes. paths: of live documents, sorted.  sources: folders and files that will not be synced any more.
    gone: paths of documents that have left before, and whose text a purge takes too."""

    paths: tuple[str, ...]
    sources: tuple[str, ...]
    gone: tuple[str, ...] = ()


def remove(
    store: Store,
    targets: Sequence[str],
    *,
    base: Path,
    purge: Callable[[JudgementWriter, Sequence[str]], None] | None,
    dry_run: bool = False,
) -> RemovedView:
    """Tombstone the documents that live paths, folders, globs or document ids name, all or nothing.

    A folder that was added is no longer synced; a file below one is not read again until it is added by its name.
    purge: takes away, in the same transaction, what else the store keeps of these paths, and then nothing of any
    version that ever stood there is left, see `Store.purge`; a purge that did not end is ended by the same call, and
    the last one that did may be asked for again. None leaves all of it. dry_run: name them, and write nothing.
    Raises what `find_removal` raises, before anything is written;
    StoreError `purge_incomplete` while another process reads.
    """
    going = find_removal(store, targets, base=base, purge=purge is not None)
    every = tuple(sorted({*going.paths, *going.gone}))
    if dry_run:
        return RemovedView(documents=len(every), dry_run=True, paths=list(every), purged=False, backups=[])
    unread = _unread(store, going.paths)
    copies = store.copies_of(every) if purge is not None else []
    with store.writer() as writer:
        if purge is not None:
            purge(writer.judgements, every)
            writer.begin_purge(every, asked=[_key_of(target, base) for target in targets])
        documents = writer.tombstone(going.paths)
        for root, paths in unread.left_out.items():
            writer.leave_out(root, paths)
        writer.forget_roots([*going.sources, *unread.sources])
    if purge is None:
        return RemovedView(documents=documents, dry_run=False, paths=[], purged=False, backups=[])
    if not store.purge():
        raise StoreError(
            "purge_incomplete",
            "The documents are removed, but another process reads the store, so old pages remain in its log.",
            hint=f"close the other program, then: {Hint('compact')}",
        )
    return RemovedView(
        documents=documents, dry_run=False, paths=[], purged=True, backups=_backups(Path(store.path)), copies=copies
    )


def _backups(path: Path) -> list[str]:
    """Return files next to the store that may have what it had before: copies, also unfinished ones."""
    beside = [str(each) for each in path.parent.glob("*") if each.name.startswith(f"{path.name}.bak-")]
    home = files.home_of(str(path))
    left = files.find(home) if home is not None else []
    return sorted({*beside, *(str(part.path) for part in left if part.folder is None or part.state != "living")})


def find_removal(store: Store, targets: Sequence[str], *, base: Path, purge: bool = False) -> Removal:
    """Return what all targets name together. purge: among what has left, too.

    Raises UnknownTarget for one that names nothing; UsageError `ambiguous_path` for one that names this here and that
    in the store, `ambiguous_id`, `empty_target`.
    """
    found = [_find_target(store, target, base, purge=purge) for target in targets]
    return Removal(
        tuple(sorted({path for each in found for path in each.paths})),
        tuple(sorted({source for each in found for source in each.sources})),
        tuple(sorted({path for each in found for path in each.gone})),
    )


class _NotSynced(NamedTuple):
    """What no sync is to read again. left_out: by the folder that was added. sources: files that were added."""

    left_out: dict[Root, list[str]]
    sources: list[str]


def _unread(store: Store, paths: Sequence[str]) -> _NotSynced:
    """Return each file of these documents of which nothing stays, else its records that go."""
    roots = store.roots()
    going, held = frozenset(paths), defaultdict[str, list[str]](list)
    for path, file in store.document_files() if roots else ():
        if file is not None:
            held[file].append(path)
    found = _NotSynced({}, [])
    for file, records in held.items():
        leaving = [path for path in records if path in going]
        is_whole = len(leaving) == len(records)
        for root in (root for root in roots if leaving and belongs(root, file)):
            if is_whole and nfc(root.folder) == file:
                found.sources.append(root.folder)
            else:
                found.left_out.setdefault(root, []).extend([file] if is_whole else leaving)
    return found


def _find_target(store: Store, target: str, base: Path, *, purge: bool) -> Removal:
    """Find what one target names: in the current folder, else as Recall prints paths, else as an id."""
    meanings = readings(target, base=base)
    found = [_find_reading(store, meaning, purge=purge) for meaning in meanings]
    told = [each for each in found if each.paths or each.gone]
    # A file that lies here may have left the store: what is destroyed is not to be another one of its name.
    is_here = bool(found[0].paths) or os.path.lexists(meanings[0].place)
    if is_here and len(found) > 1 and found[1].paths not in ((), found[0].paths):
        raise ambiguous(target, base=base)
    if told:
        return told[0]
    kind, doc_id = by_id(store, target) or ("", "")
    if kind == "doc":
        path = store.documents([store.rowid("doc", doc_id)]).popitem()[1].path
        return Removal((path,), ())
    if purge and (gone := store.removed_path(target)) is not None:
        return Removal((), (), (gone,))
    if purge and _key_of(target, base) in store.last_purge():  # killed after its end, and run again
        return Removal((), ())
    raise unknown(target, store)


def _key_of(target: str, base: Path) -> str:
    """Return a hash of what a target may mean: the store keeps it, and no byte of a path that was purged."""
    names = (name for meaning in readings(target, base=base) for name in (*meaning.names, *meaning.globs))
    return sha256("\n".join(names).encode()).hexdigest()[:16]


def _find_reading(store: Store, meaning: Reading, *, purge: bool) -> Removal:
    """Return what one reading names: a document, a folder, or a glob, whichever comes first."""
    for name in meaning.names:
        paths = [name] if store.document_at(name) is not None else store.paths_below(name)
        gone = _gone_below(store, name) if purge else []
        if paths or gone:
            sources = sorted({root.folder for root in store.roots() if nfc(root.folder) == name})
            return Removal(tuple(paths), tuple(sources), tuple(gone))
    for pattern in meaning.globs:
        folder = "/" if pattern.startswith("/") else "."
        paths = [path for path in store.paths_below(folder) if glob_match(pattern, path)]
        gone = [path for path in _gone_below(store, folder) if glob_match(pattern, path)] if purge else []
        if paths or gone:
            return Removal(tuple(paths), (), tuple(gone))
    return Removal((), ())


def _gone_below(store: Store, name: str) -> list[str]:
    """Return documents that left this place before, those of a purge that did not end among them."""
    is_all, folder = name == ".", name.rstrip("/") + "/"
    pending = [
        path
        for path in store.pending_purge() or ()
        if (is_all and not path.startswith("/")) or path == name or path.startswith((folder, f"{name}#"))
    ]
    return sorted({*store.removed_below(name), *pending})


def compact(store: Store, config: Config = Config()) -> CompactView:
    """Drop what removed documents left behind, and give its room back; keep the signatures that the settings want.

    Raises StoreError `disk_full` before anything is touched where the disk has no room for it, and StoreLocked.
    """
    before = store.size_bytes()
    tombstones = store.compact()
    signatures = embedders.index_vectors(store, config)
    view = CompactView(tombstones=tombstones, bytes_before=before, bytes_after=store.size_bytes())
    if signatures is not None:
        view["signatures"] = signatures
    if view["bytes_after"] > before:
        made = "statistics of its indexes" if signatures is None else "signatures of its vectors and statistics"
        view["reason"] = f"it now has {made}, which searches use"
    return view
