"""Is what the store says still what the files say? Asked of every document before it is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import file_digest
from pathlib import Path
from stat import S_ISREG
from typing import Literal

from recall_core.deadline import check
from recall_core.store.port import Store
from recall_core.types import Fingerprint, Stamp

State = Literal["modified", "missing"]


def stale_documents(doc_ids: Sequence[str], *, store: Store, base: Path) -> dict[str, State]:
    """doc.id to what happened to its file, for those whose file changed or is gone.

    base: the store's directory. See `file_state`.
    """
    seen: dict[str, State | None] = {}
    stale: dict[str, State] = {}
    for doc_id, source in store.sources(doc_ids).items():
        if source.path not in seen:
            check()
            seen[source.path] = file_state(source, base, settle=store.settle)
        state = seen[source.path]
        if state is not None:
            stale[doc_id] = state
    return stale


def file_state(
    source: Fingerprint, base: Path, *, settle: Callable[[Fingerprint, Stamp], None] = lambda *_: None
) -> State | None:
    """What happened to a file since it was read; None for nothing.

    A file whose size, mtime, ctime or inode differs is read and hashed before anything is said. What can be no more
    looked at or read, or is a folder, a pipe or a device by now, is missing. base: the store's directory.
    settle: told of the status of a file that has the same bytes, so that it need not be read the next time.
    """
    if not source.os_path:
        return None  # the document was brought by a program: no file can disagree with it
    path = base / source.os_path
    try:
        status = path.stat()
        stamp = Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
        if source.may_be(stamp):
            return None
        if not S_ISREG(status.st_mode):
            return "missing"  # reading a pipe may go on for ever
        with path.open("rb") as file:
            if file_digest(file, "sha256").hexdigest() != source.hash:
                return "modified"
        settle(source, stamp)
        return None
    except (OSError, ValueError):  # the file system has no such name: one with a NUL, or letters it cannot spell
        return "missing"
