"""Is what the store says still what the files say? Asked of every document before it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import file_digest
from pathlib import Path
from typing import Literal

from recall_core.ports import Store
from recall_core.types import Fingerprint

State = Literal["modified", "missing"]


def stale_documents(doc_ids: Sequence[str], *, store: Store, base: Path) -> dict[str, State]:
    """doc.id to what happened to its file, for those whose file changed or is gone.

    A file whose size or mtime differs is read and hashed before anything is said. base: the store's directory.
    """
    seen: dict[str, State | None] = {}
    stale: dict[str, State] = {}
    for doc_id, source in store.sources(doc_ids).items():
        if source.path not in seen:
            seen[source.path] = _state(source, base)
        state = seen[source.path]
        if state is not None:
            stale[doc_id] = state
    return stale


def _state(source: Fingerprint, base: Path) -> State | None:
    if not source.os_path:
        return None  # the document was brought by a program: no file can disagree with it
    path = base / source.os_path
    try:
        status = path.stat()
        if (status.st_size, status.st_mtime_ns) == (source.size, source.mtime_ns):
            return None
        with path.open("rb") as file:
            return None if file_digest(file, "sha256").hexdigest() == source.hash else "modified"
    except (OSError, ValueError):  # the file system has no such name: one with a NUL, or letters it cannot spell
        return "missing"
