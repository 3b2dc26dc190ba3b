"""Copies of a database file: of one moment, through SQLite, and byte for byte, as it lies there."""

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

STEP_PAGES = 2_048  # 16 MiB, between two reports of how far a copy is
MENDING_COPIES = 3
"""The damaged file, the new one, and its pages once more in the log of the one or the other."""
_TRIES = 5  # to copy a file in a moment in which nobody writes to it

# What is run in a process of its own: closing a database file drops every lock that the closing process holds on it,
# so that a connection of this one would be left without. What a disk cannot read is zero, and no reason to stop.
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
        os.chmod(target, 0o600)  # whatever the umask took of it
    except PermissionError:
        pass  # a disk without modes

try:
    for source, target in zip(sys.argv[2::2], sys.argv[3::2]):
        old = os.open(source, os.O_RDONLY)
        size = os.fstat(old).st_size
        with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as new:
            if os.getppid() != int(sys.argv[1]):  # killed, and its parts may have been removed already
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
    """Raise StoreError with this code if the disk of a folder has no room for so many copies of a store's file."""
    needed, free = copies * (_size_of(path) + _size_of(f"{path}-wal")), shutil.disk_usage(folder).free
    if free < needed:
        raise StoreError(
            code,
            f"{doing} {path} needs {needed} free bytes in {folder}; there are {free}.",
            hint=f"df -h {shell.quote(str(folder))}",
            details={"needed_bytes": needed, "free_bytes": free},
        )


def copy_bytes(path: str, target: str) -> None:
    """Copy a store's file, with its log where that holds anything, into files that are not there, for their owner.

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
    why = f"{why[:1].lower()}{why[1:]}" if number.isdigit() else "the process that copies it ended"
    raise StoreError("store_unreadable", f"{path} cannot be copied to {target}: {why}.", hint=f"ls -l {path}")


def copy_whole(path: str, target: str) -> None:
    """Copy a store's file as `copy_bytes` does; until all of it is there, another copy of that name stays."""
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
    """The same in a moment in which nobody writes to the store. Raises StoreLocked where there is none."""
    for _ in range(_TRIES):
        before = _state(path)
        copy_bytes(path, target)
        if _state(path) == before:
            return
        discard(target)
    raise StoreLocked("store_locked", f"{path} is being written all the time.", hint="wait for it and try again")


@contextmanager
def aside(path: str) -> Iterator[tuple[apsw.Connection, bool]]:
    """A connection to a copy of a store's file, byte for byte, that goes with the block. Raises as `connect` does,
    of the file itself."""
    if not Path(path).is_file():
        connect(path)  # it knows the error
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
    return StoreError("disk_full", f"The disk that holds {place} is full.", hint=hint)


def copy_of_now(store: OpenStore, target: str) -> Iterator[tuple[int, int]]:
    """Copy the store of one moment into a file that is not there, beside readers and writers; (pages done, of all).

    Stopped, or failed, it leaves no file. Raises OSError where the file cannot be made.
    """
    is_whole = False
    files.make_private(Path(target))
    try:
        with store.reading(), translated(target):
            store.execute("SELECT count(*) FROM sqlite_schema")  # from here on one state is read
            copy = apsw.Connection(target)
            try:
                with copy.backup("main", store.db, "main") as work:
                    while not work.done:
                        store.execute("SELECT 1")  # an interrupt does not meet what is no statement
                        work.step(STEP_PAGES)
                        yield work.page_count - work.remaining, work.page_count
                copy.pragma("journal_mode", "wal")
            finally:
                copy.close()
        is_whole = True
    finally:
        if not is_whole:
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
