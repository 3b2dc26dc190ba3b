"""What tells one file from another, and one state of a store from the next."""

from __future__ import annotations

import os
from typing import TypeAlias

from recall_core.store.sqlite.records import Execute

State: TypeAlias = tuple[int, str, int]
"""The generation, the sum of the documents' digests, and, for a file in which another store was put, its tables' own
count of changes."""

FileId: TypeAlias = tuple[int, int]
"""Device and inode."""


def state_of(execute: Execute) -> State:
    """The state that a connection sees."""
    kept: dict[str, str] = dict(execute("SELECT key, value FROM meta WHERE key IN ('generation', 'digest_sum')"))
    return int(kept["generation"]), str(kept["digest_sum"]), int(execute("PRAGMA schema_version")[0][0])


def file_at(path: str) -> FileId | None:
    """What tells the file at this path from every other; None where there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116 - asked at every transaction
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
