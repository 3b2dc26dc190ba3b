"""Paths: relative paths, typed paths, document paths in a store, and the user's folders."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from recall_core import caller
from recall_core.errors import RecallError
from recall_core.named import NamedTuple
from recall_core.text import nfc

PRIVATE = 0o600
"""Default mode of files that contain the user's texts."""


def folder() -> Path:
    """Return the current folder. Raises RecallError `no_folder` if it was deleted."""
    current = caller.folder()
    if current is None:
        raise RecallError("no_folder", "The current folder was deleted.", hint="cd DIR")
    return current


def absolute(path: Path) -> Path:
    """Return an absolute path. Keeps `..` and links. Raises RecallError `no_folder` if the current folder is gone."""
    return path if path.is_absolute() else folder() / path


def shorten(place: Path) -> str:
    """Return a path to type in the current folder: relative if it is below that folder, else absolute."""
    start, place = caller.folder(), spelt(place)
    return str(place.relative_to(start) if start is not None and place.is_relative_to(start) else place)


def expand(typed: str) -> Path:
    """Expand ~ and ~NAME in a typed path. An unknown ~NAME stays a plain name."""
    return Path(os.path.expanduser(typed))  # noqa: PTH111 - Path.expanduser() raises for an unknown user


def expect_file(path: Path) -> None:
    """Raise OSError for a pipe or a device: reading one may block forever, and replacing one deletes it.

    Folders and missing files pass, because opening them raises an error anyway.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "Not a regular file", str(path))


def path_of(location: Path, base: Path) -> str:
    """Return a file's document path: NFC, `/`-separated, relative to base if below it."""
    return nfc(os_path_of(location, base))


def os_path_of(location: Path, base: Path, *, is_added: bool = False) -> str:
    """Return the document path in the disk's spelling, so that `base / os_path` opens the file.

    is_added: resolve a link outside base to a folder below base. Other links keep their name.
    """
    location, base = spelt(location), spelt(base)
    if location.is_relative_to(base):
        return location.relative_to(base).as_posix()
    real, real_base = Path(os.path.realpath(location.parent), location.name), Path(os.path.realpath(base))
    if is_added and not real.is_relative_to(real_base) and os.path.isdir(location):  # noqa: PTH112 - False without permission
        real = Path(os.path.realpath(location))
    return real.relative_to(real_base).as_posix() if real.is_relative_to(real_base) else location.as_posix()


def spelt(path: Path) -> Path:
    """Return an absolute path without `.` and `..`. Links are kept."""
    return Path(os.path.abspath(absolute(path)))  # noqa: PTH100 - without following links


class NewPlace(NamedTuple):
    """The folder of a new store as typed, and the database name ("" if the settings name it)."""

    folder: str
    name: str


def spot(store: str | None) -> NewPlace:
    """Return where `init` creates this store. An existing folder means the store inside it, even with a suffix."""
    place = Path(store or ".")
    has_name = place.suffix and not os.path.isdir(place)  # noqa: PTH112 - returns False without permission
    folder = str(place.parent if has_name else place)
    return NewPlace(f"./{folder}" if folder.startswith("~") else folder, place.name if has_name else "")


def state_folder(environ: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """Return the folder in XDG_STATE_HOME if set, else the platform's state folder; None without a home."""
    return _folder(environ, "XDG_STATE_HOME", ".local/state", platform)


def config_folder(environ: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """Return the folder in XDG_CONFIG_HOME if set, else the platform's configuration folder; None without a home."""
    return _folder(environ, "XDG_CONFIG_HOME", ".config", platform)


def data_folder(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Return the folder in XDG_DATA_HOME if set, else the platform's data folder. Raises RecallError `no_home`."""
    folder = _folder(environ, "XDG_DATA_HOME", ".local/share", platform)
    if folder is None:
        raise RecallError("no_home", "There is no home folder to keep data in.", hint="export XDG_DATA_HOME=DIR")
    return folder


def _folder(environ: Mapping[str, str], variable: str, otherwise: str, platform: str) -> Path | None:
    named, home = environ.get(variable, ""), environ.get("HOME", "")
    if Path(named).is_absolute():
        return Path(named) / "recall"
    if not home:
        return None
    return Path(home) / ("Library/Application Support" if platform == "darwin" else otherwise) / "recall"
