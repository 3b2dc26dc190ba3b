"""Check before showing documents whether their files have changed since they were read."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from stat import S_ISREG
from time import time_ns
from typing import TYPE_CHECKING, Literal

from recall_core._lazy import hashlib
from recall_core.deadline import check
from recall_core.text import sha256
from recall_core.types import Fingerprint, Stamp, is_granted

if TYPE_CHECKING:
    from io import BufferedReader

    from recall_core.store.port import Store

State = Literal["modified", "missing"]

_TICK_NS = 100_000_000  # between two file times of a kernel: at most 10 ms, with some slack
_COARSE_TICK_NS = 2_000_000_000  # for file systems with coarser times
_FINE_NS = 10_000_000  # a time that is not a multiple of it comes from a kernel clock
_SHORT_BYTES = 1 << 18  # up to this size hashed without loading OpenSSL, which is faster for more
_LONG_BYTES = 1 << 26  # takes longer to read than a user waits for an answer


def stale_documents(doc_ids: Sequence[str], *, store: Store, base: Path) -> dict[str, State]:
    """Return doc.id to the state of its file, for files that changed or are gone.

    base: the store's directory. See `file_state`.
    """
    seen: dict[str, State | None] = {}
    stale: dict[str, State] = {}
    for doc_id, source in store.sources(doc_ids).items():
        if source.path not in seen:
            check()
            seen[source.path] = file_state(
                source, base, settle=store.settle, may_read=lambda path: is_granted(store.roots(), path)
            )
        state = seen[source.path]
        if state is not None:
            stale[doc_id] = state
    return stale


def file_state(
    source: Fingerprint,
    base: Path,
    *,
    settle: Callable[[Fingerprint, Stamp], None] = lambda *_: None,
    may_read: Callable[[str], bool] = lambda _: True,
) -> State | None:
    """Return what happened to a file since it was read, or None for nothing.

    A file whose size, mtime, ctime or inode differs is read and hashed, unless it is very long and has grown; then it
    is modified. A file that cannot be accessed or read, or that is now a folder, a pipe or a device, is missing.

    base: the store's directory.
    settle: called with the status of a file with the same bytes, so that it need not be read again. Not called while
    the file could still change and keep that status.
    may_read: returns True if the file of this path may be read; for other files only the size is compared.
    """
    if not source.os_path:
        return None  # a program added the document: it has no file
    place = os.path.join(base, source.os_path)  # noqa: PTH118 - a Path for each row costs more
    try:
        status = os.stat(place)  # noqa: PTH116 - as above
        if not S_ISREG(status.st_mode):
            return "missing"  # reading a pipe may never end
        stamp = Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
        if source.may_be(stamp):
            return None
        if not may_read(source.path):
            return None if stamp.size == source.size else "modified"
        return None if _is_as_read(place, source, stamp, settle) else "modified"
    except (OSError, ValueError):  # the file system does not allow such a name
        return "missing"


def _is_as_read(place: str, source: Fingerprint, stamp: Stamp, settle: Callable[[Fingerprint, Stamp], None]) -> bool:
    """Return True if a file with this status has the bytes that were read; see `file_state`."""
    if stamp.size > max(source.size, _LONG_BYTES):
        return False
    began_ns = time_ns()
    with open(place, "rb") as file:
        if _digest(file, stamp.size) != source.hash:
            return False
    if stamp.ctime_ns is not None and began_ns - stamp.ctime_ns >= tick_ns(stamp.ctime_ns):
        settle(source, stamp)
    return True


def _digest(file: BufferedReader, size: int) -> str:
    if size <= _SHORT_BYTES:
        return sha256(file.read()).hexdigest()

    return hashlib.file_digest(file, "sha256").hexdigest()


def tick_ns(ctime_ns: int) -> int:
    """Return how long after a change at this time another change may get the same time."""
    return _TICK_NS if ctime_ns % _FINE_NS else _COARSE_TICK_NS
