"""Where paths start: the folder that the program was started in, which may be taken away, and a home folder."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from recall_core.errors import RecallError


def folder() -> Path:
    """Where relative paths start. Raises RecallError `no_folder` when that folder is gone."""
    found = known()
    if found is None:
        raise RecallError("no_folder", "The folder that this program was started in is gone.", hint="cd DIR")
    return found


def known() -> Path | None:
    """The same; None when it is gone, for who can do without."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None


def absolute(path: Path) -> Path:
    """A path from the root, `..` and links as they are. Raises RecallError `no_folder` for one that has no start."""
    return path if path.is_absolute() else folder() / path


def expanded(typed: str) -> Path:
    """A path as a person types it: ~ and ~NAME are home folders. Where nobody has one of that name, it is a name."""
    return Path(os.path.expanduser(typed))  # noqa: PTH111 - Path.expanduser() has an error for that


def expect_file(path: Path) -> None:
    """Raises OSError for a pipe or a device: reading one may go on for ever, and replacing one takes it away.

    A folder, and what is not there, has an error of its own when it is opened.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "Not a regular file", str(path))
