"""Is what the store says still what the files say? Asked of every document before it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import file_digest
from pathlib import Path
from stat import S_ISREG
from typing import Literal

from recall_core.store.port import Store
from recall_core.types import Fingerprint

State = Literal["modified", "missing"]


def stale_documents(doc_ids: Sequence[str], *, store: Store, base: Path) -> dict[str, State]:
    """doc.id to what happened to its file, for those whose file changed or is gone.

    base: the store's directory. See `file_state`.
    """
    seen: dict[str, State | None] = {}
    stale: dict[str, State] = {}
    for doc_id, source in store.sources(doc_ids).items():
        if source.path not in seen:
            seen[source.path] = file_state(source, base)
        state = seen[source.path]
        if state is not None:
            stale[doc_id] = state
    return stale


def file_state(source: Fingerprint, base: Path) -> State | None:
    """What happened to a file since it was read; None for nothing.

    A file whose size or mtime differs is read and hashed before anything is said. What can be no more looked at or
    read, or is a folder, a pipe or a device by now, is missing. base: the store's directory.
    """
    if not source.os_path:
        return None  # the document was brought by a program: no file can disagree with it
    path = base / source.os_path
    try:
        status = path.stat()
        if (status.st_size, status.st_mtime_ns) == (source.size, source.mtime_ns):
            return None
        if not S_ISREG(status.st_mode):
            return "missing"  # reading a pipe may go on for ever
        with path.open("rb") as file:
            return None if file_digest(file, "sha256").hexdigest() == source.hash else "modified"
    except (OSError, ValueError):  # the file system has no such name: one with a NUL, or letters it cannot spell
        return "missing"
