"""Copies of a store: checked backups, verification of a file, and recovery of a damaged store."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from recall_core import files, paths
from recall_core.config import Config
from recall_core.contract.views import BackupView, CheckView, RecoveredView, VerifiedView
from recall_core.embed.registry import embedder_of
from recall_core.embed.registry import kind as embedder_kind
from recall_core.errors import RecallError, StoreCorrupt, StoreError, UsageError, why_unread
from recall_core.maintain.doctor import RESTORE, examine, lost_view, made_with, make_vectors
from recall_core.maintain.embedders import make_anew
from recall_core.maintain.transfer import checked_export
from recall_core.shell import Hint, quote
from recall_core.store.port import Store, StoreKind
from recall_core.types import Progress, StoreInfo

_AGAIN = Hint("backup", "FILE")
_DAMAGE = frozenset(("integrity", "foreign_keys", "texts", "vector_values", "digest", "counts"))
"""Checks that together prove that every byte that answers use is as it was stored."""


def backup(
    store: Store, target: Path, *, kind: StoreKind, force: bool = False, mode: int | None = None
) -> Generator[Progress, None, BackupView]:
    """Copy the store at one point in time into a file, while others read and write.

    The copy gets its name after all of it passed the checks. Until then, or if stopped, the target is unchanged.

    kind: kind of the store.
    force: replace an existing file and keep its mode.
    mode: mode of the copy; by default only the owner can access it.

    Raises StoreError `backup_exists`, `purge_incomplete`, `disk_full`; StoreCorrupt if the store is damaged;
    RecallError `out_unwritable`; UsageError `bad_value` for the store's own file.
    """
    try:
        place = Path(os.path.realpath(target))
    except ValueError as error:
        raise _unwritable(target, error) from error
    with _room(kind, place, store=store.path) as part:
        try:
            _expect_room(store, target, place, force=force)
            _end_purge(store)
            for done, pages in store.copy(str(part)):
                yield Progress("copy", "", done, pages, 0, 0, 0, 0, 0, 0, 0, 0, ())
            held = _check_copy(kind, part, store.path)
            if mode is not None or place.exists():
                part.chmod(place.stat().st_mode if mode is None else mode)
            files.put_in_place(part, place)
        except OSError as error:
            raise _unwritable(target, error) from error
    return BackupView(
        path=str(target),
        bytes=place.stat().st_size,
        documents=held.documents,
        chunks=held.chunks,
        digest=held.digest,
    )


@contextmanager
def _room(kind: StoreKind, place: Path, *, store: str) -> Iterator[Path]:
    """Yield the name of a temporary file for a copy, and delete that file when the block ends.

    place: final place of the copy.
    store: path of the copied store, which remembers the folder while the temporary file may exist.
    """
    part = files.part_of(place)
    files.remove(place.parent)
    with files.remembering(store, place):
        try:
            yield part
        finally:
            kind.discard(str(part))


def _expect_room(store: Store, target: Path, place: Path, *, force: bool) -> None:
    """Raise if the copy would replace something it must not; OSError for a folder, a pipe or a link to itself."""
    paths.expect_file(target)
    if place.is_dir() or place.is_symlink():
        number = errno.EISDIR if place.is_dir() else errno.ELOOP
        raise OSError(number, os.strerror(number))
    if place.exists():
        if os.path.exists(store.path) and place.samefile(store.path):  # noqa: PTH110 - the store may not be a path
            raise UsageError("bad_value", f"{target} is the store itself.", hint=_AGAIN)
        if not force:
            hint = Hint("backup", str(target), force=True)
            raise StoreError("backup_exists", f"{target} already exists.", hint=hint)
    if Path(f"{place}-wal").exists():  # SQLite would use it as the log of the copy
        raise StoreError("backup_exists", f"{target} is a store that is in use or was not closed.", hint=_AGAIN)


def _end_purge(store: Store) -> None:
    """Finish a pending purge, because a copy must not contain purged text."""
    if store.pending_purge() is not None and not store.purge():
        raise StoreError(
            "purge_incomplete",
            "A purge is unfinished, because another process is reading the store. A copy would contain its text.",
            hint=f"close the other program, then: {_AGAIN}",
        )


def _check_copy(kind: StoreKind, part: Path, path: str) -> StoreInfo:
    """Check the whole copy and return its info."""
    with closing(kind.open(str(part))) as copy:
        wrong = [check for check in examine(copy) if check["severity"] == "error" and check["code"] in _DAMAGE]
        if wrong:
            message = f"{path} is damaged, so no copy was kept: {wrong[0]['evidence']} ({wrong[0]['code']})."
            raise StoreCorrupt("store_corrupt", message, hint=Hint("doctor", store=path))
        return copy.info()


def _unwritable(target: Path, error: OSError | ValueError) -> RecallError:
    message = f"{target} cannot be written: {why_unread(error)}."
    return RecallError("out_unwritable", message, hint=_AGAIN)


def verify(source: Path, kind: StoreKind) -> tuple[VerifiedView, list[CheckView]]:
    """Return the content of a file and all of its checks: a store, a backup or an export. The file does not change.

    kind: kind of a store in a file.

    Raises StoreError `no_store`, `store_unreadable`, `schema_newer`. A fault inside the file is a failed check.
    """
    try:
        with source.open("rb") as raw:
            is_export = raw.read(1) in (b"{", b"[")
    except FileNotFoundError as error:
        raise StoreError("no_store", f"There is no file at {source}.", hint=Hint("verify", "FILE")) from error
    except (OSError, ValueError) as error:
        message = f"{source} cannot be read: {why_unread(error)}."
        raise StoreError("store_unreadable", message, hint=f"ls -l {quote(str(source))}") from error
    return _export_verified(source) if is_export else _store_verified(source, kind)


def recover(old: Path, new: Path, *, kind: StoreKind, config: Config | None) -> tuple[RecoveredView, list[CheckView]]:
    """Build a new store from the readable data of a damaged one, and check it. The old store is only read.

    config: settings next to the old store, or None; used if the store cannot say what it was made with.

    Lost vectors are made again unless that sends text off this machine. The new name appears only once the store is
    complete. Raises StoreError `no_store`, `store_exists`, `no_room`, `disk_full`; StoreCorrupt if nothing can be
    read;
    RecallError `out_unwritable`.
    """
    if not old.is_file():
        raise StoreError("no_store", f"There is no store at {old}.", hint=Hint("recover", "OLD", "NEW"))
    place = Path(os.path.realpath(new))
    if os.path.lexists(new) or Path(f"{place}-wal").exists():
        raise StoreError("store_exists", f"{new} already exists.", hint=Hint("recover", "OLD", "NEW"))
    with _room(kind, place, store=str(old)) as part:
        try:
            store, lost = kind.recover(str(old), str(part), made_with=partial(made_with, config))
            with closing(store):
                if config is None or not embedder_kind(config.embedding).sends_text(config):
                    make_vectors(store, partial(embedder_of, store.embedder(), config or Config()))
                if config is not None:
                    make_anew(store, config)
                checks, info = examine(store), store.info()
                without = sum(map(len, store.without_vector()))
            files.put_in_place(part, place)
        except OSError as error:
            message = f"{new} cannot be written: {why_unread(error)}."
            raise RecallError("out_unwritable", message, hint=Hint("recover", "OLD", "NEW")) from error
    view = RecoveredView(
        path=str(new),
        documents=info.documents,
        chunks=info.chunks,
        without_vector=without,
        digest=info.digest,
        lost=[lost_view(each) for each in lost],
    )
    return view, checks


def _export_verified(source: Path) -> tuple[VerifiedView, list[CheckView]]:
    view = VerifiedView(path=str(source), kind="export")
    try:
        held = checked_export(source)
    except StoreError as error:
        evidence = error.message.removesuffix(" Nothing was imported.")
        return view, [CheckView(code="export", severity="error", evidence=evidence, fix=error.hint or "")]
    view |= {"documents": held["documents"], "chunks": held["chunks"], "sha256": held["sha256"]}
    return view, [CheckView(code="export", severity="ok", evidence="every line is intact")]


def _store_verified(source: Path, kind: StoreKind) -> tuple[VerifiedView, list[CheckView]]:
    view = VerifiedView(path=str(source), kind="store")
    try:
        with kind.aside(str(source)) as copy:
            checks = examine(copy)
            if not any(check["severity"] == "error" and check["code"] in _DAMAGE for check in checks):
                info = copy.info()
                view |= {"documents": info.documents, "chunks": info.chunks, "digest": info.digest}
    except StoreError as error:
        if not isinstance(error, StoreCorrupt) and error.code != "no_store":  # the file exists but is empty
            raise
        checks = [CheckView(code="integrity", severity="error", evidence=error.message, fix=RESTORE)]
    return view, checks
