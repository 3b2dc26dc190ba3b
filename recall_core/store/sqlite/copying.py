"""Copies of a database file: at one point in time through SQLite, or byte for byte as it is."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from recall_core import files, shell
from recall_core._lazy import subprocess
from recall_core.errors import RecallError, StoreError, StoreLocked, why_unread
from recall_core.files import part_of
from recall_core.store.sqlite.connect import connect, discard, translated

if TYPE_CHECKING:
    from recall_core.store.sqlite.opened import OpenStore

STEP_PAGES = 2_048  # 16 MiB, between two progress reports
MENDING_COPIES = 3
"""The damaged file, the new one, and the new pages once more in a log."""
_TRIES = 5  # attempts to copy a file at a moment when no process writes to it

# This runs in a subprocess, because closing a database file drops every lock that the process holds on it, and this
# process's connections would lose theirs. Bytes that the disk cannot read become zero.
_COPY = """
import os, sys

def read(old, size, at):
    try:
        return os.pread(old, size, at)
    except OSError:
        if size <= 512:
            return bytes(size)
        return b"".join(read(old, size // 8, part) for part in range(at, at + size, size // 8))

def own(target):
    try:
        os.chmod(target, 0o600)  # in case the umask removed some of it
    except PermissionError:
        pass  # a disk without modes

try:
    for source, target in zip(sys.argv[2::2], sys.argv[3::2]):
        old = os.open(source, os.O_RDONLY)
        size = os.fstat(old).st_size
        with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as new:
            if os.getppid() != int(sys.argv[1]):  # the parent was killed; its temporary files may be gone already
                os.unlink(target)
                sys.exit("ended")
            own(target)
            for at in range(0, size, 1 << 20):
                new.write(read(old, 1 << 20, at)[: size - at])
            new.flush()
            os.fsync(new.fileno())
        os.close(old)
except OSError as error:
    sys.exit(f"{error.errno} {error.strerror}")
"""


def expect_room(path: str, folder: Path, *, copies: int, doing: str, code: str = "no_room") -> None:
    """Raise StoreError with this code if the folder's disk has no room for this many copies of a store's file."""
    needed, free = copies * (_size_of(path) + _size_of(f"{path}-wal")), shutil.disk_usage(folder).free
    if free < needed:
        raise StoreError(
            code,
            f"{doing} {path} needs {needed} free bytes in {folder}; only {free} are free.",
            hint=f"df -h {shell.quote(str(folder))}",
            details={"needed_bytes": needed, "free_bytes": free},
        )


def copy_bytes(path: str, target: str) -> None:
    """Copy a store's file, and its log if not empty, to new files that only the owner can access.

    Raises StoreError `disk_full`, `store_unreadable`; then there is no copy.
    """
    names = [path, target]
    if _size_of(f"{path}-wal"):
        names += [f"{path}-wal", f"{target}-wal"]
    command = [sys.executable, "-I", "-c", _COPY, str(os.getpid()), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return
    discard(target)
    number, _, why = done.stderr.strip().partition(" ")
    if number == str(errno.ENOSPC):
        raise _full(target)
    why = f"{why[:1].lower()}{why[1:]}" if number.isdigit() else "the copying process ended"
    raise StoreError("store_unreadable", f"{path} cannot be copied to {target}: {why}.", hint=f"ls -l {path}")


def copy_whole(path: str, target: str) -> None:
    """Copy a store's file like `copy_bytes`. An older copy of that name stays until the new one is complete."""
    part = str(part_of(Path(target)))
    try:
        copy_bytes(path, part)
        discard(target)
        for name in ("-wal", ""):
            if Path(f"{part}{name}").exists():
                Path(f"{part}{name}").replace(f"{target}{name}")
    except OSError as error:
        why = why_unread(error)
        raise StoreError(
            "store_unreadable", f"{path} cannot be copied to {target}: {why}.", hint=f"ls -l {path}"
        ) from error
    finally:
        discard(part)


def copy_aside(path: str, target: str) -> None:
    """Copy a store's file like `copy_bytes` while no process writes to it. Raises StoreLocked if writing never
    pauses."""
    for _ in range(_TRIES):
        before = _state(path)
        copy_bytes(path, target)
        if _state(path) == before:
            return
        discard(target)
    raise StoreLocked("store_locked", f"{path} is being written continuously.", hint="wait for it and try again")


@contextmanager
def aside(path: str) -> Iterator[tuple[apsw.Connection, bool]]:
    """Yield a connection to a byte copy of a store's file, and delete the copy afterwards.

    Raises the same errors as `connect` for the file itself.
    """
    if not Path(path).is_file():
        connect(path)  # connect raises the right error
    with files.scratch(Path(_folder_with_room(path)) / "copy.db") as folder:
        copy = str(folder / "copy.db")
        copy_aside(path, copy)
        try:
            db, writable, _ = connect(copy)
        except RecallError as error:
            raise type(error)(error.code, error.message.replace(copy, path), hint=error.hint) from error
        try:
            yield db, writable
        finally:
            db.close()


def _folder_with_room(path: str) -> str:
    needed = _size_of(path) + 2 * _size_of(f"{path}-wal") + STEP_PAGES
    for folder in (tempfile.gettempdir(), str(Path(path).absolute().parent)):
        if shutil.disk_usage(folder).free > needed and os.access(folder, os.W_OK):
            return folder
    raise _full(tempfile.gettempdir())


def _full(place: str) -> StoreError:
    folder = Path(place).absolute() if Path(place).is_dir() else Path(place).absolute().parent
    hint = f"df -h {shell.quote(str(folder))}"
    return StoreError("disk_full", f"The disk of {place} is full.", hint=hint)


def copy_of_now(store: OpenStore, target: str) -> Iterator[tuple[int, int]]:
    """Copy the store at one point in time to a new file, while others read and write. Yield (pages done, all pages).

    Leaves no file when stopped or failing. Raises OSError if the file cannot be made.
    """
    is_complete = False
    files.make_private(Path(target))
    try:
        with store.reading(), translated(target):
            store.execute("SELECT count(*) FROM sqlite_schema")  # fixes the state that is read
            copy = apsw.Connection(target)
            try:
                with copy.backup("main", store.db, "main") as work:
                    while not work.done:
                        store.execute("SELECT 1")  # an interrupt reaches statements only
                        work.step(STEP_PAGES)
                        yield work.page_count - work.remaining, work.page_count
                copy.pragma("journal_mode", "wal")
            finally:
                copy.close()
        is_complete = True
    finally:
        if not is_complete:
            discard(target)


def _state(path: str) -> tuple[tuple[int, int, int] | None, ...]:
    return tuple(_status(name) for name in (path, f"{path}-wal"))


def _status(name: str) -> tuple[int, int, int] | None:
    try:
        status = Path(name).stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino


def _size_of(name: str) -> int:
    status = _status(name)
    return status[0] if status else 0
