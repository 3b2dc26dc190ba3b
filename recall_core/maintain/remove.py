"""Remove documents from a store, purge their text, and compact what earlier removals left."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from recall_core import files
from recall_core.config import EXPIRED, Config
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
    """The documents to remove.

    paths: paths of live documents, sorted.
    sources: folders and files that are no longer synced.
    gone: paths of documents removed earlier; a purge deletes their text too.
    """

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
    """Tombstone the documents named by live paths, folders, globs or document ids, all or none.

    A folder that was added is no longer synced. A file below a folder is not read again until it is added by name.

    purge: called in the same transaction to remove what else the store keeps of these paths. Afterwards no version of
    them is left, see `Store.purge`. The same call finishes an interrupted purge, and may repeat the last finished
    one.
    None keeps all of it.
    dry_run: name the documents and write nothing.

    Raises the errors of `find_removal` before anything is written, and StoreError `purge_incomplete` while another
    process reads.
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
            "The documents were removed, but another process is reading the store, so old pages remain in its log.",
            hint=f"close the other program, then: {Hint('compact')}",
        )
    return RemovedView(
        documents=documents, dry_run=False, paths=[], purged=True, backups=_backups(Path(store.path)), copies=copies
    )


class RetentionPurge(NamedTuple):
    """Old sessions whose text was erased. is_complete: False if another process reads the store, so that the next
    writer finishes."""

    documents: int
    is_complete: bool = True


def purge_expired(
    store: Store, *, day: int, purge: Callable[[JudgementWriter, Sequence[str]], None]
) -> RetentionPurge:
    """Erase the text of sessions that a sync removed for their age, at most once a day.

    day: today, in days since 1970. purge: as in `remove`.
    """
    expired = {file.path for file in store.files() if file.settings.endswith(EXPIRED)}
    paths = sorted(expired & {*store.removed_below("."), *store.removed_below("/")} if expired else ())
    if paths and store.retention_day() != day:
        with store.writer() as writer:
            purge(writer.judgements, paths)
            writer.begin_purge(paths, day=day)
    pending = store.pending_purge()  # perhaps of a killed process
    return RetentionPurge(0) if pending is None else RetentionPurge(len(pending), store.purge())


def _backups(path: Path) -> list[str]:
    """Return files next to the store that may contain the purged text: finished and unfinished copies."""
    nearby = [str(each) for each in path.parent.glob("*") if each.name.startswith(f"{path.name}.bak-")]
    home = files.home_of(str(path))
    left = files.find(home) if home is not None else []
    return sorted({*nearby, *(str(part.path) for part in left if part.folder is None or part.state != "living")})


def find_removal(store: Store, targets: Sequence[str], *, base: Path, purge: bool = False) -> Removal:
    """Return everything that the targets name together. purge: search removed documents too.

    Raises UnknownTarget for a target that names nothing; UsageError `ambiguous_path` for one with different meanings
    here and in the store, `ambiguous_id`, `empty_target`.
    """
    found = [_find_target(store, target, base, purge=purge) for target in targets]
    return Removal(
        tuple(sorted({path for each in found for path in each.paths})),
        tuple(sorted({source for each in found for source in each.sources})),
        tuple(sorted({path for each in found for path in each.gone})),
    )


class _NotSynced(NamedTuple):
    """Names that no sync may read again. left_out: files and records by root. sources: files that were added."""

    left_out: dict[Root, list[str]]
    sources: list[str]


def _unread(store: Store, paths: Sequence[str]) -> _NotSynced:
    """Return the files that lose all of their documents, and for other files the records to remove."""
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
    """Find what one target names: in the current folder, else as a path that Recall prints, else as an id."""
    meanings = readings(target, base=base)
    found = [_find_reading(store, meaning, purge=purge) for meaning in meanings]
    matches = [each for each in found if each.paths or each.gone]
    # The file here may have left the store already. Do not remove another file of the same name in its place.
    is_here = bool(found[0].paths) or os.path.lexists(meanings[0].place)
    if is_here and len(found) > 1 and found[1].paths not in ((), found[0].paths):
        raise ambiguous(target, base=base)
    if matches:
        return matches[0]
    kind, doc_id = by_id(store, target) or ("", "")
    if kind == "doc":
        path = store.documents([store.rowid("doc", doc_id)]).popitem()[1].path
        return Removal((path,), ())
    if purge and (gone := store.removed_path(target)) is not None:
        return Removal((), (), (gone,))
    if purge and _key_of(target, base) in store.last_purge():  # this purge already finished
        return Removal((), ())
    raise unknown(target, store)


def _key_of(target: str, base: Path) -> str:
    """Return a hash of the target's meanings. The store keeps the hash, so no byte of a purged path stays."""
    names = (name for meaning in readings(target, base=base) for name in (*meaning.names, *meaning.globs))
    return sha256("\n".join(names).encode()).hexdigest()[:16]


def _find_reading(store: Store, meaning: Reading, *, purge: bool) -> Removal:
    """Return what one reading names: the first of a document, a folder or a glob that matches."""
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
    """Return the documents removed from this place earlier, including those of an unfinished purge."""
    is_all, folder = name == ".", name.rstrip("/") + "/"
    pending = [
        path
        for path in store.pending_purge() or ()
        if (is_all and not path.startswith("/")) or path == name or path.startswith((folder, f"{name}#"))
    ]
    return sorted({*store.removed_below(name), *pending})


def compact(store: Store, config: Config = Config()) -> CompactView:
    """Delete the remains of removed documents and free their space; keep the vector index that the settings want.

    Raises StoreError `disk_full` before any change if the disk has too little space, and StoreLocked.
    """
    before = store.size_bytes()
    tombstones = store.compact()
    indexed = embedders.index_vectors(store, config)
    view = CompactView(tombstones=tombstones, bytes_before=before, bytes_after=store.size_bytes())
    if indexed is not None:
        view["signatures"] = indexed
    if view["bytes_after"] > before and "signatures" not in store.capabilities:
        view["reason"] = "the server keeps the room of old rows for new ones"
    elif view["bytes_after"] > before:
        added = "statistics of its indexes" if indexed is None else "an index of its vectors and statistics"
        view["reason"] = f"it now contains {added}, which searches use"
    return view
