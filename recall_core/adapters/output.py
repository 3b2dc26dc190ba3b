"""Writing a file that is either whole and new or as it was."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from recall_core import paths
from recall_core.errors import RecallError, why_unread


@contextmanager
def replacing(target: Path, *, hint: str, is_private: bool = False, mode: int | None = None) -> Iterator[TextIO]:
    """A stream whose text takes the target's place when the block ends well; the target keeps its mode and its links.

    is_private: a new file is for its owner alone, else for whom the umask lets. mode: what it has in any case.
    Raises RecallError `out_unwritable` with the hint, also for a pipe or a device.
    """
    place = Path(os.path.realpath(target))  # resolve() has an error of its own for a link to itself
    part = place.parent / f".recall-{os.urandom(8).hex()}"  # a name that no file of the owner's has
    try:
        _expect_replaceable(target, place)
        wanted = _mode_there(place) if mode is None else mode
        is_made = is_private or wanted is not None
        if is_made:
            paths.make_private(part)  # at least until it is whole
        with part.open("w" if is_made else "x", encoding="utf-8", newline="\n") as out:
            yield out
        if wanted is not None:
            part.chmod(wanted)
        part.replace(place)
    except OSError as error:
        message = f"{target} cannot be written: {error.strerror}."
        raise RecallError("out_unwritable", message, hint=hint) from error
    finally:
        with suppress(OSError):  # where the part could not be made, there is none to take away
            part.unlink()


def expect_new(target: Path, *, hint: str) -> None:
    """Raises RecallError `receipt_exists` where anything has that name."""
    if os.path.lexists(target):
        raise RecallError("receipt_exists", f"{target} exists already.", hint=hint)


def write_new(target: Path, text: str, *, hint: str) -> None:
    """Write a file that was not there, for its owner alone; whoever looks for it finds all of it or nothing.

    Raises RecallError `receipt_exists`, `out_unwritable` with the hint.
    """
    part = target.parent / f".recall-{os.urandom(8).hex()}"
    try:
        paths.make_private(part)
        part.write_text(text, encoding="utf-8", newline="\n")
        paths.put_new(part, target)
    except FileExistsError:
        expect_new(target, hint=hint)
        raise
    except OSError as error:
        message = f"{target} cannot be written: {why_unread(error)}."
        raise RecallError("out_unwritable", message, hint=hint) from error
    finally:
        with suppress(OSError):
            part.unlink()


def _mode_there(place: Path) -> int | None:
    return stat.S_IMODE(place.stat().st_mode) if place.exists() else None


def _expect_replaceable(target: Path, place: Path) -> None:
    """Raises OSError where a file in that place would take away a pipe, a device, or a link to itself."""
    if place.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(target))
    paths.expect_file(target)
