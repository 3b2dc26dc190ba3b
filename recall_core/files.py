"""Files that Recall writes itself: whole and new, or as they were, whatever ends the writing."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from recall_core import parts
from recall_core.parts import part_of
from recall_core.paths import PRIVATE, expect_file

_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
"""What a disk says that has no links, such as FAT."""


@contextmanager
def replacing(target: Path, *, mode: int | None = None, is_private: bool = False) -> Iterator[BinaryIO]:
    """A stream whose bytes take the target's place when the block ends well, and outlast a loss of power.

    mode: what the file has in any case; else one that is there keeps its own, and a new one is for its owner alone
    where is_private, or for whom the umask lets. Behind a symbolic link, the file that it leads to is replaced.
    Raises OSError, also for a pipe, a device, or a link to itself; then the target is as it was.
    """
    place = Path(os.path.realpath(target))  # resolve() has an error of its own for a link to itself
    parts.remove(place.parent)
    part = part_of(place)
    try:
        if place.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(target))
        expect_file(target)  # no pipe or device is taken away
        wanted = stat.S_IMODE(place.stat().st_mode) if mode is None and place.exists() else mode
        is_made = is_private or wanted is not None
        if is_made:
            make_private(part)  # at least until it is whole
        with part.open("wb" if is_made else "xb") as out:
            yield out
        if wanted is not None:
            part.chmod(wanted)
        put_in_place(part, place)
    finally:
        with suppress(OSError):  # after the replacement, or where it could not be made, there is none to take away
            part.unlink()


def write(target: Path, content: bytes, *, mode: int | None = None) -> None:
    """Let a file hold this, as `replacing` does. Raises OSError."""
    with replacing(target, mode=mode) as out:
        out.write(content)


def write_private(target: Path, text: str) -> None:
    """The same for a text that its owner alone reads; folders are made. Raises OSError."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write(target, text.encode("utf-8", "replace"), mode=PRIVATE)


def write_new(target: Path, content: bytes) -> None:
    """A file that was not there, for its owner alone; whoever looks for it finds all of it or nothing.

    Raises FileExistsError where anything has that name, OSError.
    """
    parts.remove(target.parent)
    part = part_of(target)
    try:
        make_private(part)
        part.write_bytes(content)
        put_new(part, target)
    finally:
        with suppress(OSError):
            part.unlink()


@contextmanager
def scratch(place: Path) -> Iterator[Path]:
    """A folder beside a place, for its owner alone, that goes with the block. Raises OSError."""
    parts.remove(place.parent)
    folder = part_of(place)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        parts.discard(folder)


def make_private(path: Path, mode: int = PRIVATE) -> None:
    """Make a new, empty file of exactly this mode, whatever the umask; never wider on the way.

    Raises FileExistsError where anything has that name, OSError.
    """
    target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode & PRIVATE)
    try:
        if stat.S_IMODE(os.fstat(target).st_mode) != mode:
            with suppress(PermissionError):  # a disk without modes, such as FAT, has none to give
                os.fchmod(target, mode)
    finally:
        os.close(target)


def put_in_place(part: Path, place: Path) -> None:
    """Let a file that is closed take a name, in one step that outlasts a loss of power. Raises OSError."""
    _flush(part)  # or the name may lead to nothing
    part.replace(place)
    _settle(place.parent)


def put_new(part: Path, place: Path) -> None:
    """The same where nothing may have the name yet; the part keeps its own. Raises FileExistsError, OSError."""
    _flush(part)
    try:
        os.link(part, place)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(place):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(place)) from error
        part.replace(place)
    _settle(place.parent)


def _settle(folder: Path) -> None:
    with suppress(OSError):  # some file systems know no flush of a folder
        _flush(folder)


def _flush(place: Path) -> None:
    number = os.open(place, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
