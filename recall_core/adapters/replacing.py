"""Writing a file that is either whole and new or as it was."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from recall_core.errors import RecallError


@contextmanager
def replacing(target: Path, *, hint: str) -> Iterator[TextIO]:
    """A stream whose text takes the target's place when the block ends well; the target keeps its mode.

    Raises RecallError `out_unwritable` with the hint.
    """
    part = target.parent / f".recall-{os.urandom(8).hex()}"  # a name that no file of the owner's has
    try:
        with part.open("x", encoding="utf-8", newline="\n") as out:
            yield out
        if target.exists():
            part.chmod(target.stat().st_mode)
        part.replace(target)
    except OSError as error:
        message = f"{target} cannot be written: {error.strerror}."
        raise RecallError("out_unwritable", message, hint=hint) from error
    finally:
        with suppress(OSError):  # where the part could not be made, there is none to take away
            part.unlink()
