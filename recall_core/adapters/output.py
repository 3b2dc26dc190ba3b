"""Writing a file that somebody asked for: it is either whole and new or as it was."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

import recall_core
from recall_core.errors import RecallError, why_unread


@contextmanager
def replacing(
    target: Path, *, hint: str, is_private: bool = False, mode: int | None = None, store: str = ""
) -> Iterator[TextIO]:
    """A stream whose text takes the target's place when the block ends well; see `files.replacing`.

    store: the path of the store that is copied, which remembers the target's folder meanwhile.
    Raises RecallError `out_unwritable` with the hint.
    """

    try:
        with (
            recall_core.parts.remembering(store, target),
            recall_core.files.replacing(target, mode=mode, is_private=is_private) as out,
            TextIOWrapper(out, encoding="utf-8", newline="\n") as text,
        ):
            yield text
    except OSError as error:
        message = f"{target} cannot be written: {error.strerror}."
        raise RecallError("out_unwritable", message, hint=hint) from error


def expect_new(target: Path, *, hint: str) -> None:
    """Raises RecallError `receipt_exists` where anything has that name."""
    if os.path.lexists(target):
        raise RecallError("receipt_exists", f"{target} exists already.", hint=hint)


def write_new(target: Path, text: str, *, hint: str) -> None:
    """Write a file that was not there, for its owner alone; whoever looks for it finds all of it or nothing.

    Raises RecallError `receipt_exists`, `out_unwritable` with the hint.
    """

    try:
        recall_core.files.write_new(target, text.encode())
    except FileExistsError:
        expect_new(target, hint=hint)
        raise
    except OSError as error:
        message = f"{target} cannot be written: {why_unread(error)}."
        raise RecallError("out_unwritable", message, hint=hint) from error
