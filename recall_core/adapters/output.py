"""Writing a file that is either whole and new or as it was."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from recall_core import paths
from recall_core.errors import RecallError


@contextmanager
def replacing(target: Path, *, hint: str) -> Iterator[TextIO]:
    """A stream whose text takes the target's place when the block ends well; the target keeps its mode and its links.

    Raises RecallError `out_unwritable` with the hint, also for a pipe or a device.
    """
    place = Path(os.path.realpath(target))  # resolve() has an error of its own for a link to itself
    part = place.parent / f".recall-{os.urandom(8).hex()}"  # a name that no file of the owner's has
    try:
        _expect_replaceable(target, place)
        with part.open("x", encoding="utf-8", newline="\n") as out:
            yield out
        if place.exists():
            part.chmod(place.stat().st_mode)
        part.replace(place)
    except OSError as error:
        message = f"{target} cannot be written: {error.strerror}."
        raise RecallError("out_unwritable", message, hint=hint) from error
    finally:
        with suppress(OSError):  # where the part could not be made, there is none to take away
            part.unlink()


def _expect_replaceable(target: Path, place: Path) -> None:
    """Raises OSError where a file in that place would take away a pipe, a device, or a link to itself."""
    if place.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(target))
    paths.expect_file(target)
